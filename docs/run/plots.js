// The curves: ports by state, queues and completion times, each of the run and, grey and dashed, of the one before.

const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const OLD = "#8a8a8a";
const MAX_POINTS = 2_000;

/** At most `MAX_POINTS` of a curve: of each stretch its largest value. */
function thinned(xs, ys) {
  const step = Math.ceil(xs.length / MAX_POINTS);
  if (step <= 1) return [xs, ys];
  const found = [[], []];
  for (let from = 0; from < xs.length; from += step) {
    let best = from;
    for (let i = from; i < Math.min(from + step, xs.length); i += 1) if (ys[i] > ys[best]) best = i;
    found[0].push(xs[best]);
    found[1].push(ys[best]);
  }
  return found;
}

/** The distribution of `values`: for each the share that is at most as large. */
function distribution(values) {
  const sorted = Float64Array.from(values).sort();
  const step = Math.max(1, Math.floor(sorted.length / MAX_POINTS));
  const found = [[], []];
  for (let i = 0; i < sorted.length; i += step) {
    found[0].push(sorted[i]);
    found[1].push((i + 1) / sorted.length);
  }
  if (sorted.length) {
    found[0].push(sorted.at(-1));
    found[1].push(1);
  }
  return found;
}

class Plots {
  show(run, old) {
    Object.assign(this, { run, old });
    this.states = new States(run);
    this.oldStates = old && new States(old);
    this.offer();
    this.draw();
  }

  /** What can be chosen: ports with samples, and labels. */
  offer() {
    const peak = ({ bytes }) => bytes.reduce((most, b) => Math.max(most, b), 0);
    const peaks = [...this.states.queues].map(([port, queue]) => [port, peak(queue)]).sort((a, b) => b[1] - a[1]);
    this.longest = peaks.slice(0, 4).filter(([, most], rank) => most > 0 || rank === 0).map(([port]) => port);
    const chosen = $("ports").value;
    const few = this.longest.length > 1 ? `the ${this.longest.length} with the longest queues` : "all that are recorded";
    $("ports").replaceChildren(
      element("option", { value: "", textContent: few }),
      ...peaks.slice(0, 500).map(([port, most]) =>
        element("option", { value: String(port), textContent: `${this.states.names[port]} (up to ${sizeText(most)})` })),
    );
    if ([...$("ports").options].some(({ value }) => value === chosen)) $("ports").value = chosen;
    const labels = this.run.tables.flows.label?.[1] ?? [];
    const label = $("label").value;
    const all = labels.length > 1 ? [element("option", { value: "", textContent: "all flows" })] : [];
    $("label").replaceChildren(...all, ...labels.map((name) => element("option", { value: name, textContent: name })));
    if (labels.includes(label)) $("label").value = label;
  }

  draw() {
    this.drawSpread();
    this.drawQueues();
    this.drawCdf();
  }

  layout(x, y, more = {}) {
    const line = colour("line");
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    return {
      height: 300,
      margin: { l: 56, r: 14, t: 10, b: 42 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12.5, color: colour("text") },
      hoverlabel: { bgcolor: colour("card"), font: { color: colour("text") } },
      xaxis: { ...axis, title: { text: x }, ...more.xaxis },
      yaxis: { ...axis, title: { text: y }, rangemode: "tozero", ...more.yaxis },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      shapes: more.shapes ?? [],
    };
  }

  put(id, curves, layout) {
    $(id).hidden = curves.length === 0;
    if (!curves.length) return;
    const narrow = $(id).clientWidth < 560;
    const config = { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover", showSendToCloud: false,
      plotlyServerURL: "", modeBarButtonsToRemove: ["lasso2d", "select2d"], toImageButtonOptions: { format: "svg" } };
    Plotly.react(id, curves, layout, config);
  }

  curve(name, [x, y], shade, isOld, more = {}) {
    const line = isOld ? { color: OLD, width: 1.5, dash: "dash" } : { color: shade, width: 2 };
    return { type: "scatter", mode: "lines", name: isOld ? `${name} (before)` : name, x, y, line: { ...line, ...more }, showlegend: true };
  }

