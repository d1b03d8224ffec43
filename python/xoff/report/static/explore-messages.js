// The timeline of messages: a bar for each from its start to its end, divided by what it waited for.

const PART_LOOKS = {
  serialization: ["#8A8A8A", "serialization"], propagation: ["#b9b0a2", "propagation"], queueing: ["#D55E00", "queueing behind others"],
  paused: ["#E69F00", "paused, or without credits"], window: ["#0072B2", "window"], rate: ["#56B4E9", "rate (pacing)"], source: ["#446611", "source"],
  throttled: ["#CC79A7", "throttled"], processing: ["#885577", "processing at the receiver"], recovery: ["#CC1133", "recovery of losses"],
  in_flight: ["#8877FF", "in flight at the end"],
};
const ROW = 16;

class Messages extends TimeFigure {
  constructor(page) {
    super(page, "messages", 340);
    this.list = this.canvas.closest(".rows");
    this.list.addEventListener("scroll", () => page.schedule());
    this.spacer = this.list.querySelector(".spacer");
    this.said = this.node.querySelector(".said");
  }

  // Rows of the messages shown, of all runs, in the view's order; chosen ones first.
  order() {
    return this.page.remembered("messages", () => {
      const chosen = new Set(this.view.keys("flow").map(Number)), found = [];
      for (const run of this.runs) for (const row of this.page.flows(run)) found.push([run, row, this.keyOf(run, row)]);
      const first = ([run, row]) => (chosen.has(run.column("flows.id")[row]) ? 0 : 1);
      if (chosen.size) found.sort((a, b) => first(a) - first(b) || a[2] - b[2]);
      else found.sort((a, b) => a[2] - b[2]);
      return found;
    });
  }

  keyOf(run, row) {
    const fct = run.end[row] - run.start[row], id = run.column("flows.id")[row];
    const keys = { slowdown: -(run.column("flows.slowdown")[row] || 0), fct: -fct, start: run.start[row], id };
    return keys[this.view.order];
  }

  lack() {
    return this.order().length ? "" : "No message was alive in this time, or none is of what is chosen.";
  }

  entries() {
    const parts = new Set(this.runs.flatMap((run) => run.parts));
    return [...parts].map((part) => ({ name: PART_LOOKS[part]?.[1] ?? part, colour: PART_LOOKS[part]?.[0] ?? "#8A8A8A" }));
  }

  draw() {
    super.draw();
    const lack = this.order().length === 0;
    this.list.hidden = lack;
    this.spacer.style.height = `${Math.max(this.order().length * ROW + 50, this.height)}px`;
    const without = this.runs.filter((run) => !run.recorded.breakdown);
    this.said.textContent = lack ? "" : `${counted(this.order().length, "message")}${this.runs.length > 1 ? " of both runs" : ""}, ${ORDERS[this.view.order]}. `
      + (without.length ? `What ${without.length < this.runs.length ? `those of ${without[0].label}` : "they"} waited for was not recorded: set record.breakdown=true.` : "");
  }

  // The parts of a message in the order of its legs: names, ports and times.
  partsOf(run, row) {
    const [begin, end] = run.parts_of.get(run.column("flows.id")[row]) ?? [0, 0];
    const [leg, part, port, time] = ["leg", "part", "port", "time_ps"].map((name) => run.column(`breakdown.${name}`));
    const order = ["sender", "data", "ack"];
    return Array.from({ length: end - begin }, (_, at) => begin + at)
      .map((at) => ({ leg: run.legs[leg[at]], part: run.parts[part[at]], port: run.ports[port[at]], time: time[at] }))
      .sort((a, b) => order.indexOf(a.leg) - order.indexOf(b.leg));
  }

  paint(pen, width, height) {
    const order = this.order(), looks = this.page.looks, top = pen instanceof CanvasPen ? this.list.scrollTop : 0;
    this.shape = { left: labelRoom(width) };
    const frame = this.frameOf(width, height, [0, 1]), chosen = new Set(this.view.keys("flow").map(Number));
    this.first = Math.floor(top / ROW);
    this.timeAxis(pen, { yTicks: [] });
    const last = Math.min(order.length, this.first + Math.ceil((frame.bottom - frame.top) / ROW));
    pen.clip(0, frame.top, width, frame.bottom - frame.top);
    for (let place = this.first; place < last; place++) {
      const [run, row] = order[place], y = frame.top + (place - this.first) * ROW, id = run.column("flows.id")[row];
      if (chosen.has(id) || place === this.cursor) pen.rect(0, y, width, ROW, looks.mark, 0.8);
      pen.text(`${this.runs.length > 1 ? `${run.label} \u00b7 ` : ""}${id}: ${run.message(row)}`, frame.left - 6, y + ROW / 2, looks.text, { align: "right", most: frame.left - 10 });
      this.bar(pen, frame, run, row, y + 3);
    }
    pen.unclip();
  }

