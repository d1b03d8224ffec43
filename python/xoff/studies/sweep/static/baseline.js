"use strict";
(() => {
  const choice = document.getElementById("baseline");
  if (!choice) return;
  const tables = [...document.querySelectorAll("[data-baseline]")];
  const show = () => tables.forEach((table) => { table.hidden = table.dataset.baseline !== choice.value; });
  choice.addEventListener("change", show);
  show();
})();
