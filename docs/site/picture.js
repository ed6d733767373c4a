// Which kernels a call runs: the dispatcher's answers (site/calls.js), chosen by op, device and circumstances.
"use strict";

(() => {
  const picture = document.getElementById("picture");
  const data = window.mindtorchCalls;
  if (!picture || !data) return;

  const RUNS = { chosen: "runs", called: "then runs", next: "may run" };

  function element(tag, text, name) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    return made;
  }

  function choice(title, options) {
    const label = element("label", `${title} `);
    const select = element("select");
    select.name = title;
    for (const option of options) select.append(new Option(option, option));
    label.append(select);
    return [label, select];
  }

  const form = element("fieldset");
  const [opLabel, op] = choice("op", Object.keys(data.ops));
  const [deviceLabel, device] = choice("device", data.devices);
  form.append(opLabel, deviceLabel, element("br"));
  const boxes = Object.entries(data.circumstances).map(([name, text]) => {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.name = name;
    label.append(box, ` ${text}`);
    form.append(label);
    return box;
  });
  const answer = element("div");
  answer.setAttribute("aria-live", "polite");
  picture.replaceChildren(form, answer);
  picture.className = "picture";

  function item(row) {
    const runs = RUNS[row.outcome];
    const kind = runs ? "runs" : row.outcome === "blocked" || row.outcome === "missing" ? "fails" : "idle";
    const made = element("li", "", kind);
    made.append(element("b", row.key), ` ${runs || row.outcome}`);
    if (runs && row.kernel) made.append(" ", element("code", row.kernel), ` of ${row.by || "this program"}`);
    if (runs && row.source) made.append(element("small", row.source));
    made.append(element("small", [row.why, row.notes].filter(Boolean).join("; ")));
    return made;
  }

  function draw() {
    // The first circumstance is the lowest bit.
    const number = boxes.reduce((sum, box, bit) => sum + (box.checked ? 1 << bit : 0), 0);
    const found = data.calls[op.value][device.value][number];
    const about = element("p", `${data.ops[op.value].what}. `);
    about.append(element("code", data.ops[op.value].schema, "schema"));
    answer.replaceChildren(about);
    if (typeof found === "string") {
      answer.append(element("p", found, "error"));
      return;
    }
    if (found.error) answer.append(element("p", found.error, "error"));
    const list = element("ol");
    for (const index of found.rows || found) list.append(item(data.rows[index]));
    answer.append(list);
  }

  form.addEventListener("change", draw);
  draw();
})();