  bar(pen, frame, run, row, y) {
    const start = run.start[row], end = run.end[row];
    const piece = (from, to, colour) => {
      const [left, right] = [frame.x(Math.max(from, frame.x0)), frame.x(Math.min(to, frame.x1))];
      if (right > left) pen.rect(left, y, Math.max(right - left, 0.5), ROW - 6, colour);
    };
    // Whatever is short can still be seen.
    const x = Math.max(frame.x(Math.max(start, frame.x0)), frame.left);
    pen.rect(x, y, Math.max(1, frame.x(Math.min(end, frame.x1)) - x), ROW - 6, "#8A8A8A", run.parts.length ? 0.35 : 0.9);
    let at = start;
    for (const { part, time } of this.partsOf(run, row)) {
      piece(at, at + time, PART_LOOKS[part]?.[0] ?? "#8A8A8A");
      at += time;
    }
  }

  rowAt(event) {
    const y = event.clientY - this.canvas.getBoundingClientRect().top - 8;
    return this.order()[this.first + Math.floor(y / ROW)];
  }

  move(event) {
    super.move(event);
    const found = this.frame && this.rowAt(event);
    if (found && this.pressed === undefined) this.page.tip(this.aboutText(...found), event.clientX, event.clientY);
    else this.page.tip("");
  }

  click(event) {
    const found = this.rowAt(event);
    if (found) this.view.toggle("flow", String(found[0].column("flows.id")[found[1]]));
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key], order = this.order();
    if (by) {
      event.preventDefault();
      this.cursor = Math.min(Math.max((this.cursor ?? -1) + by, 0), order.length - 1);
      const inside = this.height - 60, y = this.cursor * ROW;
      if (y < this.list.scrollTop || y > this.list.scrollTop + inside) this.list.scrollTop = Math.max(0, y - inside / 2);
      const box = this.canvas.getBoundingClientRect();
      this.page.tip(this.aboutText(...order[this.cursor]), box.left + 240, box.top + 20 + y - this.list.scrollTop, true);
      this.page.schedule();
    } else if (event.key === "Enter" && order[this.cursor]) {
      const [run, row] = order[this.cursor];
      this.view.toggle("flow", String(run.column("flows.id")[row]));
    } else if (event.key === "Escape") this.page.tip("");
    else super.key(event);
  }

  // All about a message, in lines.
  aboutText(run, row) {
    const fct = run.column("flows.fct_ps")[row], slow = run.column("flows.slowdown")[row], sums = new Map();
    const lines = [
      this.named(`message ${run.column("flows.id")[row]}: ${run.message(row)}`, run),
      `${run.labels[run.column("flows.label")[row]]}, ${sizeText(run.column("flows.size_bytes")[row])}, priority ${run.column("flows.priority")[row]}`,
      `starts at ${timeText(run.start[row], 6)}, ${Number.isNaN(fct) ? "has not completed" : `takes ${timeText(fct)}`}${Number.isNaN(slow) ? "" : `, slowdown ${short(slow, 3)}`}`,
    ];
    if (run.paths.length) lines.push(`path: ${run.paths[run.column("flows.path")[row]].replaceAll(">", " \u2192 ")}`);
    for (const { part, port, time } of this.partsOf(run, row)) {
      const where = sums.get(part) ?? { sum: 0, ports: new Map() };
      where.sum += time;
      where.ports.set(port, (where.ports.get(port) ?? 0) + time);
      sums.set(part, where);
    }
    for (const [part, { sum, ports }] of [...sums].sort((a, b) => b[1].sum - a[1].sum)) {
      const [port, most] = [...ports].sort((a, b) => b[1] - a[1])[0];
      lines.push(`${PART_LOOKS[part]?.[1] ?? part}: ${timeText(sum)}${ports.size > 1 ? `, most at ${port} (${timeText(most)})` : ` at ${port}`}`);
    }
    return lines.join("\n");
  }

  data() {
    const rows = this.order().flatMap(([run, row]) => {
      const head = [run.label, run.column("flows.id")[row], run.start[row], run.column("flows.fct_ps")[row]];
      const parts = this.partsOf(run, row);
      return parts.length ? parts.map(({ leg, part, port, time }) => [...head, leg, part, port, time]) : [[...head, "", "", "", NaN]];
    });
    return { columns: ["run", "flow", "start_ps", "fct_ps", "leg", "part", "port", "time_ps"], rows };
  }
}
