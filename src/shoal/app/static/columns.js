// The page Columns: search, filter, order, ticks, and charts on demand.
"use strict";

{
  const table = document.getElementById("columns");
  const rows = table ? [...table.querySelectorAll("tr[data-number]")] : [];
  const field = (id) => document.getElementById(id);
  const kept = `shoal ${location.pathname}`;
  const details = (row) => field(`details-${row.dataset.number}`);
  const tick = (row) => row.querySelector("input[name=column]");
  const several = (count) => `${count.toLocaleString("en")} ${count === 1 ? "column" : "columns"}`;
  const ORDERS = {
    unsure: (row) => (row.classList.contains("unsure") ? 0 : 1),
    role: (row) => [...row.querySelector("select.role").options].findIndex((one) => one.value === row.dataset.role),
    name: (row) => row.dataset.name,
  };

  const fits = (row) => {
    const wanted = field("show").value;
    const isShown = !wanted || (wanted === "unsure" ? row.classList.contains("unsure") : row.dataset.role === wanted);
    return isShown && row.dataset.name.includes(field("find").value.trim().toLowerCase());
  };

  const filter = () => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      if (details(row)) details(row).hidden = row.hidden;
      count += row.hidden ? 0 : 1;
    }
    field("none").hidden = count > 0;
    field("shown").textContent = count < rows.length ? `${count} of ${several(rows.length)}` : several(count);
    countTicks();
  };

  const order = () => {
    const key = ORDERS[field("order").value] ?? ((row) => Number(row.dataset.number));
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    for (const [, row] of keyed) {
      table.tBodies[0].append(row);
      if (details(row)) table.tBodies[0].append(details(row));
    }
  };

  const countTicks = () => {
    const ticked = rows.filter((row) => tick(row).checked);
    const unseen = ticked.filter((row) => row.hidden).length;
    field("ticked").textContent = ticked.length
      ? `${several(ticked.length)} ticked${unseen ? `, ${unseen} of them not shown` : ""}.`
      : "Tick columns to change several at once.";
    const shown = rows.filter((row) => !row.hidden);
    const count = shown.filter((row) => tick(row).checked).length;
    field("tick-all").checked = count > 0 && count === shown.length;
    field("tick-all").indeterminate = count > 0 && count < shown.length;
  };

  const show = async (row, link) => {
    const answer = await fetch(`${table.dataset.address}/part/column/${row.dataset.number}`);
    if (!answer.ok) {
      location.assign(link.href);
      return;
    }
    const found = details(row) ?? document.createElement("tr");
    found.className = "details";
    found.id = `details-${row.dataset.number}`;
    found.innerHTML = '<td></td><td colspan="3"></td>';
    found.lastElementChild.innerHTML = await answer.text();
    row.after(found);
    htmx.process(found);
    link.setAttribute("aria-expanded", "true");
  };

  let last = null;
  table?.addEventListener("click", (event) => {
    const link = event.target.closest("[data-more]");
    const row = event.target.closest("tr[data-number]");
    if (link) {
      event.preventDefault();
      if (details(row)) {
        details(row).remove();
        link.setAttribute("aria-expanded", "false");
      } else show(row, link);
    } else if (event.target.name === "column") {
      if (event.shiftKey && last) {  // all between the last tick and this one
        const shown = [...table.querySelectorAll("tr[data-number]")].filter((one) => !one.hidden);
        const [from, to] = [shown.indexOf(last), shown.indexOf(row)].sort((a, b) => a - b);
        if (from >= 0) for (const one of shown.slice(from, to + 1)) tick(one).checked = event.target.checked;
      }
      last = row;
      countTicks();
    }
  });

  const touched = new Map();  // rows that were changed, and whether their role was
  table?.addEventListener("change", (event) => {
    const row = event.target.closest("tr[data-number]") ?? field(event.target.closest("tr").id.replace("details", "column"));
    const isRole = event.target.matches("select.role");
    if (isRole) row.dataset.role = event.target.value;
    if (event.target.name !== "column") touched.set(row, isRole);
  });

  // After a change was saved: what is said about a column depends on its role.
  document.body.addEventListener("changed", () => {
    for (const [row, isRole] of touched) {
      row.querySelector(".effect").dispatchEvent(new Event("effect"));
      if (isRole && details(row)) show(row, row.querySelector("[data-more]"));
    }
    touched.clear();
  });

  if (table) {
    const boxes = ["find", "show", "order"];
    const before = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
    for (const id of boxes) {
      if (before[id]) field(id).value = before[id];
      field(id).addEventListener("input", () => {
        sessionStorage.setItem(kept, JSON.stringify(Object.fromEntries(boxes.map((one) => [one, field(one).value]))));
        if (id === "order") order();
        filter();
      });
    }
    field("tick-all").addEventListener("change", () => {
      for (const row of rows) if (!row.hidden) tick(row).checked = field("tick-all").checked;
      countTicks();
    });
    field("bulk").addEventListener("submit", (event) => {
      if (rows.some((row) => tick(row).checked) && (field("all").value || field("all_model").value)) return;
      event.preventDefault();
      field("ticked").textContent = rows.some((row) => tick(row).checked)
        ? "Choose a role or a model for the ticked columns first."
        : "Tick at least one column first.";
    });
    order();
    filter();
  }
}
