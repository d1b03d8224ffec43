// A figure: a canvas with a legend, and its export as SVG and CSV.

// Saves a text as a file. Nothing leaves the browser.
const save = (name, text, type) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

const csvField = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

// Rows of values as CSV. A text that a spreadsheet would take for a formula stays a text.
const csvText = (columns, rows) => {
  const plain = (value) => (typeof value === "string" && /^[=+\-@\t]/.test(value) ? `'${value}` : value);
  return [columns, ...rows].map((row) => row.map((value) => csvField(plain(value))).join(",")).join("\r\n") + "\r\n";
};

const element = (name, text = "", attributes = {}) => {
  const made = document.createElement(name);
  if (text !== "") made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const COLOURS = JSON.parse(document.getElementById("explore").dataset.colours);
const colourOf = (index) => COLOURS[index % COLOURS.length];
const dashOf = (run) => (run.number ? [6, 4] : []);

class Figure {
  // `height` of the plot in CSS pixels.
  constructor(page, name, height) {
    Object.assign(this, { page, name, height, view: page.view, inSight: true });
    this.node = document.getElementById(`figure-${name}`);
    this.canvas = this.node.querySelector("canvas");
    // From the beginning, so that what lies below stays where it is when this figure comes into sight and is drawn.
    this.canvas.style.height = `${height}px`;
    this.legend = this.node.querySelector(".legend");
    this.absent = this.node.querySelector(".absent");
    this.node.querySelector("[data-save=svg]").addEventListener("click", () => save(`${this.name}.svg`, this.svg(), "image/svg+xml"));
    this.node.querySelector("[data-save=csv]").addEventListener("click", () => {
      const { columns, rows } = this.data();
      save(`${this.name}.csv`, csvText(columns, rows), "text/csv");
    });
    new IntersectionObserver(([entry]) => {
      const before = this.inSight;
      this.inSight = entry.isIntersecting;
      if (!before && this.inSight) this.draw();
    }, { rootMargin: "100px" }).observe(this.node);
    this.inSight = false;
  }

  get runs() {
    return this.page.runs;
  }

  // How a run is called beside the name of something.
  named(name, run) {
    return this.runs.length > 1 ? `${name} (${run.label})` : name;
  }

  // Why there is nothing to draw; empty if there is something.
  lack() {
    return "";
  }

  draw() {
    const lack = this.lack();
    this.node.classList.toggle("empty", lack !== "");
    this.absent.textContent = lack;
    for (const button of this.node.querySelectorAll("[data-save]")) button.disabled = lack !== "";
    if (lack) return;
    const width = this.canvas.parentElement.clientWidth;
    this.canvas.style.height = `${this.height}px`;
    this.paint(new CanvasPen(this.canvas, width, this.height), width, this.height);
    this.showLegend();
  }

  // What the legend says: for each entry `{ name, colour, dash }`.
  entries() {
    return [];
  }

  showLegend() {
    const entries = this.entries(), key = JSON.stringify(entries.map(({ name, colour }) => [name, colour]));
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.values = [];
    this.legend.replaceChildren(...entries.map(({ name, colour, dash }) => {
      const item = element("li"), mark = element("span", "", { class: dash?.length ? "key dashed" : "key" }), value = element("b");
      mark.style.setProperty("--key", colour);
      item.append(mark, document.createTextNode(name), value);
      this.values.push(value);
      return item;
    }));
  }

  // The figure as SVG, with its title and its legend.
  svg() {
    const entries = this.entries(), width = 900, looks = this.page.looks;
    const rows = Math.ceil(entries.length / 3);
    const height = this.height + 30 + 18 * rows;
    const pen = new SvgPen(width, height, looks.card);
    pen.text(this.node.querySelector("h2").textContent, 12, 16, looks.text, { bold: true });
    pen.parts.push('<g transform="translate(0 30)">');
    this.paint(pen, width, this.height);
    pen.parts.push("</g>");
    entries.forEach(({ name, colour, dash }, place) => {
      const x = 62 + (place % 3) * 280, y = this.height + 36 + 18 * Math.floor(place / 3);
      pen.line([x, y, x + 22, y], colour, { width: 3, dash: dash?.length ? [6, 4] : [] });
      pen.text(name, x + 28, y, looks.text, { most: 246 });
    });
    return pen.toString();
  }
}

// A figure over the time range of the view: a drag chooses a part of it, keys move it, and all such figures show the same moment.
class TimeFigure extends Figure {
  constructor(page, name, height) {
    super(page, name, height);
    const plot = this.canvas.parentElement;
    this.cross = element("div", "", { class: "cross", hidden: "" });
    this.drag = element("div", "", { class: "drag", hidden: "" });
    plot.append(this.cross, this.drag);
    plot.tabIndex = 0;
    plot.addEventListener("pointerdown", (event) => this.press(event));
    plot.addEventListener("pointermove", (event) => this.move(event));
    plot.addEventListener("pointerup", (event) => this.release(event));
    plot.addEventListener("pointercancel", () => this.cancel());
    plot.addEventListener("pointerleave", () => this.page.point(null));
    plot.addEventListener("dblclick", () => this.view.brush(0, this.view.end));
    plot.addEventListener("keydown", (event) => this.key(event));
  }

  get times() {
    return this.view.range;
  }

  frameOf(width, height, y) {
    return (this.frame = new Frame({ width, height, x: this.times, y, ...this.shape }));
  }

  timeAxis(pen, more) {
    const [scale, unit] = timeUnit(this.frame.x1 - this.frame.x0 > 1 ? this.frame.x1 : 1);
    this.frame.axes(pen, this.page.looks, { xTitle: `time (${unit})`, xScale: scale, ...more });
  }

  within(event) {
    return event.clientX - this.canvas.getBoundingClientRect().left;
  }

  press(event) {
    if (event.button !== 0 || !this.frame || this.node.classList.contains("empty")) return;
    this.canvas.parentElement.setPointerCapture(event.pointerId);
    this.pressed = this.within(event);
  }

  move(event) {
    if (!this.frame) return;
    const x = this.within(event);
    if (this.pressed !== undefined) {
      const [low, high] = [this.pressed, x].sort((a, b) => a - b).map((each) => Math.min(Math.max(each, this.frame.left), this.frame.right));
      this.drag.hidden = high - low < 3;
      Object.assign(this.drag.style, { left: `${low}px`, width: `${high - low}px` });
    }
    this.page.point(x < this.frame.left || x > this.frame.right ? null : this.frame.timeAt(x));
  }

  release(event) {
    if (this.pressed === undefined) return;
    const x = this.within(event), from = this.frame.timeAt(this.pressed), to = this.frame.timeAt(x);
    const moved = Math.abs(x - this.pressed) >= 3;
    this.cancel();
    if (moved) this.view.brush(from, to);
    else this.click?.(event);
  }

  cancel() {
    this.pressed = undefined;
    this.drag.hidden = true;
  }

  key(event) {
    const [from, to] = this.view.range, length = to - from, end = this.view.end;
    const shift = (by) => {
      const moved = Math.min(Math.max(by, -from), end - to);
      this.view.brush(from + moved, to + moved);
    };
    const zoom = (factor) => {
      const middle = (from + to) / 2;
      this.view.brush(middle - length * factor / 2, middle + length * factor / 2);
    };
    const actions = {
      ArrowLeft: () => shift(-length / 8), ArrowRight: () => shift(length / 8),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => this.view.brush(0, end), Escape: () => this.cancel(),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  // Shows a moment, or none.
  point(time) {
    const shown = time !== null && this.frame && time >= this.frame.x0 && time <= this.frame.x1;
    this.cross.hidden = !shown;
    if (shown) this.cross.style.transform = `translateX(${this.frame.x(time)}px)`;
    if (this.inSight) this.readOut(shown ? time : null);
  }

  readOut(time) {
    if (!this.values) return;
    this.entries().forEach(({ valueAt }, place) => {
      if (this.values[place]) this.values[place].textContent = time === null || !valueAt ? "" : valueAt(time);
    });
  }
}
