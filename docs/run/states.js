// The state of every port over time, as the tables of pauses, roots and queues say.

/** Spans of one port, by start, without overlaps. */
function merged(spans) {
  const found = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

/** The spans of a table, by port. */
function spansOf({ port, start_ps: start, length_ps: length }) {
  const found = new Map();
  port?.[0].forEach((number, row) => {
    if (!found.has(number)) found.set(number, []);
    found.get(number).push([start[row], start[row] + length[row]]);
  });
  return new Map([...found].map(([number, spans]) => [number, merged(spans)]));
}

/** The place of the last entry of a sorted list that is at most `value`; -1 if there is none. */
function lastUpTo(count, at, value) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const within = (spans, time) => {
  const at = spans ? lastUpTo(spans.length, (i) => spans[i][0], time) : -1;
  return at >= 0 && time < spans[at][1] ? spans[at] : null;
};

class States {
  constructor({ tables, manifest }) {
    this.end = manifest.sim_time_ps;
    this.names = tables.ports.port?.[1] ?? [];
    this.pauses = spansOf(tables.pauses);
    this.roots = spansOf(tables.roots);
    this.queues = new Map();
    const { port, time_ps: times, max_bytes: bytes } = tables.queues;
    port?.[0].forEach((number, row) => {
      if (!this.queues.has(number)) this.queues.set(number, { times: [], bytes: [] });
      const queue = this.queues.get(number);
      queue.times.push(times[row]);
      queue.bytes.push(bytes[row]);
    });
  }

  /** The longest queue of the sample that holds `time`; `undefined` if the port was not sampled then. */
  queue(port, time) {
    const queue = this.queues.get(port);
    if (!queue) return undefined;
    return queue.bytes[lastUpTo(queue.times.length, (i) => queue.times[i], time - 1) + 1];
  }

  /** "root", "paused", "queued" or "idle": the first that holds. */
  at(port, time) {
    if (within(this.roots.get(port), time)) return "root";
    if (within(this.pauses.get(port), time)) return "paused";
    return this.queue(port, time) > 0 ? "queued" : "idle";
  }

  /** A port at a time, in words. */
  words(port, time) {
    const parts = [];
    const root = within(this.roots.get(port), time);
    const pause = within(this.pauses.get(port), time);
    if (root) parts.push(`congested root from ${timeText(root[0])} to ${timeText(root[1])}`);
    if (pause) parts.push(`paused from ${timeText(pause[0])} to ${timeText(pause[1])}`);
    const bytes = this.queue(port, time);
    if (bytes !== undefined) parts.push(`queue up to ${sizeText(bytes)}`);
    return `${this.names[port]}: ${parts.join("; ") || "neither paused nor a root"}`;
  }

  /** How many ports have such a span, as steps: `{ times, counts }`. */
  counts(spans) {
    const changes = [...spans.values()].flat().flatMap(([start, end]) => [[start, 1], [end, -1]]);
    changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const found = { times: [0], counts: [0] };
    for (const [time, step] of changes) {
      const last = found.times.length - 1;
      if (found.times[last] === time) found.counts[last] += step;
      else {
        found.times.push(time);
        found.counts.push(found.counts[last] + step);
      }
    }
    found.times.push(this.end);
    found.counts.push(found.counts.at(-1));
    return found;
  }

  /** When most ports were paused; else when a queue was longest. */
  busiest() {
    const { times, counts } = this.counts(this.pauses);
    let best = 0;
    counts.forEach((count, i) => {
      if (count > counts[best]) best = i;
    });
    if (counts[best]) return times[best];
    let longest = [0, 0];
    for (const queue of this.queues.values()) {
      queue.bytes.forEach((bytes, i) => {
        if (bytes > longest[0]) longest = [bytes, queue.times[i]];
      });
    }
    return longest[1];
  }
}
