// A field above long tables and long lists of functions: what does not contain its words is hidden.
"use strict";

(() => {
  const LONG = 25; // rows in all, below which nobody needs a field
  const article = document.querySelector("article");
  if (!article || article.querySelector(".doc")) return; // tables of arguments are no lists

  // What is shown or hidden together: a row; or a function's heading and what follows it.
  const entries = [...article.querySelectorAll("h2.entry")].map((heading) => {
    const parts = [heading];
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling)
      parts.push(next);
    return { parts };
  });
  const tables = [...article.querySelectorAll("table")];
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows].map((row) => ({ parts: [row], table })));
  const items = entries.length ? entries : rows;
  if (items.length < LONG) return;
  for (const item of items) item.text = item.parts.map((part) => part.textContent).join(" ").toLowerCase();

  const place = document.createElement("div");
  place.className = "filter";
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter";
  field.setAttribute("aria-label", "show only what contains these words");
  const count = document.createElement("output");
  place.append(field, count);
  article.querySelector("h1").after(place);

  // While filtering, of what is not a row only the headings of tables with rows are of use.
  function showSections(filtering) {
    for (const table of tables) table.hidden = false; // the theme wraps them after the first call
    let below = false; // whether a table with rows has been met since the last heading of its level
    for (const part of [...article.children].reverse()) {
      if (part === place || part.tagName === "H1") continue;
      const found = tables.filter((table) => part.contains(table));
      const rowsShown = found.some((table) => [...table.tBodies[0].rows].some((row) => !row.hidden));
      below ||= rowsShown;
      part.hidden = filtering && !rowsShown && !(/^H[2-6]$/.test(part.tagName) && below);
      if (part.tagName === "H2") below = false;
    }
  }

  function apply() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits = words.every((word) => item.text.includes(word));
      for (const part of item.parts) part.hidden = !fits;
      shown += fits;
    }
    if (items === rows) showSections(words.length > 0);
    count.value = words.length ? `${shown} of ${items.length}` : `${items.length}`;
  }

  // ?filter=words in the address, so that a filtered page can be sent to somebody.
  field.value = new URLSearchParams(location.search).get("filter") || "";
  field.addEventListener("input", () => {
    apply();
    const query = field.value ? `?filter=${encodeURIComponent(field.value)}` : location.pathname;
    try {
      history.replaceState(null, "", query);
    } catch {
      // Pages that are read from a disk may not change their address.
    }
  });
  apply();
  window.addEventListener("load", apply); // by then the theme has wrapped the tables
})();
