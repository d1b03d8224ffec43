// The drawing of the network, and the strip below it that says when there was congestion; both by BokehJS.

// Width of a port's line by its state, on links, where there are few and where there are many, and in blocks of hosts.
const WIDTHS = { [SLOW]: 1, [SENDING]: 1.4, [UNDETERMINED]: 3.2, [PAUSED]: 3.2, [ROOT]: 5 };
const THIN_WIDTHS = { [SLOW]: 0.7, [SENDING]: 1, [UNDETERMINED]: 1.6, [PAUSED]: 1.6, [ROOT]: 2.6 };
const BLOCK_WIDTH = 6;
const GAPS = [5, 7];

// States that stand above each other in this order. What is idle is the drawing beneath; what was not recorded has gaps in it.
const LAYERS = [SLOW, SENDING, UNDETERMINED, PAUSED, ROOT];

const bokehModel = (name) => Bokeh.Models.get(name);
const segments = (color, width, more = {}) => new (bokehModel("Segment"))({
  x0: { field: "x0" }, y0: { field: "y0" }, x1: { field: "x1" }, y1: { field: "y1" },
  line_color: color, line_width: width, ...more,
});
const source = (data) => new (bokehModel("ColumnDataSource"))({ data });
const renderer = (data, glyph, level = "glyph") => new (bokehModel("GlyphRenderer"))({ data_source: data, glyph, level });
const NOTHING = { x0: [], y0: [], x1: [], y1: [], port: [] };

async function show(plot, element) {
  const document = new (Bokeh.require("document").Document)();
  document.add_root(plot);
  const views = await Bokeh.embed.add_document_standalone(document, element);
  const view = [...views][0];
  // What is drawn in layers above before a plot has been laid out and painted as a whole would stay where it is.
  do await new Promise(requestAnimationFrame); while (!document.is_idle || view.frame.bbox.width < 50);
  view.request_repaint();
  return view;
}

// Paints what has changed, at once; new data of a layer takes BokehJS some turns of the event loop.
async function paint(view) {
  await new Promise(requestAnimationFrame);
  view.repaint();
}

class NetworkDrawing {
  constructor(model, looks, style) {
    [this.model, this.looks] = [model, looks];
    const { network } = model.data;
    const xs = network.at.map(([x]) => x), ys = network.at.map(([, y]) => y);
    const low = Math.min(...ys) - 36, high = Math.max(...ys) + 36;
    const Range = bokehModel("Range1d");
    const crowd = network.at.length;
    this.sizes = { host: network.in_block.includes(1) ? 3.5 : 8, switch: crowd > 600 ? 6 : crowd > 150 ? 9 : 12 };
    const numbered = model.data.roots.slice(0, 5).filter((root) => root.tree.length).map((root) => root.port);
    const labels = new Labels(network, numbered, this.sizes);
    this.texts = new Texts(labels);
    const [left, right] = labels.reach();
    this.plot = new (bokehModel("Plot"))({
      x_range: new Range({ start: Math.min(left - 4, -24), end: Math.max(right + 4, 1224) }),
      y_range: new Range({ start: low, end: high }),
      height: Math.max(240, Math.min(760, high - low)),
      sizing_mode: "stretch_width",
      min_border: 0,
      background_fill_color: null, border_fill_color: null, outline_line_color: null,
      output_backend: "canvas",
    });
    this.plot.toolbar.logo = null;
    const tools = ["PanTool", "ResetTool", "SaveTool"].map((name) => new (bokehModel(name))());
    this.plot.add_tools(...tools, new (bokehModel("WheelZoomTool"))({ modifiers: { ctrl: true } }));
    this.addStill(network);
    // A layer is a source for links and one for blocks, as lines of one width are drawn fastest.
    this.marked = [source(NOTHING), source(NOTHING)];
    this.layers = new Map(LAYERS.map((state) => [state, [source(NOTHING), source(NOTHING)]]));
    this.diamonds = source({ x: [], y: [] });
    this.chosen = source({ x: [], y: [] });
    this.markGlyphs = [network.crowded ? 5 : 8, BLOCK_WIDTH + 4].map((width) => segments(style.mark, width, { line_cap: "round" }));
    this.unknown = [source(NOTHING), source(NOTHING)];
    this.gapGlyphs = [2, BLOCK_WIDTH + 1].map((width) => segments(style.card, width, { line_dash: GAPS, line_dash_offset: GAPS[0] }));
    this.unknown.forEach((data, inside) => this.addOver(data, this.gapGlyphs[inside]));
    this.marked.forEach((data, inside) => this.addOver(data, this.markGlyphs[inside]));
    for (const [state, sources] of this.layers) {
      const width = (network.crowded ? THIN_WIDTHS : WIDTHS)[state];
      sources.forEach((data, inside) => this.addOver(data, segments(looks[state].colour, inside ? BLOCK_WIDTH : width)));
    }
    this.addTexts("name");
    this.addTexts("row");
    const Scatter = bokehModel("Scatter");
    const place = { x: { field: "x" }, y: { field: "y" } };
    this.diamondGlyph = new Scatter({
      ...place, marker: "diamond", size: network.crowded ? 9 : 13, fill_color: looks[ROOT].colour, line_color: style.text, line_width: 1,
    });
    this.addOver(this.diamonds, this.diamondGlyph);
    this.addTexts("number");
    this.chosenGlyph = new Scatter({ ...place, marker: "circle", size: 20, fill_color: null, line_color: style.text, line_width: 2 });
    this.addOver(this.chosen, this.chosenGlyph);
    this.dye(style);
  }

