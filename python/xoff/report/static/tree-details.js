// The lists of roots and flows, and what is told of the one that was chosen.

const element = (tag, text = "", attributes = {}) => {
  const made = document.createElement(tag);
  if (text !== "") made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

// A table whose rows may be clicked: `rows` are [cells, what to do]; a cell may be an element.
function table(heads, rows) {
  const made = element("table");
  const head = made.createTHead().insertRow();
  for (const [index, text] of heads.entries()) head.append(element("th", text, index ? { class: "number" } : {}));
  const body = made.createTBody();
  for (const [cells, go] of rows) {
    const row = body.insertRow();
    for (const [index, cell] of cells.entries()) {
      const at = row.insertCell();
      if (index) at.className = "number";
      at.append(cell);
    }
    if (!go) continue;
    row.dataset.go = "";
    row.tabIndex = 0;
    const act = () => {
      made.querySelector("tr.chosen")?.classList.remove("chosen");
      row.classList.add("chosen");
      go();
    };
    row.addEventListener("click", act);
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
  }
  return made;
}

const link = (text, go) => {
  const made = element("a", text, { tabindex: "0", role: "button" });
  const act = (event) => { event.stopPropagation(); event.preventDefault(); go(); };
  made.addEventListener("click", act);
  made.addEventListener("keydown", (event) => { if (event.key === "Enter") act(event); });
  return made;
};

const into = (id, ...parts) => document.getElementById(id).replaceChildren(...parts);
const note = (text) => element("p", text, { class: "note" });

// A name as Plotly shows it: otherwise Plotly takes `<b>` and `&lt;` for markup.
const plain = (name) => name.replace(/&/g, "&amp;").replace(/</g, "&lt;");

const GRID = "rgba(128,128,128,0.22)";

// "Paused" is the time for which the port of its path that was stopped for longest stood still.
const FLOW_HEADS = ["flow", "traffic", "size", "start", "slowdown", "paused"];

class Details {
  // `page` has choosePort, chooseFlow, chooseRoot, goTo, and the time now.
  constructor(model, looks, unit, end, page) {
    Object.assign(this, { model, looks, unit, end, page });
    this.ports = model.data.network.ports;
  }

  at(ps) {
    return `${Number((ps / this.unit.scale).toPrecision(5))} ${this.unit.name}`;
  }

  lists() {
    const { data } = this.model;
    const roots = data.roots.map((root, rank) => [
      [`${rank + 1}  ${this.ports[root.port]}`, this.at(root.first_ps), duration(root.total_ps), bytes(root.max_bytes), `${root.tree.length}`],
      () => this.page.chooseRoot(root.port),
    ]);
    into("tree-roots", roots.length
      ? table(["port", "first at", "root for", "queue up to", "ports stopped"], roots)
      : note("No port was a congested root."));
    this.spread(null);
    const victims = [], slowest = [];
    data.flows.forEach((flow, index) => (flow.blocked ? victims : slowest).push([this.flowCells(flow), () => this.page.chooseFlow(index)]));
    const known = data.flows.some((flow) => flow.blocked !== null);
    document.getElementById("tree-victims-title").textContent =
      `Victims of head-of-line blocking (${victims.length.toLocaleString("en")}), the slowest first`;
    into("tree-victims", victims.length ? table(FLOW_HEADS, victims) : note("No flow was a victim."));
    document.getElementById("tree-slowest-title").textContent = victims.length ? "Other flows, the slowest first" : "Flows, the slowest first";
    for (const [name, recorded] of [["roots", data.recorded.roots], ["victims", known], ["spread", data.recorded.pauses]]) {
      document.getElementById(`tree-${name}`).parentElement.hidden = !recorded;
    }
    into("tree-slowest", slowest.length ? table(FLOW_HEADS, slowest) : note("There are no other flows."));
  }

  flowCells(flow) {
    const longest = Math.max(0, ...flow.hops.flat().map(([, paused]) => paused));
    return [
      `${flow.id}: ${flow.src} to ${flow.dst}`,
      flow.label,
      flow.size_bytes === null ? "endless" : bytes(flow.size_bytes),
      this.at(flow.start_ps),
      flow.slowdown === null ? (flow.complete || flow.size_bytes === null ? "none" : "incomplete") : flow.slowdown.toFixed(2),
      duration(longest),
    ];
  }

  // How far PAUSE spread, from one root or from all.
  spread(root) {
    document.getElementById("tree-spread-title").textContent =
      root === null ? "How PAUSE spread" : `How PAUSE spread from ${this.ports[root]}`;
    const rows = this.model.spread(root).map(({ depth, ports, first, total }) => [[
      depth === null ? "no root found" : `${depth} link${depth === 1 ? "" : "s"} from ${root === null ? "a" : "the"} root`,
      `${ports}`, this.at(first), duration(total)], null]);
    into("tree-spread", rows.length ? table(["stopped ports", "number", "first at", "stopped for, in all"], rows)
      : note(root === null ? "No port was paused." : "No port was paused for its sake."));
  }

  chart(traces, layout) {
    const context = this.page.context;
    Plotly.react("tree-chart", traces, {
      template: "none", margin: { l: 64, r: 16, t: 10, b: 46 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12.5 }, showlegend: false, hovermode: "closest", ...layout,
      xaxis: { gridcolor: GRID, ...layout.xaxis }, yaxis: { gridcolor: GRID, ...layout.yaxis }, shapes: [this.now()],
    }, { ...context.config, responsive: true }).then(() => Plotly.relayout("tree-chart", context.colours()));
    this.drawn = true;
  }

  now() {
    const at = this.page.time() / this.unit.scale;
    return { type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { width: 1.5, dash: "dot", color: "#8a8a8a" } };
  }

  // Moves the line of the present moment, when the time has come to rest.
  moved() {
    if (!this.drawn) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => Plotly.relayout("tree-chart", { shapes: [this.now()] }), 150);
  }

  // Lanes of ports' states, one trace a state; `axis` is the number of the y axis.
  lanes(ports, begin, end, axis) {
    const byState = new Map();
    for (const port of ports) {
      for (const [state, from, to] of this.model.spans(port, begin, end)) {
        if (state < SLOW) continue;
        if (!byState.has(state)) byState.set(state, { x: [], y: [], text: [] });
        const lane = byState.get(state);
        const text = `${this.looks[state].name}<br>${this.at(from)} to ${this.at(to)}: ${duration(to - from)}`;
        lane.x.push(from / this.unit.scale, to / this.unit.scale, null);
        lane.y.push(plain(this.ports[port]), plain(this.ports[port]), null);
        lane.text.push(text, text, "");
      }
    }
    return [...byState.entries()].sort(([a], [b]) => a - b).map(([state, { x, y, text }]) => ({
      x, y, text, yaxis: axis, mode: "lines", hovertemplate: "%{text}<extra></extra>", connectgaps: false,
      line: { color: this.looks[state].colour, width: state === SLOW ? 3 : 12, simplify: false },
    }));
  }

  timeAxis(begin, end) {
    return { title: { text: `time (${this.unit.name})` }, range: [begin / this.unit.scale, end / this.unit.scale], zeroline: false };
  }

  port(port) {
    const { data } = this.model, found = this.model.pauses.get(port), root = this.model.roots.get(port);
    const parts = [element("h4", `Port ${this.ports[port]}`)];
    const say = (text) => parts.push(element("p", text));
    say(`Now, at ${this.at(this.page.time())}: ${this.looks[this.model.states[port]].name}.`);
    if (root) {
      say(`Congested root ${root.times === 1 ? "once" : `${root.times} times`}, for ${duration(root.total_ps)} in all, first at `
        + `${this.at(root.first_ps)}; up to ${bytes(root.max_bytes)} queued in that time. Marked: the ${root.tree.length} ports that `
        + "stopped for its sake at some time.");
    }
    if (found) {
      const far = found.depth === null ? "" : `, ${found.depth} link${found.depth === 1 ? "" : "s"} from a root`;
      say(`Paused ${found.times === 1 ? "once" : `${found.times} times`}, for ${duration(found.total)} in all, first at `
        + `${this.at(found.first)}${far}; the longest pause took ${duration(found.longest)}.`);
    } else if (data.recorded.pauses) {
      say("Never paused.");
    }
    const rows = data.pauses.rows.filter(([at]) => at === port).sort((a, b) => b[2] - a[2]).slice(0, 50);
    if (rows.length) {
      parts.push(element("h4", found.times > rows.length ? `The ${rows.length} longest of its pauses` : "Its pauses, the longest first"));
      const list = element("div", "", { class: "list" });
      list.append(table(["since", "for", "priority", "links from the root", "root"], rows.map(([, start, length, priority, depth, behind]) => [
        [this.at(start), duration(length), `${priority}`, depth === null ? "none found" : `${depth}`,
          behind === null ? "" : link(this.ports[behind], () => this.page.choosePort(behind))],
        () => this.page.goTo(start)])));
      parts.push(list);
    }
    const flows = this.model.flowsOf.get(port) ?? [];
    if (flows.length) {
      parts.push(element("h4", `Flows of the lists above that pass it (${flows.length})`));
      const list = element("div", "", { class: "list" });
      list.append(table(FLOW_HEADS, flows.slice(0, 100).map((index) => [this.flowCells(data.flows[index]), () => this.page.chooseFlow(index)])));
      parts.push(list);
    }
    into("tree-details", ...parts);
    this.portChart(port);
  }

  portChart(port) {
    const queue = this.model.data.queues[port];
    const lanes = this.lanes([port], 0, this.end, queue ? "y2" : "y");
    const lane = { type: "category", range: [-0.5, 0.5], ticks: "", showticklabels: false, title: { text: "state" } };
    if (!queue) {
      document.getElementById("tree-details").append(note("There are no samples of its queue on this page."));
      this.chart(lanes, { height: 130, xaxis: this.timeAxis(0, this.end), yaxis: lane });
      return;
    }
    const trace = {
      x: queue.time_ps.map((at) => at / this.unit.scale), y: queue.bytes.map((count) => count / 1e3), mode: "lines",
      line: { color: this.looks[SENDING].colour, width: 1.5 }, hovertemplate: `%{x:.3f} ${this.unit.name}: %{y:.4~g} KB<extra></extra>`,
    };
    this.chart([trace, ...lanes], {
      height: 320, xaxis: { ...this.timeAxis(0, this.end), anchor: "y2" },
      yaxis: { title: { text: "queue (KB)" }, domain: [0.24, 1], rangemode: "tozero", zeroline: false },
      yaxis2: { ...lane, domain: [0, 0.14] },
    });
  }

  flow(index) {
    const flow = this.model.data.flows[index];
    const parts = [element("h4", `Flow ${flow.id}: ${flow.src} to ${flow.dst} (${flow.label}), priority ${flow.priority}`)];
    const ended = flow.complete ? `took ${duration(flow.end_ps - flow.start_ps)}` : "was not complete when the run ended";
    const size = flow.size_bytes === null ? "Without a size" : bytes(flow.size_bytes);
    const slow = flow.slowdown === null ? "" : `, ${flow.slowdown.toFixed(2)} times what it takes alone in the network`;
    parts.push(element("p", `${size}, started at ${this.at(flow.start_ps)}, ${ended}${slow}.`));
    if (flow.blocked !== null) {
      parts.push(element("p", flow.blocked
        ? "A victim: a packet of it waited behind a PAUSE while none of its hops was a congested root."
        : "No victim of head-of-line blocking."));
    }
    const hops = flow.hops.flatMap((hop) => hop.map((each) => [each, hop.length]));
    parts.push(element("h4", "Where it may have waited"), note(
      "For each port of its path: for how long PAUSE stopped that port and priority from the flow's start to its end, which is the "
      + "most that it can have waited for PAUSE there, as nothing says that a packet of it was there each time; and the longest queue "
      + "that was sampled in that time."));
    const { roots } = this.model.data.recorded;
    parts.push(table(["port", "stood still for", "times", "longest queue", ...(roots ? ["congested root"] : []), "now"],
      hops.map(([[port, paused, times, root, queue], parallel]) => [
        [link(this.ports[port] + (parallel > 1 ? ` (or another of ${parallel} parallel links)` : ""), () => this.page.choosePort(port)),
          duration(paused), `${times}`, queue === null ? "\u2013" : bytes(queue), ...(roots ? [root ? "yes" : "no"] : []),
          this.looks[this.model.states[port]].name], null])));
    if (!hops.length) parts.push(note("Its path is not one of this network's."));
    into("tree-details", ...parts);
    const ports = hops.map(([[port]]) => port);
    const margin = Math.max((flow.end_ps - flow.start_ps) * 0.02, 1);
    this.chart(this.lanes(ports, flow.start_ps, flow.end_ps, "y"), {
      height: 80 + 30 * Math.max(ports.length, 1), margin: { l: 150, r: 16, t: 10, b: 46 },
      xaxis: this.timeAxis(flow.start_ps - margin, flow.end_ps + margin),
      yaxis: { type: "category", categoryorder: "array", categoryarray: ports.map((port) => plain(this.ports[port])).reverse(),
        range: [-0.6, ports.length - 0.4] },
    });
  }

  clear() {
    into("tree-details");
    Plotly.purge("tree-chart");
    this.drawn = false;
  }
}
