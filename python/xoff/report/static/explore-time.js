// Figures over time: messages alive with the brush, queues, utilization, stopped ports, spans of PAUSE and roots, rates.

// Lines over time: `lines` gives each with `{ name, colour, dash, run, series, scale, alpha }`.
class LinesFigure extends TimeFigure {
  constructor(page, name, { axis, scale = 1, most = Infinity, lines, lack, column = "value", height = 190 }) {
    super(page, name, height);
    Object.assign(this, { axis, scale, most, make: lines, lackOf: lack, columnName: column });
  }

  lines() {
    return this.page.remembered(`lines-${this.name}`, () => this.make());
  }

  lack() {
    return this.lackOf?.() || (this.lines().length ? "" : "Nothing is chosen that this figure could show.");
  }

  entries() {
    return this.lines().filter(({ name }) => name).map((line) => ({
      ...line, valueAt: (time) => short(line.series.at(time) / this.scaleNow),
    }));
  }

  get scaleNow() {
    return typeof this.scale === "function" ? this.scale() : this.scale;
  }

  get axisNow() {
    return typeof this.axis === "function" ? this.axis() : this.axis;
  }

  paint(pen, width, height) {
    const lines = this.lines(), scale = this.scaleNow, [from, to] = this.times;
    const high = lines.map(({ series }) => series.range(from, to)[1] / scale).filter(Number.isFinite);
    const frame = this.frameOf(width, height, [0, Math.min(Math.max(0, ...high) * 1.06 || 1, this.most)]);
    this.timeAxis(pen, { yTitle: this.axisNow });
    pen.clip(frame.left, frame.top - 1, frame.right - frame.left, frame.bottom - frame.top + 2);
    for (const line of [...lines].reverse()) pen.line(pointsOf(line.series, frame, scale), line.colour, line);
    pen.unclip();
  }

  data() {
    const [from, to] = this.times, rows = [];
    for (const { series, run, full, column } of this.lines()) {
      // A line that another one explains has its own column there.
      for (let at = lowerBound(series.time, from); at < series.time.length && series.time[at] <= to; at++) {
        rows.push([run.label, full, column ?? this.columnName, series.time[at], series.value[at]]);
      }
    }
    return { columns: ["run", "subject", "column", "time_ps", "value"], rows };
  }
}

// The whole run: how many messages are alive, and the part of it that the other figures show.
class Overview extends LinesFigure {
  constructor(page) {
    super(page, "overview", {
      axis: "messages",
      column: "alive",
      height: 130,
      lines: () => page.runs.map((run) => ({
        name: page.runs.length > 1 ? run.label : "messages alive", full: "messages alive", run, colour: colourOf(0), dash: dashOf(run),
        series: (run.alive ??= Series.count(run.start, run.end.filter((end) => end < run.end_ps))),
      })),
    });
  }

  get times() {
    return [0, this.view.end];
  }

  paint(pen, width, height) {
    super.paint(pen, width, height);
    const { frame } = this, [from, to] = this.view.range, looks = this.page.looks;
    if (this.view.from === null && this.view.to === null) return;
    const [left, right] = [frame.x(from), Math.max(frame.x(to), frame.x(from) + 1)];
    pen.rect(frame.left, frame.top, left - frame.left, frame.bottom - frame.top, looks.muted, 0.25);
    pen.rect(right, frame.top, frame.right - right, frame.bottom - frame.top, looks.muted, 0.25);
    for (const x of [left, right]) pen.line([x, frame.top, x, frame.bottom], looks.accent, { width: 2 });
  }

  press(event) {
    super.press(event);
    if (this.pressed === undefined) return;
    const [from, to] = this.view.range.map((time) => this.frame.x(time)), x = this.pressed;
    const whole = this.view.from === null && this.view.to === null;
    const near = (edge) => Math.abs(x - edge) < 7;
    this.grip = whole ? "new" : near(from) ? "from" : near(to) ? "to" : x > from && x < to ? "all" : "new";
    this.before = this.view.range;
  }

  move(event) {
    if (this.pressed === undefined) return super.move(event);
    const time = this.frame.timeAt(this.within(event)), start = this.frame.timeAt(this.pressed), [from, to] = this.before;
    if (Math.abs(this.within(event) - this.pressed) < 3) return;
    if (this.grip === "new") this.view.brush(start, time);
    else if (this.grip === "from") this.view.brush(time, to);
    else if (this.grip === "to") this.view.brush(from, time);
    else {
      const by = Math.min(Math.max(time - start, -from), this.view.end - to);
      this.view.brush(from + by, to + by);
    }
  }