  addStill(network) {
    const every = network.lines.map((_, port) => port);
    const beneath = [0, 1].map((inside) => source(this.lines(every.filter((port) => network.in_block[port] === inside))));
    this.idleGlyphs = [segments("grey", 1), segments("grey", BLOCK_WIDTH)];
    this.stillGlyph = segments("grey", network.crowded ? 0.4 : 1);
    const ofKind = (host) => {
      const chosen = network.at.filter((_, node) => (network.tiers[node] === 0) === host);
      return source({ x: chosen.map(([x]) => x), y: chosen.map(([, y]) => y) });
    };
    const place = { x: { field: "x" }, y: { field: "y" }, line_color: null };
    const Scatter = bokehModel("Scatter");
    this.hostGlyph = new Scatter({ ...place, marker: "circle", size: this.sizes.host });
    this.switchGlyph = new Scatter({ ...place, marker: "square", size: this.sizes.switch });
    this.plot.renderers = [
      renderer(source(this.columns(network.still)), this.stillGlyph),
      ...beneath.map((data, inside) => renderer(data, this.idleGlyphs[inside])),
      renderer(ofKind(true), this.hostGlyph),
      renderer(ofKind(false), this.switchGlyph),
    ];
  }

  columns(lines) {
    const column = (place) => lines.map((line) => line[place]);
    return { x0: column(0), y0: column(1), x1: column(2), y1: column(3) };
  }

  // Ports as the data of a layer.
  lines(ports) {
    return { ...this.columns(ports.map((port) => this.model.data.network.lines[port])), port: ports };
  }

  // Puts ports into the sources of a layer; those that have them already stay.
  fill(sources, ports) {
    const { in_block } = this.model.data.network;
    sources.forEach((data, inside) => {
      const now = ports.filter((port) => in_block[port] === inside), before = data.data.port;
      if (now.length !== before.length || now.some((port, index) => port !== before[index])) data.data = this.lines(now);
    });
  }

  addOver(data, glyph) {
    this.plot.renderers = [...this.plot.renderers, renderer(data, glyph, "overlay")];
  }

  addTexts(kind) {
    for (const glyph of this.texts.glyphs[kind]) this.addOver(this.texts.sources[kind], glyph);
  }

  // Takes over the colours of the page.
  dye(style) {
    for (const glyph of [...this.idleGlyphs, this.stillGlyph]) glyph.line_color = style.idle;
    for (const glyph of this.gapGlyphs) glyph.line_color = style.card;
    this.hostGlyph.fill_color = style.muted;
    this.switchGlyph.fill_color = style.muted;
    this.texts.dye(style);
    this.diamondGlyph.line_color = style.text;
    this.chosenGlyph.line_color = style.text;
    for (const glyph of this.markGlyphs) glyph.line_color = style.mark;
  }

  middle(port) {
    const [x0, y0, x1, y1] = this.model.data.network.lines[port];
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  }

  // Draws the states that the model stands at; layers in which nothing has changed stay.
  draw() {
    const ports = new Map([UNKNOWN, ...LAYERS].map((state) => [state, []]));
    this.model.states.forEach((state, port) => ports.get(state)?.push(port));
    for (const [state, sources] of this.layers) this.fill(sources, ports.get(state));
    this.fill(this.unknown, ports.get(UNKNOWN));
    const roots = ports.get(ROOT);
    if (String(roots) === this.rootsDrawn) return;
    this.rootsDrawn = String(roots);
    this.texts.writeNumbers(new Set(roots));
    const places = roots.map((port) => this.middle(port));
    this.diamonds.data = { x: places.map(([x]) => x), y: places.map(([, y]) => y) };
  }

