// Names of nodes and numbers of roots: at each zoom those that have room, as on maps.

const FONT = "helvetica", NAME_PX = 11, NUMBER_PX = 12;

// How far from its port's line the middle of a number is.
const BESIDE = 14;

// What takes room, and how much worse it is for a number to stand on it than on nothing.
const MARKER = 5, NAME = 4, DIAMOND = 2, NUMBER = Infinity;

const boxAt = (x, y, width, height) => ({
  left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2,
});

// Boxes by the squares of a grid in which they lie, so that few are compared with each other.
class Room {
  constructor() {
    this.squares = new Map();
  }

  * keys({ left, right, top, bottom }) {
    for (let x = left >> 6; x <= right >> 6; x++) for (let y = top >> 6; y <= bottom >> 6; y++) yield x * 0x10000 + y;
  }

  take(box, kind) {
    for (const key of this.keys(box)) {
      if (!this.squares.has(key)) this.squares.set(key, []);
      this.squares.get(key).push({ ...box, kind });
    }
  }

  // Kinds of what a box would stand on.
  under(box) {
    const found = [];
    for (const key of this.keys(box)) {
      for (const other of this.squares.get(key) ?? []) {
        if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom) found.push(other.kind);
      }
    }
    return found;
  }

  isFree(box) {
    return this.under(box).length === 0;
  }
}