  drawSpread() {
    const [unit, length] = timeUnit(Math.max(this.run.manifest.sim_time_ps, this.old?.manifest.sim_time_ps ?? 0));
    const curves = [];
    for (const [states, isOld] of [[this.oldStates, true], [this.states, false]]) {
      if (!states) continue;
      for (const [name, spans, shade] of [["paused ports", states.pauses, SHADES.paused], ["congested roots", states.roots, SHADES.root]]) {
        if (!spans.size) continue;
        const { times, counts } = states.counts(spans);
        const points = thinned(times.map((t) => t / length), counts);
        curves.push(this.curve(name, points, shade, isOld, { shape: "hv" }));
      }
    }
    this.unit = [unit, length];
    this.put("spread", curves, { ...this.layout(`time (${unit})`, "ports"), height: 230 });
    const plot = $("spread");
    if (curves.length && !plot.listens) {
      plot.listens = true;
      plot.on("plotly_click", ({ points }) => tree.move(points[0].x * this.unit[1]));
    }
  }

  /** Marks the moment of the drawing. */
  cursor(time) {
    if (!this.unit || !$("spread").layout || $("spread").hidden) return;
    const x = time / this.unit[1];
    const shapes = [{ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color: colour("muted"), width: 1.5 } }];
    Plotly.relayout("spread", { shapes });
  }

  drawQueues() {
    const chosen = $("ports").value;
    const ports = chosen === "" ? this.longest : [Number(chosen)];
    const [unit, length] = timeUnit(Math.max(this.run.manifest.sim_time_ps, this.old?.manifest.sim_time_ps ?? 0));
    const most = ports.reduce((high, port) => this.states.queues.get(port).bytes.reduce((a, b) => Math.max(a, b), high), 0);
    const [size, bytes] = most >= 1e6 ? ["MB", 1e6] : ["KB", 1e3];
    const curves = [];
    ports.forEach((port, rank) => {
      const name = this.states.names[port];
      const before = this.oldStates?.names.indexOf(name) ?? -1;
      for (const [queue, isOld] of [[this.oldStates?.queues.get(before), true], [this.states.queues.get(port), false]]) {
        if (!queue) continue;
        const points = thinned(queue.times.map((t) => t / length), queue.bytes.map((b) => b / bytes));
        curves.push(this.curve(name, points, SERIES[rank % SERIES.length], isOld));
      }
    });
    $("queues-note").textContent = curves.length
      ? "Each point is the longest that the queue was in its interval."
      : 'No queue is recorded: write queues = "switches" below [record], or "all" with the NICs of hosts.';
    this.put("queues", curves, this.layout(`time (${unit})`, `queue (${size})`));
  }

  values(run) {
    const { label, slowdown, fct_ps: fct } = run.tables.flows;
    const chosen = label?.[1].indexOf($("label").value) ?? -1;
    const of = (i) => $("label").value === "" || label[0][i] === chosen;
    const column = $("measure").value === "slowdown" ? slowdown : fct;
    return column ? Array.from(column).filter((value, i) => of(i) && !Number.isNaN(value)) : [];
  }

  drawCdf() {
    const isSlowdown = $("measure").value === "slowdown";
    const found = [[this.old, true], [this.run, false]].map(([run, isOld]) => [run ? this.values(run) : [], isOld]);
    const most = Math.max(0, ...found.flatMap(([values]) => values.reduce((a, b) => Math.max(a, b), 0)));
    const [unit, length] = isSlowdown ? ["", 1] : timeUnit(most);
    const all = found.flatMap(([values]) => values);
    const isWide = all.length > 0 && most / all.reduce((a, b) => Math.min(a, b), Infinity) > 30;
    const curves = found
      .filter(([values]) => values.length)
      .map(([values, isOld]) => this.curve("flows", distribution(values.map((v) => v / length)), SERIES[0], isOld, { shape: "hv" }));
    const now = found[1][0].length;
    $("cdf-note").textContent = now
      ? `${now} flows are complete. ${isSlowdown ? "Slowdown is the completion time over that of the flow alone in the network." : ""}`
      : this.run.summary.endless
        ? "No flow is complete: these flows have no end of their own."
        : "No flow is complete.";
    const x = isSlowdown ? "slowdown" : `completion time (${unit})`;
    this.put("cdf", curves, this.layout(x, "share of flows", { xaxis: isWide ? { type: "log" } : {} }));
  }
}