  // Lays a broad line under ports, and a ring around one.
  mark(ports, chosen = null) {
    this.fill(this.marked, ports);
    const place = chosen === null ? null : this.middle(chosen);
    this.chosen.data = place ? { x: [place[0]], y: [place[1]] } : { x: [], y: [] };
  }

  async show(element) {
    this.view = await show(this.plot, element);
    // Bokeh draws what is above beyond the frame as well, which is over the buttons.
    for (const view of this.view.renderer_views.values()) Object.defineProperty(view, "needs_clip", { value: true });
    const write = () => this.texts.write(this.scale());
    write();
    // A zoom changes both ranges, one after the other; what else changes the scale is seen when it has been painted.
    for (const range of [this.plot.x_range, this.plot.y_range]) range.change.connect(() => queueMicrotask(write));
    this.view.repainted.connect(write);
  }

  // Pixels for each unit of the drawing.
  scale() {
    const { x_range, y_range, inner_width, inner_height } = this.plot;
    return { x: inner_width / (x_range.end - x_range.start), y: inner_height / (y_range.end - y_range.start) };
  }

  // Where a port is drawn, in pixels of the map.
  pixel(port) {
    const [x, y] = this.middle(port), scale = this.scale();
    const { left, top } = this.view.frame.bbox;
    return { x: left + (x - this.plot.x_range.start) * scale.x, y: top + (this.plot.y_range.end - y) * scale.y };
  }
}

// How many ports are paused, undetermined and roots over time: a row each, as high as its largest number.
class Strip {
  constructor(model, looks, end, unit, style) {
    const Range = bokehModel("Range1d"), { counts } = model.data;
    this.unit = unit;
    const rows = counts.length;
    this.plot = new (bokehModel("Plot"))({
      x_range: new Range({ start: 0, end: end / unit.scale }),
      y_range: new Range({ start: 0, end: Math.max(rows, 0.2) }),
      height: 40 + 48 * rows, sizing_mode: "stretch_width", min_border: 0, min_border_left: 8, min_border_right: 8, toolbar_location: null,
      background_fill_color: null, border_fill_color: null, outline_line_color: null,
    });
    this.axis = new (bokehModel("LinearAxis"))({ axis_label: `time (${unit.name})` });
    this.plot.add_layout(this.axis, "below");
    this.names = counts.map(({ state, most, most_ps }, row) => {
      const time = [], count = [];
      counts[row].time_ps.forEach((at, index) => {
        time.push(at / unit.scale);
        count.push(rows - 1 - row + 0.62 * counts[row].count[index] / most);
      });
      time.push(end / unit.scale);
      count.push(count.at(-1));
      const floor = rows - 1 - row, x = [], y = [];
      time.forEach((at, index) => {
        if (index) { x.push(at); y.push(y.at(-1)); }
        x.push(at); y.push(count[index]);
      });
      const area = new (bokehModel("VArea"))({
        x: { field: "x" }, y1: { field: "floor" }, y2: { field: "y" }, fill_color: looks[state].colour,
      });
      this.plot.renderers = [...this.plot.renderers, renderer(source({ x, y, floor: x.map(() => floor) }), area)];
      const text = `${looks[state].name}: up to ${most.toLocaleString("en")} port${most === 1 ? "" : "s"}, at `
        + `${Number((most_ps / unit.scale).toPrecision(5))} ${unit.name}`;
      return new (bokehModel("Label"))({ x: 4, y: floor + 0.66, x_units: "screen", text, text_font_size: "11px" });
    });
    this.cursor = new (bokehModel("Span"))({ dimension: "height", location: 0, line_width: 2, level: "overlay" });
    for (const each of [...this.names, this.cursor]) this.plot.add_layout(each);
    this.dye(style);
  }

  dye(style) {
    this.cursor.line_color = style.text;
    for (const label of this.names) label.text_color = style.text;
    for (const name of ["axis_label_text_color", "major_label_text_color", "axis_line_color", "major_tick_line_color", "minor_tick_line_color"]) {
      this.axis[name] = style.muted;
    }
  }

  moveTo(time) {
    this.cursor.location = time / this.unit.scale;
  }

  async show(element) {
    this.view = await show(this.plot, element);
  }
}
