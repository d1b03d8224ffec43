// The page to explore a run, or two: it unpacks the runs, and draws whatever is in sight when the view has changed.

class Page {
  constructor(runs) {
    this.runs = runs;
    this.view = new View(runs);
    this.cache = new Map();
    this.forRuns = new Map();
    this.paused = document.getElementById("explore").dataset.paused;
    this.dress();
    this.figures = [new Overview(this), ...timeFigures(this), new Messages(this), ...cdfFigures(this)];
    this.named = new Set();
    this.figures.push(...variableFigures(this, this.named));
    this.tables = [messageTable(this), portTable(this)];
    this.search = new Search(this);
    this.controls = new Controls(this);
    this.view.listeners.push(() => this.changed());
    new ResizeObserver(() => this.schedule()).observe(document.getElementById("explore"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.dress(); this.schedule(); });
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.view.fragment) return;
      this.view.read();
      this.controls.tell();
      this.view.changed();
    });
    // Paper shows all of the page, and not what is in sight.
    addEventListener("beforeprint", () => { this.settle(); for (const figure of this.figures) figure.draw(); });
    this.changed();
  }

  // Other runs in place of these, as they grow; what is chosen stays.
  replace(runs) {
    const whole = this.view.to === null;
    this.runs.splice(0, this.runs.length, ...runs);
    this.forRuns.clear();
    this.figures.push(...variableFigures(this, this.named));
    if (!whole) this.view.to = Math.min(this.view.to, this.view.end);
    this.changed();
  }

  // Colours of the page as it is now, light or dark.
  dress() {
    const style = getComputedStyle(document.documentElement), named = (name) => style.getPropertyValue(`--${name}`).trim();
    this.looks = Object.fromEntries(["text", "muted", "line", "card", "mark", "accent"].map((name) => [name, named(name)]));
  }

  // What `make` gives, until the view changes; and as long as the runs are these.
  remembered(name, make) {
    if (!this.cache.has(name)) this.cache.set(name, make());
    return this.cache.get(name);
  }

  kept(name, make) {
    if (!this.forRuns.has(name)) this.forRuns.set(name, make());
    return this.forRuns.get(name);
  }

  // Rows of the messages of a run that are shown.
  flows(run) {
    return this.remembered(`flows-${run.number}`, () => shownFlows(run, this.view));
  }

  pairs() {
    return this.kept("pairs", () => pairs(this.runs[0], this.runs[1]));
  }

  // The ports shown: those chosen, or those with the longest queues, or that were paused longest.
  ports() {
    const chosen = this.view.keys("port");
    if (chosen.length) return chosen;
    return this.kept("ports", () => {
      const most = new Map();
      for (const run of this.runs) {
        const number = run.column("ports.port"), queue = run.column("ports.max_queue_bytes"), paused = run.column("ports.paused_ps");
        const sampled = run.series.queues.size > 0;
        number.forEach((port, row) => {
          const key = sampled ? (run.series.queues.has(port) ? queue[row] : 0) : paused[row];
          if (key > 0) most.set(run.ports[port], Math.max(most.get(run.ports[port]) ?? 0, key));
        });
      }
      // A run that goes on has no totals of its ports yet.
      for (const run of this.runs.filter((each) => !each.count("ports.port"))) {
        for (const [port, parts] of run.series.queues) {
          const key = Math.max(...parts.map((part) => run.seriesOf("queues", part, "max_bytes").extremes.range(0, Infinity)[1]));
          most.set(run.ports[port], Math.max(most.get(run.ports[port]) ?? 0, key));
        }
      }
      return [...most].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([name]) => name);
    });
  }

  // The ports whose pauses are shown: those shown elsewhere and, without a choice, the four that PAUSE stopped longest.
  stopped() {
    if (this.view.keys("port").length) return this.ports();
    return this.kept("stopped", () => {
      const sums = new Map();
      for (const run of this.runs) {
        const length = run.column("pauses.length_ps");
        run.column("pauses.port").forEach((port, place) => sums.set(run.ports[port], (sums.get(run.ports[port]) ?? 0) + length[place]));
      }
      const longest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([name]) => name);
      return [...new Set([...this.ports(), ...longest])];
    });
  }

  // Numbers of the messages whose samples in a table are shown: those chosen, or the slowest of those recorded.
  messages(table = "rates") {
    const chosen = this.view.keys("flow").map(Number);
    if (chosen.length) return chosen;
    return this.remembered(`slowest-${table}`, () => {
      const found = this.runs.flatMap((run) => [...this.flows(run)].filter((row) => run.series[table].has(run.column("flows.id")[row]))
        .map((row) => [run.column("flows.id")[row], run.column("flows.slowdown")[row] || 0]));
      return [...new Set(found.sort((a, b) => b[1] - a[1]).map(([id]) => id))].slice(0, 4);
    });
  }

  changed() {
    this.cache.clear();
    document.documentElement.dataset.moving = "true";
    this.schedule();
    clearTimeout(this.later);
    // Rows of tables and the address take longer than a frame has, and nobody reads them while they move.
    this.later = setTimeout(() => this.settle(), 120);
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      performance.clearMeasures("explore-frame");
      const began = performance.now();
      for (const figure of this.figures) if (figure.inSight) figure.draw();
      this.controls.show();
      performance.measure("explore-frame", { start: began });
    });
  }

  settle() {
    this.search.show();
    for (const table of this.tables) table.draw();
    const { fragment } = this.view;
    if (location.hash.slice(1) !== fragment) history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    delete document.documentElement.dataset.moving;
    document.documentElement.dataset.settled = String(Number(document.documentElement.dataset.settled ?? 0) + 1);
  }

  // All figures over time show the same moment.
  point(time) {
    if (time === null) this.tip("");
    for (const figure of this.figures) figure.point?.(time);
    document.getElementById("moment").textContent = time === null ? "" : `at ${timeText(time, 7)}`;
  }

  // Text beside the pointer; empty for none. `said`: screen readers read it out.
  tip(text, x = 0, y = 0, said = false) {
    const tip = document.getElementById("tip");
    tip.hidden = text === "";
    if (!text) return;
    tip.textContent = text;
    tip.setAttribute("aria-live", said ? "polite" : "off");
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18}px`;
  }
}

// The range in numbers, the choices of figures, and the link to the view.
class Controls {
  constructor(page) {
    Object.assign(this, { page, view: page.view });
    const byId = (id) => document.getElementById(id);
    this.fields = { from: byId("from"), to: byId("to") };
    for (const [name, field] of Object.entries(this.fields)) {
      field.addEventListener("change", () => this.read(name, field));
    }
    byId("whole").addEventListener("click", () => this.view.brush(0, this.view.end));
    byId("link").addEventListener("click", () => this.copy());
    this.selects = [...document.querySelectorAll("select[data-view]")];
    for (const select of this.selects) select.addEventListener("change", () => this.view.set({ [select.dataset.view]: select.value }));
    this.tail = byId("tail");
    this.tail.addEventListener("change", () => this.view.set({ tail: this.tail.checked }));
    this.tell();
  }

  // Says what a link names and no run has.
  tell() {
    const { unknown } = this.view;
    this.say(unknown.length ? `The link names what this page does not have: ${unknown.join(", ")}.` : "");
  }

  say(text) {
    document.getElementById("said").textContent = text;
  }

  read(name, field) {
    const found = /^([\d.]+(?:e[+-]?\d+)?)\s*(ps|ns|us|ms|s)$/i.exec(field.value.trim());
    const time = found && Number(found[1]) * { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 }[found[2].toLowerCase()];
    const good = found !== null && Number.isFinite(time) && time <= this.view.end;
    field.setAttribute("aria-invalid", String(!good));
    if (!good) return this.say(`${name}: expected a time up to ${timeText(this.view.end, 7)}, such as 12.5 us`);
    this.say("");
    const [from, to] = this.view.range;
    this.view.brush(name === "from" ? time : from, name === "to" ? time : to);
  }

  async copy() {
    this.page.settle();
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied. It restores this view wherever the page lies at the same place.");
    } catch {
      this.say("The browser did not let the page copy: the address bar has the link.");
    }
  }

  show() {
    for (const [place, name] of ["from", "to"].entries()) {
      const field = this.fields[name];
      if (document.activeElement !== field) field.value = timeText(this.view.range[place], 9);
    }
    document.getElementById("whole").disabled = this.view.from === null && this.view.to === null;
    for (const select of this.selects) select.value = this.view[select.dataset.view];
    this.tail.checked = this.view.tail;
  }
}

const unpack = async (text) => {
  const bytes = atob(text);
  const packed = new Uint8Array(bytes.length);
  // `Uint8Array.from` takes ten times as long.
  for (let place = 0; place < bytes.length; place++) packed[place] = bytes.charCodeAt(place);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

(async () => {
  const texts = [...document.querySelectorAll("script[type='text/plain'][id^='run-']")];
  const runs = await Promise.all(texts.map(async ({ textContent }, number) => new Run(await unpack(textContent), number)));
  globalThis.explorer = new Page(runs);
  document.documentElement.dataset.drawn = "true";
})().catch((error) => {
  document.getElementById("problem").textContent = `The page could not be drawn: ${error}`;
  throw error;
});
