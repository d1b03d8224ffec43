// What the reader looks at: a time range, what is chosen, and choices of plots; and its form in the page's fragment.

class View {
  constructor(runs) {
    this.runs = runs;
    this.listeners = [];
    this.reset();
    this.read();
  }

  reset() {
    // `null`: from the start, and to the end.
    Object.assign(this, { from: null, to: null, chosen: [], query: "", by: "label", tail: false, metric: "sent_bps", order: "slowdown" });
  }

  get end() {
    return Math.max(...this.runs.map((run) => run.end_ps));
  }

  // The time range in ps.
  get range() {
    return [this.from ?? 0, this.to ?? this.end];
  }

  // Everything that is chosen of a kind.
  keys(kind) {
    return this.chosen.filter((each) => each.kind === kind).map(({ key }) => key);
  }

  has(kind, key) {
    return this.chosen.some((each) => each.kind === kind && each.key === key);
  }

  toggle(kind, key) {
    const without = this.chosen.filter((each) => each.kind !== kind || each.key !== key);
    this.chosen = without.length < this.chosen.length ? without : [...this.chosen, { kind, key }];
    this.changed();
  }

  // Shows the times from `from` to `to`, at least a picosecond, within the run.
  brush(from, to) {
    if (to < from) [from, to] = [to, from];
    from = Math.max(0, Math.round(from));
    to = Math.min(this.end, Math.round(to));
    if (to <= from) to = from + 1;
    this.from = from <= 0 ? null : from;
    this.to = to >= this.end ? null : to;
    this.changed();
  }

  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  changed() {
    this.listeners.forEach((listener) => listener());
  }

  // The view as a fragment: what is as at first is left out.
  get fragment() {
    const fields = new URLSearchParams();
    if (this.from !== null) fields.set("from", this.from);
    if (this.to !== null) fields.set("to", this.to);
    for (const { kind, key } of this.chosen) fields.append(kind, key);
    if (this.query) fields.set("search", this.query);
    const plain = { by: "label", metric: "sent_bps", order: "slowdown" };
    for (const [name, value] of Object.entries(plain)) if (this[name] !== value) fields.set(name, this[name]);
    if (this.tail) fields.set("tail", "1");
    return fields.toString();
  }

  // Takes over the fragment; what it names and no run has is left out, and the reader is told.
  read() {
    const fields = new URLSearchParams(location.hash.slice(1));
    this.reset();
    this.unknown = [];
    const time = (name) => {
      const text = fields.get(name), value = Number(text);
      if (text === null) return null;
      if (/^\d+$/.test(text) && value <= this.end) return value;
      this.unknown.push(`${name}=${text}`);
      return null;
    };
    [this.from, this.to] = [time("from"), time("to")];
    if (this.from !== null && this.to !== null && this.to <= this.from) {
      this.unknown.push(`from=${this.from} to=${this.to}`);
      this.from = this.to = null;
    }
    const choices = { by: Object.keys(GROUPS), metric: Object.keys(METRICS), order: Object.keys(ORDERS) };
    for (const [name, text] of fields) {
      if (Object.hasOwn(KINDS, name)) {
        if (KINDS[name].known(this.runs, text)) this.chosen.push({ kind: name, key: text });
        else this.unknown.push(`${KINDS[name].name} ${text}`);
      } else if (Object.hasOwn(choices, name)) {
        if (choices[name].includes(text)) this[name] = text;
        else this.unknown.push(`${name}=${text}`);
      } else if (name === "search") this.query = text;
      else if (name === "tail") this.tail = text === "1";
      else if (!["from", "to"].includes(name)) this.unknown.push(name);
    }
    // A link may name one thing many times, and many things.
    const different = [...new Set(this.unknown)];
    this.unknown = different.slice(0, 5);
    if (different.length > 5) this.unknown.push(`and ${different.length - 5} more`);
  }
}

