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
  field.placeholder = "filter, such as: softmax";
  field.setAttribute("aria-label", "show only what contains these words");
  const count = document.createElement("output");
  place.append(field, count);
  article.querySelector("h1").after(place);

  function apply() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits = words.every((word) => item.text.includes(word));
      for (const part of item.parts) part.hidden = !fits;
      shown += fits;
    }
    for (const table of tables) {
      const wrapper = table.closest(".md-typeset__scrollwrap") || table;
      wrapper.hidden = words.length > 0 && items === rows && ![...table.tBodies[0].rows].some((row) => !row.hidden);
    }
    count.value = words.length ? `${shown} of ${items.length}` : `${items.length}`;
  }

  // ?q=words in the address, so that a filtered page can be sent to somebody.
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => {
    apply();
    const query = field.value ? `?q=${encodeURIComponent(field.value)}` : location.pathname;
    try {
      history.replaceState(null, "", query);
    } catch {
      // Pages that are read from a disk may not change their address.
    }
  });
  apply();
})();
