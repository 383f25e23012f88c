"use strict";
const words = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

/* What a row is sorted by: a number where the column has numbers, else a text; null when there is none. */
function key(row, column, numeric) {
  const cell = row.cells[column];
  if (numeric) return cell.dataset.number === undefined ? null : Number(cell.dataset.number);
  const text = cell.textContent.trim();
  return ["", "-", "–", "—"].includes(text) ? null : text;
}

function compare(a, b, numeric, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (numeric ? a - b : words.compare(a, b));
}

for (const table of document.querySelectorAll("table")) {
  if (table.querySelector("td.none")) continue;
  const body = table.tBodies[0], given = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button"), numeric = head.classList.contains("number");
    button.type = "button";
    button.title = "sort by this column";
    if (!head.textContent.trim()) button.setAttribute("aria-label", "names of the rows");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = {ascending: "descending", descending: null}[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      heads.forEach(other => other.removeAttribute("aria-sort"));
      if (order) head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const sorted = [...body.rows].map(row => [key(row, column, numeric), row])
        .sort((a, b) => compare(a[0], b[0], numeric, sign)).map(pair => pair[1]);
      body.append(...(order ? sorted : given));
    });
  });
}

/* The contents tell where the reader is. */
const links = new Map([...document.querySelectorAll("nav a")].map(link => [link.getAttribute("href").slice(1), link]));
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach(link => link.removeAttribute("aria-current"));
    links.get(entry.target.id).setAttribute("aria-current", "true");
  }
}, {rootMargin: "-10% 0px -80% 0px"});
document.querySelectorAll("main > section").forEach(section => seen.observe(section));
