// The congestion tree: the network at a moment, each link as its two ports, each the half at its own node.

const MAX_DRAWN = 16_384;
const SHADES = { root: "#d55e00", paused: "#e69f00", queued: "#0072b2", idle: "#9aa4ae" };

/** How far each link stands aside, in pixels: 0, unless others join the same nodes. */
function shifts(links) {
  const name = ([a, b]) => `${Math.min(a, b)} ${Math.max(a, b)}`;
  const count = new Map();
  const ranks = links.map((link) => {
    const rank = count.get(name(link)) ?? 0;
    count.set(name(link), rank + 1);
    return rank;
  });
  return links.map((link, at) => 4 * (ranks[at] - (count.get(name(link)) - 1) / 2));
}

class Tree {
  constructor() {
    this.canvas = $("tree");
    $("moment").addEventListener("input", () => this.move((Number($("moment").value) / 1000) * this.states.end));
    $("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => ($("at").textContent = ""));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Shows a run at its busiest moment, or at the present one if two runs are to be compared. */
  show(run, keepsTime) {
    this.stop();
    this.run = run;
    this.states = new States(run);
    const { links } = run.network;
    const isDrawn = 2 * links.length <= MAX_DRAWN;
    this.layout = isDrawn ? layOut(run.network) : null;
    this.shift = isDrawn ? shifts(links) : [];
    for (const id of ["tree", "play", "moment"]) $(id).hidden = !isDrawn;
    $("tree-note").textContent = isDrawn
      ? this.note()
      : `The network has ${2 * links.length} ports; up to ${MAX_DRAWN} are drawn.`;
    this.move(keepsTime ? this.time : this.states.busiest());
  }

  note() {
    const { pauses, roots, queues, names } = this.states;
    const parts = ["A link is two ports, each the half at its own node. Point at one to read its state."];
    if (!pauses.size) parts.push("No port was ever paused.");
    if (!roots.size) parts.push("No port was ever a congested root.");
    if (queues.size < names.length) {
      parts.push(`Queues of ${queues.size} of ${names.length} ports are recorded; record.queues = "all" gives all.`);
    }
    return parts.join(" ");
  }

  move(time) {
    this.time = Math.min(Math.max(time, 0), this.states.end);
    $("moment").value = (1000 * this.time) / (this.states.end || 1);
    $("now").textContent = timeText(this.time);
    this.draw();
    plots.cursor(this.time);
  }

  play() {
    if (this.time >= this.states.end) this.time = 0;
    $("play").textContent = "Stop";
    this.timer = setInterval(() => {
      this.move(this.time + this.states.end / 300);
      if (this.time >= this.states.end) this.stop();
    }, 40);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    $("play").textContent = "Play";
  }

  /** The two ends and the middle of a port's half of its link, in pixels. */
  half(port) {
    const ends = this.run.network.links[port >> 1];
    const [own, other] = port % 2 ? [ends[1], ends[0]] : ends;
    const [[x, y], [X, Y]] = [this.spot(own), this.spot(other)];
    // Parallel links stand beside each other: each is moved across, the same way from both of its ends.
    const by = (this.shift[port >> 1] * (own < other ? 1 : -1)) / (Math.hypot(X - x, Y - y) || 1);
    const [across, down] = [(Y - y) * by, (x - X) * by];
    return [x + across, y + down, (x + X) / 2 + across, (y + Y) / 2 + down];
  }

  spot(node) {
    const [x, y] = this.layout.places[node] ?? [0.5, 0.5];
    return [14 + x * (this.width - 28), 14 + y * (this.height - 28)];
  }

  draw() {
    if (!this.layout) return;
    const { canvas, states, run: { network: { nodes, links } } } = this;
    this.width = canvas.clientWidth;
    if (!this.width) return;
    this.height = Math.max(260, Math.min(560, this.width * this.layout.shape));
    canvas.style.height = `${this.height}px`;
    const scale = devicePixelRatio;
    const [width, height] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const ports = { idle: [], queued: [], paused: [], root: [] };
    for (let port = 0; port < 2 * links.length; port += 1) ports[states.at(port, this.time)].push(port);
    for (const [state, those] of Object.entries(ports)) {
      pen.beginPath();
      pen.strokeStyle = SHADES[state];
      pen.globalAlpha = state === "idle" ? 0.55 : 1;
      pen.lineWidth = state === "idle" ? 0.8 : state === "queued" ? 1.6 : 2.8;
      for (const port of those) {
        const [x, y, X, Y] = this.half(port);
        pen.moveTo(x, y);
        pen.lineTo(X, Y);
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
    const [text, page] = [colour("text"), colour("page")];
    const radius = links.length > 600 ? 2 : links.length > 60 ? 3 : 5;
    nodes.forEach(([, , isHost], node) => {
      const [x, y] = this.spot(node);
      pen.fillStyle = isHost ? page : text;
      pen.strokeStyle = text;
      pen.lineWidth = 1;
      pen.beginPath();
      if (isHost) pen.arc(x, y, radius, 0, 2 * Math.PI);
      else pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
      pen.fill();
      pen.stroke();
    });
    for (const port of ports.root) this.diamond(pen, port, page);
    this.names(pen, text, page, radius);
  }

  diamond(pen, port, page) {
    const [x, y, X, Y] = this.half(port);
    const [a, b] = [(x + X) / 2, (y + Y) / 2];
    pen.beginPath();
    for (const [i, j] of [[0, -6], [6, 0], [0, 6], [-6, 0]]) pen.lineTo(a + i, b + j);
    pen.closePath();
    pen.fillStyle = SHADES.root;
    pen.strokeStyle = page;
    pen.fill();
    pen.stroke();
  }

  /** Names of nodes, as far as they have room; not of hosts in blocks, which a port's name tells. */
  names(pen, text, page, radius) {
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineWidth = 3;
    pen.strokeStyle = page;
    pen.fillStyle = text;
    const taken = [];
    this.run.network.nodes.forEach(([name, , isHost], node) => {
      if (isHost && this.layout.inBlocks) return;
      const short = name.length > 14 ? `${name.slice(0, 13)}…` : name;
      const half = pen.measureText(short).width / 2;
      const [spotX, spotY] = this.spot(node);
      const x = Math.min(Math.max(spotX, half + 2), this.width - half - 2);
      const y = isHost && spotY > this.height / 2 ? Math.min(spotY + radius + 11, this.height - 2) : spotY - radius - 4;
      if (taken.some(([a, b, h]) => Math.abs(a - x) < h + half + 4 && Math.abs(b - y) < 12)) return;
      taken.push([x, y, half]);
      pen.strokeText(short, x, y);
      pen.fillText(short, x, y);
    });
  }

  /** Writes what the port under the pointer does. */
  point({ offsetX, offsetY }) {
    if (!this.layout) return;
    let [nearest, distance] = [-1, 100];
    for (let port = 0; port < 2 * this.run.network.links.length; port += 1) {
      const [x, y, X, Y] = this.half(port);
      const length = (X - x) ** 2 + (Y - y) ** 2 || 1;
      const along = Math.min(Math.max(((offsetX - x) * (X - x) + (offsetY - y) * (Y - y)) / length, 0), 1);
      const away = (x + along * (X - x) - offsetX) ** 2 + (y + along * (Y - y) - offsetY) ** 2;
      if (away < distance) [nearest, distance] = [port, away];
    }
    $("at").textContent = nearest < 0 ? "" : this.states.words(nearest, this.time);
  }
}