  release(event) {
    this.cancel();
    this.move(event);
  }
}

// Room for the labels of rows: a larger share of a narrow plot, so that names are not cut where they differ.
const labelRoom = (width) => Math.min(240, Math.max(150, width * 0.24), width * 0.42);

// When the ports shown were stopped, and when they were congestion roots: a row for each port of each run.
class Spans extends TimeFigure {
  constructor(page) {
    super(page, "spans", 100);
  }

  lack() {
    if (this.runs.every((run) => !run.count("pauses.port") && !run.count("roots.port"))) {
      return this.runs.some((run) => run.recorded.pauses)
        ? `No port was stopped by PAUSE.${this.runs.some((run) => run.recorded.roots) ? " There was no congestion root." : " Congestion roots were not recorded: set record.roots=true."}`
        : "Not recorded: set record.pauses=true and record.roots=true.";
    }
    return this.rows().length ? "" : "No port is shown.";
  }

  rows() {
    return this.page.stopped().flatMap((port) => this.runs.map((run) => ({ port, run })));
  }

  entries() {
    return [{ name: "stopped by PAUSE", colour: this.page.paused }, { name: "congestion root", colour: colourOf(1) }];
  }

  get tables() {
    return [["pauses", this.page.paused], ["roots", colourOf(1)]];
  }

  paint(pen, width) {
    const rows = this.rows(), looks = this.page.looks, priorities = new Set(this.view.keys("priority").map(Number));
    this.shape = { left: labelRoom(width) };
    const frame = this.frameOf(width, this.height, [0, rows.length]);
    this.timeAxis(pen, { yTicks: [] });
    rows.forEach(({ port, run }, place) => {
      const top = frame.top + place * 22, number = run.portOf.get(port);
      pen.text(this.named(port, run), frame.left - 6, top + 11, looks.text, { align: "right", most: frame.left - 10 });
      pen.line([frame.left, top + 22, frame.right, top + 22], looks.line, { width: 1 });
      if (number === undefined) return;
      this.tables.forEach(([table, colour], lane) => {
        const start = run.column(`${table}.start_ps`), length = run.column(`${table}.length_ps`), priority = run.column(`${table}.priority`);
        let drawn = -1;
        for (const span of run.spansOf(table, number)) {
          const end = start[span] + length[span];
          if (end < frame.x0 || start[span] > frame.x1 || (priorities.size && !priorities.has(priority[span]))) continue;
          const left = frame.x(Math.max(start[span], frame.x0)), right = Math.max(frame.x(Math.min(end, frame.x1)), left + 1);
          // Spans that share a pixel are one rectangle's.
          if (right <= drawn) continue;
          pen.rect(Math.max(left, drawn), top + 3 + lane * 9, right - Math.max(left, drawn), 8, colour);
          drawn = right;
        }
      });
    });
  }

  draw() {
    this.height = 22 * Math.max(this.rows().length, 1) + 52;
    super.draw();
  }

  data() {
    const [from, to] = this.times, rows = [];
    for (const { port, run } of this.rows()) {
      for (const [table] of this.tables) {
        const start = run.column(`${table}.start_ps`), length = run.column(`${table}.length_ps`);
        for (const span of run.spansOf(table, run.portOf.get(port))) {
          if (start[span] > to || start[span] + length[span] < from) continue;
          rows.push([run.label, port, table, run.column(`${table}.priority`)[span], start[span], length[span]]);
        }
      }
    }
    return { columns: ["run", "port", "table", "priority", "start_ps", "length_ps"], rows };
  }
}

// In place of a priority: all of a port.
const WHOLE = 255;

// The series of a port: all of it, or of each priority that is chosen if the run has these apart.
const partsOfPort = (page, run, table, port) => {
  const chosen = page.view.keys("priority").map(Number), parts = run.series[table].get(run.portOf.get(port)) ?? [];
  const apart = parts.filter(({ priority }) => chosen.includes(priority));
  return apart.length ? apart : parts.filter(({ priority }) => priority === WHOLE);
};

// The lines of a column of a table of ports, for the ports shown.
const portLines = (page, table, column, more = {}) => page.ports().flatMap((port, place) => page.runs.flatMap((run) => {
  const parts = partsOfPort(page, run, table, port);
  return parts.map((part) => {
    const full = part.priority === WHOLE ? port : `${port} priority ${part.priority}`;
    return {
      name: page.runs.length > 1 ? `${full} (${run.label})` : full, full, run, colour: colourOf(place + (parts.length > 1 ? 4 * parts.indexOf(part) : 0)), dash: dashOf(run),
      series: run.seriesOf(table, part, column), ...more,
    };
  });
}));

