// Tables of messages and ports in the view's range, and the difference of two runs.

const MOST_ROWS = 100;

class Table {
  // `columns`: `{ name, unit, title, value(row), text(value), number }`; `rows` gives the rows, `pick` what a click on one chooses.
  constructor(page, name, { thing, columns, rows, pick, sort }) {
    Object.assign(this, { page, name, thing, columns, make: rows, pick, sort, down: true });
    this.node = document.getElementById(`table-${name}`);
    this.head = element("tr");
    this.body = element("tbody");
    const table = element("table"), head = element("thead");
    head.append(this.head);
    table.append(head, this.body);
    this.node.querySelector(".scroll").append(table);
    this.said = this.node.querySelector(".said");
    columns.forEach((column, place) => {
      const cell = element("th", "", { class: column.number ? "number" : "", scope: "col" }), button = element("button", column.name, { type: "button" });
      if (column.title) cell.title = column.title;
      cell.append(button);
      if (column.unit) cell.append(element("span", column.unit, { class: "unit" }));
      button.addEventListener("click", () => {
        [this.sort, this.down] = [place, this.sort === place ? !this.down : Boolean(column.number)];
        this.draw();
      });
      this.head.append(cell);
    });
    this.node.querySelector("[data-save=csv]").addEventListener("click", () => {
      const rows = this.rows().map((row) => columns.map((column) => column.value(row)));
      save(`${name}.csv`, csvText(columns.map((column) => column.column), rows), "text/csv");
    });
  }

  rows() {
    const { value, number, by } = this.columns[this.sort], sign = this.down ? -1 : 1;
    const key = by ?? value, rows = this.make().map((row) => [row, key(row)]);
    const empty = (each) => each === null || each === undefined || Number.isNaN(each);
    rows.sort(([, a], [, b]) => (empty(a) || empty(b) ? empty(a) - empty(b) : sign * (number ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }))));
    return rows.map(([row]) => row);
  }

  draw() {
    const rows = this.rows(), shown = rows.slice(0, MOST_ROWS);
    [...this.head.children].forEach((cell, place) => {
      if (place === this.sort) cell.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...shown.map((row) => {
      const line = element("tr"), picked = this.pick(row);
      if (this.page.view.has(...picked)) line.className = "chosen";
      this.columns.forEach((column, place) => {
        const value = column.value(row), text = column.text ? column.text(value, row) : String(value ?? "");
        const cell = element("td", place ? text : "", column.number ? { class: "number" } : {});
        if (place === 0) {
          const button = element("button", text, { type: "button", "aria-pressed": String(this.page.view.has(...picked)) });
          button.addEventListener("click", () => this.page.view.toggle(...picked));
          cell.append(button);
        }
        line.append(cell);
      });
      return line;
    }));
    const range = `between ${timeText(this.page.view.range[0], 6)} and ${timeText(this.page.view.range[1], 6)}`;
    this.said.textContent = rows.length === 0 ? `No ${this.thing} to show ${range}.`
      : `${counted(rows.length, this.thing)} ${range}${rows.length > MOST_ROWS ? `; the first ${MOST_ROWS} in this order are shown, the CSV has all` : ""}.`;
  }
}

const difference = (a, b) => (Number.isFinite(a) && Number.isFinite(b) ? b - a : NaN);
const signed = (text, value) => (value > 0 ? `+${text}` : text);

