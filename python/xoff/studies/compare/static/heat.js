"use strict";
(() => {
  const table = document.querySelector(".heat");
  const about = document.getElementById("heat-about");
  const body = table.tBodies[0];
  const show = (cell) => {
    about.textContent = cell.dataset.about;
    about.hidden = false;
    const place = cell.getBoundingClientRect();
    const own = about.getBoundingClientRect();
    about.style.left = `${Math.max(4, Math.min(place.left, document.documentElement.clientWidth - own.width - 4))}px`;
    about.style.top = `${place.top > own.height + 8 ? place.top - own.height - 6 : place.bottom + 6}px`;
  };
  const hide = () => { about.hidden = true; };
  const cellOf = (event) => event.target.closest("td[data-about]");
  for (const kind of ["mouseover", "focusin"]) {
    body.addEventListener(kind, (event) => { if (cellOf(event)) show(cellOf(event)); });
  }
  for (const kind of ["mouseout", "focusout"]) body.addEventListener(kind, hide);
  addEventListener("scroll", hide, { capture: true, passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // The order of the survey comes back when a heading is pressed again.
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells].slice(1);
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const sorted = head.ariaSort === "ascending";
    heads.forEach((each) => { each.ariaSort = "none"; });
    const order = (row) => Number(row.cells[column + 1].dataset.order.replace("inf", "Infinity"));
    if (!sorted) head.ariaSort = "ascending";
    body.append(...(sorted ? rows : rows.toSorted((a, b) => (order(a) === order(b) ? 0 : order(a) - order(b)))));
  }));
})();
