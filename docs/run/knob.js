// One setting that is turned by a slider: which there are, between which values, and what the slider says.

const NUMERIC = /^(size|time|rate|number|whole number)$/;
/** Where a setting begins and ends that has no value of its own, by its type. */
const SPANS = { size: ["10KB", "1MB"], time: ["1us", "100us"], rate: ["1Gbps", "100Gbps"], number: ["0.01", "1"], "whole number": ["1", "16"] };
/** What is tried first, if the scenario has it; a table stands for its first setting with a value. */
const FIRST = ["flow_control.xoff", "detector.k_min", "flow_control", "scheme", "traffic.0.size", "traffic.0", "topology"];
/** What is no setting of the network or its traffic. */
const NONE = /^(title|record|quirks|sweep|tune)\b/;

/** Every setting with a number, or which may have one, as `[path, value]`. */
function settings(value, path = "") {
  if (value !== null && typeof value === "object") {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return entries.flatMap(([key, inner]) => settings(inner, path ? `${path}.${key}` : String(key)));
  }
  return NONE.test(path) ? [] : [[path, value]];
}

class Knob {
  constructor(onTurn) {
    this.keys = new Map();
    this.onTurn = onTurn;
    $("knob").addEventListener("change", () => this.choose($("knob").value.trim()));
    for (const id of ["from", "to"]) $(id).addEventListener("change", () => this.bound());
    $("slide").addEventListener("input", () => {
      if (!this.span) return;
      $("value").textContent = this.value();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => onTurn(this.key, this.value()), 250);
    });
    $("release").addEventListener("click", () => {
      this.place();
      onTurn(null);
    });
  }

  /** Takes the keys of a scenario: their type and meaning. */
  know(keys) {
    for (const key of keys) {
      const type = key.type.split(", ").find((word) => NUMERIC.test(word));
      const known = this.keys.get(key.path) ?? [];
      if (type) this.keys.set(key.path, [...known, { ...key, type }]);
    }
  }

  about(path, scenario) {
    const plain = path.replace(/\.\d+/g, "[]");
    const table = path.split(".").slice(0, -1).reduce((inner, step) => inner?.[step], scenario);
    const all = this.keys.get(plain) ?? [];
    return all.find(({ of }) => of === null || of === (table?.name ?? table?.pattern)) ?? all[0];
  }

  /** Offers the settings of a scenario that has every default. */
  offer(scenario) {
    this.scenario = scenario;
    this.known = new Map(
      settings(scenario).filter(([path, value]) => this.about(path, scenario) && (value === null || quantity(value))),
    );
    const option = ([path, value]) => element("option", { value: path, label: value === null ? "" : String(value) });
    $("knobs").replaceChildren(...[...this.known].map(option));
    const has = (path) => this.known.has(path) && this.known.get(path) !== null;
    this.choose(this.known.has(this.key) ? this.key : this.first(has));
  }

  first(has) {
    const paths = [...this.known.keys()].filter(has);
    const found = FIRST.map((part) => paths.find((path) => path === part || path.startsWith(`${part}.`)));
    return found.find((path) => path) ?? paths[0] ?? "";
  }

  choose(path) {
    const about = this.known?.has(path) ? this.about(path, this.scenario) : null;
    Object.assign(this, { key: path, type: about?.type });
    $("knob").value = path;
    $("slide").disabled = !about;
    const unknown = path === "" ? "" : `The scenario has no numeric setting “${path}”: choose one of the list.`;
    $("knob-doc").replaceChildren(...prose(about?.doc ?? unknown));
    if (!about) return;
    const now = quantity(this.known.get(path) ?? "");
    const around = now?.base > 0 ? [now.base / 4, now.base * 4].map((b) => written(b, now.unit, this.isWhole())) : SPANS[this.type];
    [$("from").value, $("to").value] = around;
    this.bound();
  }

  isWhole() {
    return this.type === "whole number";
  }

  /** Takes the two bounds as they are written. */
  bound() {
    const [from, to] = [quantity($("from").value), quantity($("to").value)];
    this.span = from && to && to.base > from.base ? [from, to] : null;
    $("slide").disabled = !this.span;
    for (const [id, read] of [["from", from], ["to", to]]) $(id).setAttribute("aria-invalid", String(!read));
    if (!this.span) {
      $("value").textContent = "";
      $("knob-doc").textContent = "Write two bounds, the lower one first, such as 20KB and 500KB.";
      return;
    }
    if (this.known?.has(this.key)) $("knob-doc").replaceChildren(...prose(this.about(this.key, this.scenario).doc));
    this.place();
  }

  /** Puts the slider where the scenario's own value is. */
  place() {
    if (!this.span) return;
    const now = quantity(this.known.get(this.key) ?? "");
    const [low, high] = this.span.map(({ base }) => base);
    const share = !now ? 0.5 : low > 0 && now.base > 0 ? Math.log(now.base / low) / Math.log(high / low) : (now.base - low) / (high - low);
    $("slide").value = String(100 * Math.min(Math.max(share, 0), 1));
    $("value").textContent = this.known.get(this.key) ?? "its default";
  }

  /** What the slider says, with a unit. */
  value() {
    const [from, to] = this.span;
    const share = Number($("slide").value) / 100;
    const base = from.base > 0 ? from.base * (to.base / from.base) ** share : from.base + (to.base - from.base) * share;
    return written(base, from.unit || to.unit, this.isWhole());
  }
}
