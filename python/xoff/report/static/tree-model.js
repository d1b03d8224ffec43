// What a run's data says at a moment: no drawing here.

const UNKNOWN = 0, IDLE = 1, SLOW = 2, SENDING = 3, UNDETERMINED = 4, PAUSED = 5, ROOT = 6;

class Model {
  constructor(data) {
    this.data = data;
    const { count, since_ps, state } = data.changes;
    this.first = new Uint32Array(count.length + 1);
    count.forEach((each, port) => { this.first[port + 1] = this.first[port] + each; });
    this.times = new Float64Array(since_ps.length);
    this.changed = Uint8Array.from(state);
    const moments = [];
    for (let port = 0; port < count.length; port++) {
      let time = 0, before = UNKNOWN;
      for (let at = this.first[port]; at < this.first[port + 1]; at++) {
        time += since_ps[at];
        this.times[at] = time;
        if (before >= UNDETERMINED || state[at] >= UNDETERMINED) moments.push(time);
        before = state[at];
      }
    }
    // When congestion changes anywhere, each moment once.
    this.moments = Float64Array.from(new Set(moments)).sort();
    // By port: the change that holds, from which a step in time only moves on.
    this.at = Int32Array.from(this.first.subarray(0, count.length), (first) => first - 1);
    this.states = new Uint8Array(count.length);
    this.pauses = new Map(data.pauses.ports.map(([port, times, total, longest, first, depth]) =>
      [port, { times, total, longest, first, depth }]));
    this.roots = new Map(data.roots.map((root, rank) => [root.port, { ...root, rank }]));
    // By port: the other one of its link; parallel links come in the same order from both ends.
    const between = new Map();
    const { node, peer } = data.network;
    const ends = (from, to) => from * data.network.nodes.length + to;
    node.forEach((from, port) => {
      const key = ends(from, peer[port]);
      between.set(key, [...(between.get(key) ?? []), port]);
    });
    this.reverse = node.map((from, port) => {
      const own = between.get(ends(from, peer[port])).indexOf(port);
      return between.get(ends(peer[port], from))?.[own] ?? port;
    });
    this.flowsOf = new Map();
    data.flows.forEach((flow, index) => flow.hops.flat().forEach(([port]) => {
      if (!this.flowsOf.has(port)) this.flowsOf.set(port, []);
      this.flowsOf.get(port).push(index);
    }));
  }

  // The state of each port at a time, in `states`.
  moveTo(time) {
    const { at, first, times, changed, states } = this;
    for (let port = 0; port < states.length; port++) {
      let here = at[port];
      const last = first[port + 1] - 1;
      while (here < last && times[here + 1] <= time) here++;
      while (here >= first[port] && times[here] > time) here--;
      at[port] = here;
      states[port] = here < first[port] ? UNKNOWN : changed[here];
    }
  }

  // The states of a port between two times: [state, begin, end].
  spans(port, begin, end) {
    const found = [];
    for (let at = this.first[port]; at < this.first[port + 1]; at++) {
      const from = Math.max(this.times[at], begin);
      const to = at + 1 < this.first[port + 1] ? Math.min(this.times[at + 1], end) : end;
      if (from < to) found.push([this.changed[at], from, to]);
    }
    return found;
  }

  // The next change of congestion after a time, or with -1 the last one before it.
  change(time, direction) {
    let low = 0, high = this.moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (direction > 0 ? this.moments[middle] <= time : this.moments[middle] < time) low = middle + 1;
      else high = middle;
    }
    const found = this.moments[direction > 0 ? low : low - 1];
    return found === undefined ? time : found;
  }

  // The port whose line is nearest to a place, within some pixels; `x` and `y` are pixels for each unit of the drawing.
  nearest(place, scale, most) {
    let found = -1, least = most;
    this.data.network.lines.forEach(([x0, y0, x1, y1], port) => {
      const ax = (x0 - place.x) * scale.x, ay = (y0 - place.y) * scale.y;
      const dx = (x1 - x0) * scale.x, dy = (y1 - y0) * scale.y;
      const part = Math.max(0, Math.min(1, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
      const far = Math.hypot(ax + part * dx, ay + part * dy);
      if (far < least) [found, least] = [port, far];
    });
    return found;
  }

  // By number of links from a congestion root: ports, when the first of them stopped, and for how long all did.
  spread(root) {
    const rows = root === null
      ? this.data.pauses.ports.map(([, , total, , first, depth]) => [depth, first, total])
      : this.roots.get(root).tree.map(([, depth, first, total]) => [depth, first, total]);
    const found = new Map();
    for (const [depth, first, total] of rows) {
      const one = found.get(depth) ?? { depth, ports: 0, first: Infinity, total: 0 };
      one.ports += 1;
      one.first = Math.min(one.first, first);
      one.total += total;
      found.set(depth, one);
    }
    return [...found.values()].sort((a, b) => (a.depth ?? Infinity) - (b.depth ?? Infinity));
  }
}

// A time in the page's unit.
const timeUnit = (end) => (end >= 20e9 ? { scale: 1e9, name: "ms" } : { scale: 1e6, name: "us" });

// A time in ps with a fitting unit.
function duration(ps) {
  for (const [unit, scale] of [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]]) {
    if (ps >= scale) return `${Number((ps / scale).toPrecision(4))} ${unit}`;
  }
  return `${ps} ps`;
}

function bytes(count) {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(4))} MB`;
  return count >= 1e3 ? `${Number((count / 1e3).toPrecision(4))} KB` : `${count} B`;
}

// 1, 2 or 5 times a power of ten, not below `least`.
function round125(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9));
}
