// The editor: a text area with line numbers, colours behind it, marks on what is wrong, and completion.

class Editor {
  constructor(onChange, onRun) {
    this.area = $("text");
    this.box = $("choices");
    this.onChange = onChange;
    this.problems = [];
    this.keys = [];
    this.area.addEventListener("input", () => {
      this.problems = [];
      this.draw();
      this.complete(false);
      onChange();
    });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("blur", () => this.close());
    this.area.addEventListener("click", () => this.close());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.close();
        onRun();
      } else if (event.key === " " && event.ctrlKey) {
        event.preventDefault();
        this.complete(true);
      } else if (!this.box.hidden) this.steer(event);
    });
    // A click on a choice leaves the focus in the text.
    this.box.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const at = [...this.box.querySelectorAll("li")].indexOf(event.target.closest("li"));
      if (at >= 0) this.take(at);
    });
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.area.scrollTop = 0;
    this.problems = [];
    this.draw();
    this.close();
  }

  /** Shows what a check has found. */
  mark(problems) {
    this.problems = problems;
    this.draw();
  }

  /** Puts the caret at a line and column, from 1. */
  go(line, column) {
    const lines = this.text.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column - 1;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 6) * this.height());
  }

  draw() {
    const bad = new Map(this.problems.filter((p) => p.line).map((p) => [p.line, p]));
    const lines = this.text.split("\n");
    $("colours").innerHTML = `${lines.map((line, i) => coloured(line, bad.get(i + 1))).join("\n")}\n`;
    $("gutter").innerHTML = lines.map((_, i) => (bad.has(i + 1) ? `<span class="bad">${i + 1}</span>` : i + 1)).join("\n");
    this.follow();
  }

  follow() {
    const { scrollTop, scrollLeft } = this.area;
    $("colours").style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    $("colours").style.overflow = "visible";
    $("gutter").scrollTop = scrollTop;
  }

  height() {
    return parseFloat(getComputedStyle(this.area).lineHeight);
  }

  /** Offers what may stand at the caret; unless `asked`, only after a letter. */
  complete(asked) {
    const { selectionStart: at, selectionEnd: end } = this.area;
    const lines = this.text.split("\n");
    const above = this.text.slice(0, at).split("\n");
    const before = above.at(-1);
    const after = lines[above.length - 1].slice(before.length);
    const isWorth = asked || (/[A-Za-z_.\["]$/.test(before) && !/^[A-Za-z0-9_]/.test(after));
    const found = isWorth && at === end ? completions(this.keys, lines, above.length - 1, before) : null;
    if (!found?.choices.length || (!asked && !found.word && !before.endsWith("["))) {
      this.close();
      return;
    }
    this.offered = { ...found, at, chosen: 0 };
    const list = element("ul");
    for (const { text } of found.choices) list.append(element("li", { role: "option", textContent: text }));
    this.box.replaceChildren(list, element("p"));
    this.box.hidden = false;
    this.choose(0);
    const left = $("gutter").offsetWidth + 8 + (before.length - found.word.length) * this.width() - this.area.scrollLeft;
    const top = 8 + above.length * this.height() - this.area.scrollTop;
    const editor = $("editor");
    const isBelow = top + this.box.offsetHeight < editor.clientHeight || top < editor.clientHeight / 2;
    this.box.style.left = `${Math.max(0, Math.min(left, editor.clientWidth - this.box.offsetWidth))}px`;
    this.box.style.top = `${isBelow ? top : top - this.height() - this.box.offsetHeight}px`;
  }

  width() {
    const measure = (this.measure ??= document.createElement("canvas").getContext("2d"));
    const { fontSize, fontFamily } = getComputedStyle(this.area);
    measure.font = `${fontSize} ${fontFamily}`;
    return measure.measureText("0".repeat(100)).width / 100;
  }

  choose(index) {
    const items = [...this.box.querySelectorAll("li")];
    this.offered.chosen = (index + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === this.offered.chosen)));
    items[this.offered.chosen].scrollIntoView({ block: "nearest" });
    const { doc } = this.offered.choices[this.offered.chosen];
    this.box.querySelector("p").replaceChildren(...prose(doc));
    this.box.querySelector("p").hidden = !doc;
  }

  steer(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) this.choose(this.offered.chosen + moves[event.key]);
    else if (event.key === "Enter" || event.key === "Tab") this.take(this.offered.chosen);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  take(index) {
    const { word, at, choices } = this.offered;
    this.close();
    this.area.setSelectionRange(at - word.length, at);
    // Through the browser's own editing, so that it can be undone. A quote that stands behind already is not doubled.
    const { insert } = choices[index];
    const rest = this.text.slice(at);
    const text = insert.endsWith('"') && rest.startsWith('"') ? insert.slice(0, -1) : insert;
    this.area.focus();
    if (!document.execCommand("insertText", false, text)) this.area.setRangeText(text, at - word.length, at, "end");
  }

  close() {
    this.box.hidden = true;
  }
}
