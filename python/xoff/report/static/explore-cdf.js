// Distributions: of completion time and slowdown, and of the ratio of two runs, each group of messages a curve.

class CdfFigure extends Figure {
  // `valuesOf` gives a value for each row of a run, `NaN` for none; `runs` those that have curves.
  constructor(page, name, { axis, scale = 1, column, valuesOf, of = (runs) => runs, none = () => "No message that is shown has completed." }) {
    super(page, name, 270);
    Object.assign(this, { axis, scale, columnName: column, valuesOf, of, none });
  }

  // The rows with a value, in its order.
  ordered(run) {
    return this.page.kept(`cdf-${this.name}-${run.number}`, () => {
      const values = this.valuesOf(run);
      const rows = Uint32Array.from(values.keys()).filter((row) => values[row] > 0);
      return { values, rows: rows.sort((a, b) => values[a] - values[b]) };
    });
  }

  curves() {
    return this.page.remembered(`cdf-${this.name}`, () => this.of(this.runs).flatMap((run) => {
      const { names, of } = GROUPS[this.view.by], group = of(run), { values, rows } = this.ordered(run);
      const shown = new Uint8Array(run.flows);
      for (const row of this.page.flows(run)) shown[row] = 1;
      const found = names(run).map(() => []);
      for (const row of rows) if (shown[row]) found[group[row]].push(values[row]);
      return names(run).map((name, place) => ({
        name: this.of(this.runs).length > 1 ? `${name} (${run.label})` : name, group: name, run, values: found[place], colour: colourOf(place), dash: dashOf(run),
      }));
    }).filter(({ values }) => values.length));
  }

  lack() {
    return this.curves().length ? "" : this.none();
  }

  entries() {
    return this.curves().map((curve) => ({ ...curve, name: `${curve.name}: ${counted(curve.values.length, "message")}` }));
  }

  paint(pen, width, height) {
    const curves = this.curves(), { tail } = this.view, { scale } = this;
    const low = Math.min(...curves.map(({ values }) => values[0])), high = Math.max(...curves.map(({ values }) => values.at(-1)));
    const count = Math.max(...curves.map(({ values }) => values.length));
    const x = high > low * 1.001 ? [low * 0.98, high * 1.02] : [low * 0.8, high * 1.25];
    const y = tail ? [0.7 / Math.max(count, 2), 1] : [0, 1];
    const frame = new Frame({ width, height, x, y, xLog: true, yLog: tail });
    frame.axes(pen, this.page.looks, {
      xTitle: this.axis, xScale: scale, yTitle: tail ? "share of messages above" : "share of messages up to",
    });
    pen.clip(frame.left, frame.top - 2, frame.right - frame.left + 2, frame.bottom - frame.top + 3);
    for (const { values, colour, dash } of curves) {
      const points = [], place = (share) => frame.y(tail ? 1 - share : share);
      let last = frame.left, lastY = place(0);
      points.push(last, lastY);
      values.forEach((value, at) => {
        const px = frame.x(value), py = place((at + 1) / values.length);
        // What would be drawn on the same pixel is left out.
        if (px - last < 0.5 && Math.abs(py - lastY) < 0.5 && at + 1 < values.length) return;
        points.push(px, lastY, px, py);
        [last, lastY] = [px, py];
      });
      if (!tail) points.push(frame.right, lastY);
      pen.line(points, colour, { dash });
    }
    pen.unclip();
  }

  data() {
    const rows = this.curves().flatMap(({ run, group, values }) =>
      Array.from(values, (value, at) => [run.label, group, value, (at + 1) / values.length]));
    return { columns: ["run", this.view.by, this.columnName, "share"], rows };
  }
}

// The row of the second run that is the same message as a row of the first one, or -1: number, ends, size and label agree.
const pairs = (first, second) => {
  const size = [first, second].map((run) => run.column("flows.size_bytes"));
  const ends = ["src", "dst"].map((name) => [first, second].map((run) => run.column(`flows.${name}`)));
  const label = [first, second].map((run) => run.column("flows.label"));
  return Int32Array.from(first.column("flows.id"), (id, row) => {
    const other = second.flowOf.get(id);
    if (other === undefined || !Object.is(size[0][row], size[1][other])) return -1;
    if (ends.some(([a, b]) => first.nodes[a[row]] !== second.nodes[b[other]])) return -1;
    return first.labels[label[0][row]] === second.labels[label[1][other]] ? other : -1;
  });
};

const cdfFigures = (page) => {
  const figures = [
    new CdfFigure(page, "fct", { axis: "completion time (us)", scale: 1e6, column: "fct_ps", valuesOf: (run) => run.column("flows.fct_ps") }),
    new CdfFigure(page, "slowdown", { axis: "slowdown", column: "slowdown", valuesOf: (run) => run.column("flows.slowdown") }),
  ];
  if (page.runs.length > 1) {
    figures.push(new CdfFigure(page, "ratio", {
      axis: `completion time of ${page.runs[1].label} over that of ${page.runs[0].label}`,
      column: "ratio",
      of: (runs) => runs.slice(0, 1),
      none: () => (page.pairs().some((row) => row >= 0)
        ? "No message that is shown has completed in both runs."
        : "No message of one run is in the other: none has the same number, hosts, size and label."),
      valuesOf: (run) => {
        const [mine, other] = page.runs.map((each) => each.column("flows.fct_ps"));
        return Float64Array.from(page.pairs(), (row, at) => (row < 0 ? NaN : other[row] / mine[at]));
      },
    }));
  }
  return figures;
};
