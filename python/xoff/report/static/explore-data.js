"use strict";
// The explorer's data: runs as typed arrays, series with minima and maxima by stretch, and numbers as text.

const TYPES = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array,
};

// The first place in `sorted`, from `low` to before `high`, whose value is not below `value`.
const lowerBound = (sorted, value, low = 0, high = sorted.length) => {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

// Minima and maxima of stretches of 8, 64, ... values, so that those of any range take a few steps.
class Extremes {
  constructor(values) {
    this.levels = [{ least: values, most: values }];
    while (this.levels.at(-1).least.length > 16) {
      const { least, most } = this.levels.at(-1);
      const count = Math.ceil(least.length / 8);
      const next = { least: new Float64Array(count), most: new Float64Array(count) };
      for (let place = 0; place < count; place++) {
        let low = Infinity, high = -Infinity;
        for (let at = place * 8, end = Math.min(at + 8, least.length); at < end; at++) {
          if (least[at] < low) low = least[at];
          if (most[at] > high) high = most[at];
        }
        next.least[place] = low;
        next.most[place] = high;
      }
      this.levels.push(next);
    }
  }

  // The minimum and the maximum from `begin` to before `end`; infinite if there is no number.
  range(begin, end) {
    let low = Infinity, high = -Infinity;
    end = Math.min(end, this.levels[0].least.length);
    const take = ({ least, most }, at) => {
      if (least[at] < low) low = least[at];
      if (most[at] > high) high = most[at];
    };
    for (let level = 0; begin < end; level++) {
      const here = this.levels[level];
      if (level === this.levels.length - 1 || end - begin < 16) {
        for (let at = begin; at < end; at++) take(here, at);
        break;
      }
      for (; begin % 8; begin++) take(here, begin);
      for (; end % 8; end--) take(here, end - 1);
      begin /= 8;
      end /= 8;
    }
    return [low, high];
  }
}

// Values over time, in the order of times. `steps`: a value holds until the next one.
class Series {
  constructor(time, value, steps = false) {
    Object.assign(this, { time, value, steps });
  }

  get extremes() {
    return (this.made ??= new Extremes(this.value));
  }

  // The places of the samples from `from` to `to`, with one more on each side, so that lines leave the plot.
  span(from, to) {
    const begin = Math.max(lowerBound(this.time, from) - 1, 0);
    return [begin, Math.min(lowerBound(this.time, to) + 1, this.time.length)];
  }

  // The minimum and the maximum of the samples from `from` to `to`; with `steps` also of what holds at `from`.
  range(from, to) {
    const begin = lowerBound(this.time, from), held = this.steps && begin > 0 ? 1 : 0;
    return this.extremes.range(begin - held, Math.min(lowerBound(this.time, to) + 1, this.time.length));
  }

  // The value of the last sample up to `time`; `undefined` before the first.
  at(time) {
    return this.value[lowerBound(this.time, time + 1e-9) - 1];
  }

  // How many begin less how many end, over time.
  static count(begins, ends) {
    const start = Float64Array.from(begins).sort(), end = Float64Array.from(ends).sort();
    const time = [0], value = [0];
    for (let i = 0, j = 0; i < start.length || j < end.length; ) {
      const now = Math.min(i < start.length ? start[i] : Infinity, j < end.length ? end[j] : Infinity);
      while (i < start.length && start[i] === now) i++;
      while (j < end.length && end[j] === now) j++;
      if (now === time.at(-1)) value[value.length - 1] = i - j;
      else { time.push(now); value.push(i - j); }
    }
    return new Series(Float64Array.from(time), Float64Array.from(value), true);
  }
}

// A run of the page.
class Run {
  constructor(buffer, number) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    Object.assign(this, head, { buffer, number, offset: 4 + length, found: new Map() });
    this.flows = this.count("flows.id");
    this.series = { queues: this.index("queues"), utilization: this.index("utilization"), rates: this.index("rates"), variables: this.index("variables") };
    this.flowOf = new Map(this.column("flows.id").length ? [...this.column("flows.id")].map((id, row) => [id, row]) : []);
    this.portOf = new Map(this.ports.map((name, number) => [name, number]));
    this.start = this.column("flows.start_ps");
    const fct = this.column("flows.fct_ps");
    this.end = Float64Array.from(this.start, (start, row) => (Number.isNaN(fct[row]) ? this.end_ps : start + fct[row]));
  }

  count(name) {
    return this.arrays[name]?.count ?? 0;
  }

  // A column of a table, in its own order; empty if the run has no such column.
  column(name) {
    if (this.found.has(name)) return this.found.get(name);
    const about = this.arrays[name];
    let made = new Float64Array(0);
    if (about) {
      made = new TYPES[about.type](this.buffer, this.offset + about.at, about.count);
      if (about.unit) {
        const times = new Float64Array(about.count);
        for (let at = 0, ticks = 0; at < about.count; at++) {
          ticks = (ticks + made[at]) >>> 0;
          times[at] = ticks * about.unit;
        }
        made = times;
      }
    }
    this.found.set(name, made);
    return made;
  }

  // The series of a sampled table: by subject, those of its priorities.
  index(table) {
    const first = this.column(`${table}.first`), subject = this.column(`${table}.subject`);
    const priority = this.column(`${table}.priority`), found = new Map();
    subject.forEach((key, place) => {
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ priority: priority[place], begin: first[place], end: first[place + 1], made: {} });
    });
    return found;
  }

  // The series of a column for a part of `index`.
  seriesOf(table, part, column) {
    return (part.made[column] ??= new Series(
      this.column(`${table}.time_ps`).subarray(part.begin, part.end),
      this.column(`${table}.${column}`).subarray(part.begin, part.end),
    ));
  }

  // Rows of the table of breakdown by flow: where each one's begin and end.
  get parts_of() {
    if (this.partsMade) return this.partsMade;
    const flow = this.column("breakdown.flow"), found = new Map();
    for (let at = 0; at < flow.length; ) {
      let end = at + 1;
      while (end < flow.length && flow[end] === flow[at]) end++;
      found.set(flow[at], [at, end]);
      at = end;
    }
    return (this.partsMade = found);
  }

  // Spans of a table for each port: places in the order of their starts.
  spansOf(table, port) {
    this.spans ??= {};
    if (!this.spans[table]) {
      this.spans[table] = new Map();
      this.column(`${table}.port`).forEach((key, place) => {
        if (!this.spans[table].has(key)) this.spans[table].set(key, []);
        this.spans[table].get(key).push(place);
      });
    }
    return this.spans[table].get(port) ?? [];
  }

  // The time that a table's spans of a port and the time from `from` to `to` share.
  spent(table, port, from, to) {
    const start = this.column(`${table}.start_ps`), length = this.column(`${table}.length_ps`);
    let sum = 0;
    for (const place of this.spansOf(table, port)) {
      sum += Math.max(0, Math.min(start[place] + length[place], to) - Math.max(start[place], from));
    }
    return sum;
  }

  // The name of a message, for people.
  message(row) {
    return `${this.nodes[this.column("flows.src")[row]]} \u2192 ${this.nodes[this.column("flows.dst")[row]]}`;
  }
}

// Times and sizes as text. A time axis has one unit.
const timeUnit = (ps) => [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"]].find(([scale]) => ps >= 20 * scale) ?? [1, "ps"];
const short = (value, digits = 4) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2013";
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e7 || size < 1e-4) ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "\u2212");
};
const timeText = (ps, digits = 4) => {
  if (!Number.isFinite(ps)) return "\u2013";
  const [scale, unit] = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"]].find(([each]) => Math.abs(ps) >= each) ?? [1, "ps"];
  return `${short(ps / scale, digits)} ${unit}`;
};
const sizeText = (bytes) => {
  if (!Number.isFinite(bytes)) return "endless";
  const [scale, unit] = [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]].find(([each]) => Math.abs(bytes) >= each) ?? [1, "B"];
  return `${short(bytes / scale)} ${unit}`;
};
const counted = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