const messageTable = (page) => {
  const [first, second] = page.runs, us = (ps) => (Number.isFinite(ps) ? short(ps / 1e6) : "\u2013");
  const column = (name) => (row) => first.column(`flows.${name}`)[row];
  const fct = column("fct_ps"), time = { unit: "us", number: true, text: us };
  const other = (name) => (row) => { const at = page.pairs()[row]; return at < 0 ? NaN : second.column(`flows.${name}`)[at]; };
  const columns = [
    { name: "message", column: "flow", value: column("id"), number: true },
    { name: "label", column: "label", value: (row) => first.labels[first.column("flows.label")[row]] },
    { name: "from and to", column: "ends", value: (row) => first.message(row) },
    { name: "size", column: "size_bytes", value: column("size_bytes"), text: sizeText, number: true },
    { name: "start", column: "start_ps", value: (row) => first.start[row], ...time, text: (ps) => short(ps / 1e6, 7) },
    { name: second ? `FCT, ${first.label}` : "FCT", column: second ? "fct_ps_first" : "fct_ps", value: fct, ...time },
  ];
  const slow = { name: "slowdown", column: "slowdown", value: column("slowdown"), text: (value) => short(value, 3), number: true };
  if (!second) {
    columns.push(slow, { name: "paused", column: "paused_ps", title: "time for which PFC stopped its sender", value: column("paused_ps"), ...time });
  } else {
    const b = other("fct_ps"), apart = (row) => difference(fct(row), b(row));
    columns.push(
      { name: `FCT, ${second.label}`, column: "fct_ps_second", value: b, ...time },
      { name: "difference", column: "difference_ps", value: apart, by: (row) => Math.abs(apart(row)), ...time, text: (ps) => signed(us(ps), ps) },
      { name: "ratio", column: "ratio", value: (row) => b(row) / fct(row), text: (value) => short(value, 3), number: true },
    );
  }
  return new Table(page, "messages", {
    thing: "message", columns, sort: second ? 7 : columns.indexOf(slow), rows: () => [...page.flows(first)], pick: (row) => ["flow", String(first.column("flows.id")[row])],
  });
};

// What a port did in a range of time: from samples if there are any, else `NaN`.
const portNumbers = (page, run, port, from, to) => {
  const number = run.portOf.get(port), [parts, busy] = ["queues", "utilization"].map((table) => partsOfPort(page, run, table, port));
  const samples = (table, part, column) => {
    const series = run.seriesOf(table, part, column);
    return [series, lowerBound(series.time, from), lowerBound(series.time, to + 1e-9)];
  };
  const mean = (table, list, column) => {
    let sum = 0, count = 0;
    for (const part of list) {
      const [series, begin, end] = samples(table, part, column);
      for (let at = begin; at < end; at++) sum += series.value[at];
      count = Math.max(count, end - begin);
    }
    return count ? sum / count : NaN;
  };
  const most = parts.map((part) => {
    const [series, begin, end] = samples("queues", part, "max_bytes");
    return series.extremes.range(begin, end)[1];
  }).filter(Number.isFinite);
  return {
    longest: most.length ? Math.max(...most) : NaN,
    mean: mean("queues", parts, "bytes"),
    busy: mean("utilization", busy, "utilization"),
    paused: run.recorded.pauses && number !== undefined ? run.spent("pauses", number, from, to) : NaN,
  };
};

const portTable = (page) => {
  const { runs } = page, kb = (bytes) => short(bytes / 1e3), us = (ps) => short(ps / 1e6);
  const rows = () => {
    const [from, to] = page.view.range, names = new Set(runs.flatMap((run) => run.ports));
    return [...names].map((port) => ({ port, of: runs.map((run) => portNumbers(page, run, port, from, to)) }));
  };
  const columns = [{ name: "port", column: "port", value: (row) => row.port }];
  const kinds = [
    ["longest queue", "max_bytes", "longest", "KB", kb], ["mean queue", "mean_bytes", "mean", "KB", kb],
    ["utilization", "utilization", "busy", "%", (share) => short(share * 100, 3)], ["paused", "paused_ps", "paused", "us", us],
  ];
  for (const [name, column, key, unit, text] of kinds) {
    if (runs.length === 1) columns.push({ name, column, value: ({ of }) => of[0][key], unit, text, number: true });
    else if (key !== "busy") {
      runs.forEach((run, place) => columns.push({ name: `${name}, ${run.label}`, column: `${column}_${["first", "second"][place]}`, value: ({ of }) => of[place][key], unit, text, number: true }));
      const apart = ({ of }) => difference(of[0][key], of[1][key]);
      columns.push({ name: "difference", column: `${column}_difference`, value: apart, by: (row) => Math.abs(apart(row)), unit, text: (value) => signed(text(value), value), number: true });
    }
  }
  return new Table(page, "ports", { thing: "port", columns, sort: runs.length > 1 ? 3 : 1, rows, pick: ({ port }) => ["port", port] });
};