// A figure of each variable that schemes state, made as runs bring them.
const variableFigures = (page, known) => {
  const names = [...new Set(page.runs.flatMap((run) => run.variables))].filter((name) => !known.has(name));
  return names.map((name) => {
    const id = `variable-${known.size}`, made = document.getElementById("variable").content.firstElementChild.cloneNode(true);
    known.add(name);
    made.id = `figure-${id}`;
    made.querySelector("h2").textContent = `Variable ${name} of the scheme`;
    made.querySelector(".note").textContent = "As the scheme states it, in its own unit; of the messages chosen, or of the four slowest that are alive.";
    document.getElementById("variables").append(made);
    const messages = () => page.messages("variables");
    return new LinesFigure(page, id, {
      axis: name,
      column: name,
      lines: () => messages().flatMap((flow, place) => page.runs.flatMap((run) => (run.series.variables.get(flow) ?? [])
        .filter(({ priority }) => run.variables[priority] === name)
        .map((part) => ({
          name: page.runs.length > 1 ? `message ${flow} (${run.label})` : `message ${flow}: ${run.message(run.flowOf.get(flow))}`,
          full: String(flow), run, colour: colourOf(place), dash: dashOf(run), series: run.seriesOf("variables", part, "value"),
        })))),
      lack: () => (messages().some((flow) => page.runs.some((run) => run.series.variables.has(flow))) ? "" : "The variables of the messages chosen were not recorded."),
    });
  });
};

// The figures of what was sampled, and of stopped ports.
const timeFigures = (page) => {
  const recorded = (name) => page.runs.some((run) => run.recorded[name]);
  const has = (table) => page.runs.some((run) => run.series[table].size);
  const priorities = () => new Set(page.view.keys("priority").map(Number));
  return [
    new LinesFigure(page, "queues", {
      axis: "queue (KB)",
      scale: 1e3,
      lines: () => [
        ...portLines(page, "queues", "bytes", { column: "bytes" }),
        ...portLines(page, "queues", "max_bytes", { column: "max_bytes", alpha: 0.45, width: 1, name: "" }),
      ],
      lack: () => (has("queues") ? "" : recorded("queues") ? "No sample of a queue yet." : "Not recorded: set record.queues=switches, or record.queues=all for host NICs too."),
    }),
    new LinesFigure(page, "utilization", {
      axis: "utilization (%)",
      scale: 0.01,
      most: 105,
      column: "utilization",
      lines: () => portLines(page, "utilization", "utilization"),
      lack: () => (has("utilization") ? "" : "Not recorded: set record.queues=switches and record.utilization=true."),
    }),
    new LinesFigure(page, "stopped", {
      axis: "stopped queues",
      column: "stopped",
      lines: () => page.runs.map((run) => {
        const chosen = priorities(), start = run.column("pauses.start_ps"), length = run.column("pauses.length_ps");
        const kept = [...start.keys()].filter((place) => !chosen.size || chosen.has(run.column("pauses.priority")[place]));
        return {
          name: page.runs.length > 1 ? run.label : "stopped by PAUSE", full: "stopped queues", run, colour: page.paused, dash: dashOf(run),
          series: Series.count(kept.map((place) => start[place]), kept.map((place) => start[place] + length[place])),
        };
      }),
      lack: () => {
        if (!recorded("pauses")) return "Not recorded: set record.pauses=true.";
        return page.runs.some((run) => run.count("pauses.port")) ? "" : "No port was stopped by PAUSE.";
      },
    }),
    new Spans(page),
    new LinesFigure(page, "rates", {
      axis: () => METRICS[page.view.metric].axis,
      scale: () => METRICS[page.view.metric].scale,
      lines: () => page.messages().flatMap((id, place) => page.runs.flatMap((run) => (run.series.rates.get(id) ?? []).map((part) => ({
        name: page.runs.length > 1 ? `message ${id} (${run.label})` : `message ${id}: ${run.message(run.flowOf.get(id))}`,
        full: String(id), run, colour: colourOf(place), dash: dashOf(run), column: page.view.metric, series: run.seriesOf("rates", part, page.view.metric),
      })))),
      lack: () => {
        if (!has("rates")) return "Not recorded: set record.rates=all, or a list of traffic labels.";
        return page.messages().some((id) => page.runs.some((run) => run.series.rates.has(id))) ? "" : "The rates of the messages chosen were not recorded.";
      },
    }),
  ];
};
