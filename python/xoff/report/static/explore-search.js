// The search: a box with a list of what matches in any run, and what is chosen, each with a button that takes it away.

const MOST_FOUND = 40;

class Search {
  constructor(page) {
    Object.assign(this, { page, view: page.view, active: -1, found: [] });
    [this.box, this.list, this.chips] = ["search", "found", "chosen"].map((id) => document.getElementById(id));
    this.box.addEventListener("input", () => { this.view.set({ query: this.box.value }); this.open(); });
    this.box.addEventListener("focus", () => this.open());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const place = [...this.list.children].indexOf(event.target.closest("[role=option]"));
      if (this.found[place]) this.pick(place);
    });
    document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".search")) this.close(); });
    this.box.addEventListener("blur", () => this.close());
    this.show();
  }

  // Everything that can be chosen, once.
  entries() {
    return this.page.kept("search", () => Object.entries(KINDS).flatMap(([kind, { name, entries }]) => {
      const seen = new Map();
      for (const run of this.page.runs) for (const each of entries(run)) if (!seen.has(each.key)) seen.set(each.key, each);
      return [...seen.values()].map(({ key, text }) => ({ kind, key, text: `${name} ${text}`, low: `${name} ${text}`.toLowerCase() }));
    }));
  }

  open() {
    const words = this.view.query.toLowerCase().split(/\s+/).filter(Boolean);
    // What begins with the words comes first, so that "message 7" is not behind "message 17: ...".
    const matching = this.entries().filter(({ low }) => words.every((word) => low.includes(word)));
    const exact = ({ key, low }) => (words.includes(key.toLowerCase()) ? 0 : words.length && low.startsWith(words.join(" ")) ? 1 : 2);
    this.total = matching.length;
    this.found = matching.sort((a, b) => exact(a) - exact(b)).slice(0, MOST_FOUND);
    this.active = this.found.length && words.length ? 0 : -1;
    this.list.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
    this.mark();
  }

  close() {
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
  }

  mark() {
    const options = this.found.map(({ kind, key, text }, place) => {
      const option = element("li", text, { role: "option", id: `found-${place}`, "aria-selected": String(this.view.has(kind, key)) });
      option.classList.toggle("active", place === this.active);
      return option;
    });
    const more = this.total > this.found.length ? `${(this.total - this.found.length).toLocaleString("en")} more match: type more of the name` : this.total ? "" : "Nothing that was recorded has such a name.";
    if (more) options.push(element("li", more, { class: "more", role: "presentation" }));
    this.list.replaceChildren(...options);
    if (this.active >= 0) {
      this.box.setAttribute("aria-activedescendant", `found-${this.active}`);
      options[this.active].scrollIntoView({ block: "nearest" });
    } else this.box.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.key === "Escape") {
      // A first Escape closes the list; with the list closed the browser empties the box.
      if (!this.list.hidden) event.preventDefault();
      return this.close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp" && event.key !== "Enter") return;
    event.preventDefault();
    if (this.list.hidden) return this.open();
    if (event.key === "Enter") return this.active >= 0 ? this.pick(this.active) : undefined;
    const count = this.found.length, by = event.key === "ArrowDown" ? 1 : -1;
    if (count) this.active = (this.active + by + count) % count;
    this.mark();
  }

  pick(place) {
    const { kind, key } = this.found[place];
    this.view.toggle(kind, key);
    this.active = place;
    this.mark();
  }

  // What is chosen, and the words of the box.
  show() {
    if (this.box.value !== this.view.query) this.box.value = this.view.query;
    const all = this.view.chosen.map(({ kind, key }) => {
      const button = element("button", `${KINDS[kind].name} ${key} \u2715`, { type: "button", "aria-label": `take away ${KINDS[kind].name} ${key}` });
      button.addEventListener("click", () => this.view.toggle(kind, key));
      return button;
    });
    if (all.length > 1) {
      const button = element("button", "take all away", { type: "button", class: "plain" });
      button.addEventListener("click", () => this.view.set({ chosen: [] }));
      all.push(button);
    }
    this.chips.replaceChildren(...all);
  }
}