class Labels {
  // `numbered` are the ports that have a number, from 1 on; `sizes` those of the markers of hosts and switches.
  constructor(network, numbered, sizes) {
    [this.network, this.numbered, this.sizes] = [network, numbered, sizes];
    this.isHost = network.tiers.map((tier) => tier === 0);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${NAME_PX}px ${FONT}`;
    const width = (text) => Math.max(...text.split("\n").map((line) => context.measureText(line).width));
    this.widths = network.nodes.map(width);
    this.rowWidths = network.rows.map(({ words }) => width(words));
    const inRows = new Set(network.rows.flatMap(({ nodes }) => nodes));
    // Switches before hosts.
    this.loose = [false, true].flatMap((host) => network.nodes.map((_, node) => node)
      .filter((node) => this.isHost[node] === host && !inRows.has(node)));
    this.blocks = network.lines.filter((_, port) => network.in_block[port]);
  }

  // From where to where words for rows reach on the narrowest map, on which a unit has 0.7 pixels.
  reach() {
    const boxes = this.at({ x: 0.7, y: 1 }).row.map(({ box }) => box);
    return [Math.min(...boxes.map(({ left }) => left)) / 0.7, Math.max(...boxes.map(({ right }) => right)) / 0.7];
  }

  // How far below its node a name stands, in pixels.
  below(node) {
    return this.isHost[node] ? this.sizes.host / 2 + 10 : -(this.sizes.switch / 2 + 10);
  }

  // The texts of each kind that there is room for, with `scale` in pixels for each unit of the drawing: where each stands,
  // and how far from there in pixels.
  at(scale) {
    this.scale = scale;
    const room = new Room(), { network } = this;
    network.at.forEach(([x, y], node) => {
      const size = this.isHost[node] ? this.sizes.host : this.sizes.switch;
      room.take(boxAt(x * scale.x, -y * scale.y, size, size), MARKER);
    });
    for (const [x0, y, x1] of this.blocks) {
      room.take(boxAt((x0 + x1) / 2 * scale.x, -y * scale.y, Math.abs(x1 - x0) * scale.x, BLOCK_WIDTH), MARKER);
    }
    const names = [], rows = [];
    const name = (node) => {
      const box = this.nameBox(node), [x, y] = network.at[node];
      if (!room.isFree(box)) return;
      room.take(box, NAME);
      names.push({ x, y, text: network.nodes[node], dx: 0, dy: this.below(node), box });
    };
    network.rows.forEach(({ words, at: [x, y], left, nodes }, row) => {
      if (this.fit(nodes, room)) {
        nodes.forEach(name);
        return;
      }
      const width = this.rowWidths[row];
      const box = boxAt(x * scale.x + width / (left ? -2 : 2), -y * scale.y, width, 2.6 * NAME_PX);
      if (!room.isFree(box)) return;
      room.take(box, NAME);
      rows.push({ x, y, text: words, dx: 0, dy: 0, align: left ? "right" : "left", box });
    });
    this.loose.forEach(name);
    const numbers = this.numbers(room), above = new Room();
    for (const { box } of numbers) above.take(box, NUMBER);
    const seen = ({ box }) => above.isFree(box);
    return { name: names.filter(seen), row: rows.filter(seen), number: numbers };
  }

  nameBox(node) {
    const [x, y] = this.network.at[node];
    return boxAt(x * this.scale.x, -y * this.scale.y + this.below(node), this.widths[node] + 5, NAME_PX + 3);
  }

  // Whether the names of all these nodes have room.
  fit(nodes, room) {
    const own = new Room();
    return nodes.every((node) => {
      const box = this.nameBox(node), fits = own.isFree(box) && room.isFree(box);
      own.take(box, NAME);
      return fits;
    });
  }

  // The numbers that have room, each beside its port.
  numbers(room) {
    const { scale } = this;
    const ports = this.numbered.map((port) => {
      const [x0, y0, x1, y1] = this.network.lines[port], x = (x0 + x1) / 2, y = (y0 + y1) / 2;
      room.take(boxAt(x * scale.x, -y * scale.y, NUMBER_PX, NUMBER_PX), DIAMOND);
      return { port, x, y, across: (x1 - x0) * scale.x, down: (y0 - y1) * scale.y };
    });
    return ports.flatMap(({ port, x, y, across, down }, rank) => {
      const length = Math.hypot(across, down) || 1;
      // Above the port's middle, or to the right of an upright one, before the other side; then nearer to its ends.
      const way = across > 0 || (across === 0 && down > 0) ? BESIDE / length : -BESIDE / length;
      let best = { cost: Infinity };
      for (const part of [0, 0.15, -0.15, 0.3, -0.3]) {
        for (const far of [way, -way]) {
          const dx = part * across + far * down, dy = part * down - far * across;
          const box = boxAt(x * scale.x + dx, -y * scale.y + dy, 9, NUMBER_PX);
          const cost = room.under(box).reduce((sum, kind) => sum + kind, 0);
          if (cost < best.cost) best = { port, x, y, text: `${rank + 1}`, dx, dy, box, cost };
        }
      }
      if (best.cost === Infinity) return [];
      room.take(best.box, NUMBER);
      return [best];
    });
  }
}

const columns = (texts) => Object.fromEntries(["x", "y", "text", "dx", "dy", "align"]
  .map((name) => [name, texts.map((text) => text[name] ?? null)]));

// The texts as Bokeh draws them, each above a broad line of the page's colour around its letters.
class Texts {
  constructor(labels) {
    this.labels = labels;
    const looks = {
      name: { text_font_size: `${NAME_PX}px`, text_align: "center" },
      row: { text_font_size: `${NAME_PX}px`, text_align: { field: "align" } },
      number: { text_font_size: `${NUMBER_PX}px`, text_align: "center", text_font_style: "bold" },
    };
    [this.sources, this.halos, this.letters, this.glyphs] = [{}, [], [], {}];
    this.roots = new Set();
    for (const [kind, look] of Object.entries(looks)) {
      this.sources[kind] = source(columns([]));
      for (const glyphs of [this.halos, this.letters]) {
        const glyph = new (bokehModel("Text"))({
          x: { field: "x" }, y: { field: "y" }, text: { field: "text" }, x_offset: { field: "dx" }, y_offset: { field: "dy" },
          text_font: FONT, text_baseline: "middle", text_outline_width: 3, ...look,
        });
        glyphs.push(glyph);
        this.glyphs[kind] = [...(this.glyphs[kind] ?? []), glyph];
      }
    }
  }

  dye(style) {
    for (const glyph of this.letters) glyph.text_color = style.text;
    for (const glyph of this.halos) [glyph.text_color, glyph.text_outline_color] = [style.card, style.card];
  }

  // Writes what there is room for; where a step in time or a drag leaves the scale as it is, that stays.
  write(scale) {
    if (scale.x === this.scale?.x && scale.y === this.scale?.y) return;
    this.scale = scale;
    const placed = this.labels.at(scale);
    for (const kind of ["name", "row"]) this.sources[kind].data = columns(placed[kind]);
    this.numbers = placed.number;
    this.writeNumbers();
  }

  // Of the numbers, those of the ports that are roots now; the others keep their room.
  writeNumbers(roots = this.roots) {
    this.roots = roots;
    this.sources.number.data = columns((this.numbers ?? []).filter(({ port }) => roots.has(port)));
  }
}