// Kinds of what can be chosen: `entries` lists all of a run, `known` says whether any run has one.
const KINDS = {
  port: {
    name: "port",
    about: "queue, utilization, PAUSE and congestion roots",
    entries: (run) => run.ports.map((key) => ({ key, text: key })),
    known: (runs, key) => runs.some((run) => run.portOf.has(key)),
  },
  flow: {
    name: "message",
    about: "rate, and its line in the timeline",
    entries: (run) => [...run.column("flows.id")].map((id, row) => ({
      key: String(id), text: `${id}: ${run.message(row)}, ${sizeText(run.column("flows.size_bytes")[row])}`,
    })),
    known: (runs, key) => runs.some((run) => run.flowOf.has(Number(key))),
  },
  label: {
    name: "label",
    about: "only messages of this traffic",
    entries: (run) => run.labels.map((key) => ({ key, text: key })),
    known: (runs, key) => runs.some((run) => run.labels.includes(key)),
  },
  priority: {
    name: "priority",
    about: "only messages, queues and pauses of this priority",
    entries: (run) => [...new Set(run.column("flows.priority"))].sort((a, b) => a - b).map((each) => ({ key: String(each), text: String(each) })),
    known: (runs, key) => runs.some((run) => run.column("flows.priority").includes(Number(key))),
  },
  host: {
    name: "host",
    about: "only messages that it sends or receives",
    entries: (run) => run.nodes.map((key) => ({ key, text: key })),
    known: (runs, key) => runs.some((run) => run.nodes.includes(key)),
  },
};

const METRICS = {
  sent_bps: { name: "sent", axis: "rate (Gbit/s)", scale: 1e9 },
  goodput_bps: { name: "goodput", axis: "goodput (Gbit/s)", scale: 1e9 },
  rate_bps: { name: "the scheme's rate", axis: "rate (Gbit/s)", scale: 1e9 },
  window_bytes: { name: "the scheme's window", axis: "window (KB)", scale: 1e3 },
};

const ORDERS = {
  slowdown: "largest slowdown first",
  fct: "longest first",
  start: "by start",
  id: "by number",
};

const SIZES = [[1e4, "up to 10 KB"], [1e5, "10 to 100 KB"], [1e6, "100 KB to 1 MB"], [1e7, "1 to 10 MB"], [Infinity, "above 10 MB"]];

// How messages are put into groups: the names of all groups of a run, and the group of a row.
const GROUPS = {
  label: { name: "label", names: (run) => run.labels, of: (run) => run.column("flows.label") },
  size: {
    name: "size",
    names: () => SIZES.map(([, name]) => name),
    of: (run) => (run.sizeGroups ??= Uint8Array.from(run.column("flows.size_bytes"), (size) =>
      (Number.isNaN(size) ? SIZES.length - 1 : SIZES.findIndex(([most]) => size <= most)))),
  },
  priority: {
    name: "priority",
    // Not by spread arguments, of which an engine takes some 100,000.
    names: (run) => Array.from({ length: run.column("flows.priority").reduce((most, each) => Math.max(most, each), -1) + 1 }, (_, each) => `priority ${each}`),
    of: (run) => run.column("flows.priority"),
  },
  all: { name: "nothing", names: () => ["all"], of: (run) => (run.noGroups ??= new Uint8Array(run.flows)) },
};

// The rows of the messages that a view shows: alive in its range, and of what is chosen.
const shownFlows = (run, view) => {
  const [from, to] = view.range;
  const label = new Set(view.keys("label").map((key) => run.labels.indexOf(key)));
  const priority = new Set(view.keys("priority").map(Number));
  const host = new Set(view.keys("host").map((key) => run.nodes.indexOf(key)));
  const [labels, priorities] = [run.column("flows.label"), run.column("flows.priority")];
  const [src, dst] = [run.column("flows.src"), run.column("flows.dst")];
  const rows = new Uint32Array(run.flows);
  let count = 0;
  for (let row = 0; row < run.flows; row++) {
    if (run.start[row] > to || run.end[row] < from) continue;
    if (label.size && !label.has(labels[row])) continue;
    if (priority.size && !priority.has(priorities[row])) continue;
    if (host.size && !host.has(src[row]) && !host.has(dst[row])) continue;
    rows[count++] = row;
  }
  return rows.subarray(0, count);
};
