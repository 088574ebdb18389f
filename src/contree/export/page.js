"use strict";
// The interactive part of the page.  Names from the data are only ever set as text, never as HTML.
(() => {
  const tree = JSON.parse(document.getElementById("ct-data").textContent);
  const items = new Map();
  for (const item of document.querySelectorAll("li[data-node]")) items.set(Number(item.dataset.node), item);
  const boxOf = (item) => item.querySelector(":scope > .ct-node, :scope > details > .ct-node");
  const fields = [...document.querySelectorAll("[data-feature]")];
  const whole = document.getElementById("ct-row");
  const answer = document.getElementById("ct-answer");
  const tip = document.getElementById("ct-tip");
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const mayLack = new Set(tree.mayLack);

  for (const [id, open] of [["ct-open", true], ["ct-close", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      for (const test of document.querySelectorAll(".ct-tree details")) test.open = open;
    });
  }

  // The line through the boxes of the route, drawn over the tree's own lines.
  const list = document.querySelector(".ct-tree > ul");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "ct-line-of-route");
  list.append(svg);
  function drawRoute() {
    const origin = list.getBoundingClientRect();
    const scale = origin.width / parseFloat(getComputedStyle(list).width); // of the window's pixels to the list's own
    svg.replaceChildren();
    for (const item of document.querySelectorAll("li.ct-route li.ct-route")) {
      const to = boxOf(item).getBoundingClientRect();
      if (to.width === 0) continue; // folded away
      const from = boxOf(item.parentElement.closest("li")).getBoundingClientRect();
      const x = (from.left + from.width / 2 - origin.left) / scale, end = (to.left + to.width / 2 - origin.left) / scale;
      const top = (from.bottom - origin.top) / scale, bottom = (to.top - origin.top) / scale, bend = bottom - 19;
      const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      line.setAttribute("points", `${x},${top} ${x},${bend} ${end},${bend} ${end},${bottom}`);
      svg.append(line);
    }
  }
  document.addEventListener("toggle", drawRoute, true);

  // Trees may be wider than the window: smaller, as long as they can be read; and then bring a box to the middle, without
  // moving the page.  Not when a node folds, because what was clicked should stay where it is.
  const frame = document.querySelector(".ct-tree");
  const leastScale = 0.6;
  function fit() {
    list.style.zoom = 1;
    const room = frame.clientWidth / list.scrollWidth;
    if (room < 1) list.style.zoom = Math.max(leastScale, 0.98 * room); // letters do not shrink in quite the same proportion
    drawRoute();
  }
  function centre(box) {
    const at = box.getBoundingClientRect(), view = frame.getBoundingClientRect();
    frame.scrollLeft += at.left + at.width / 2 - view.left - view.width / 2;
  }
  fit();
  centre(boxOf(items.get(0)));
  window.addEventListener("resize", fit);

  // A number as it is typed, or the code that a selector has: null for nothing, "missing" for a word that says so, NaN for what is no finite number.
  function numberOf(text) {
    const trimmed = text.trim();
    if (trimmed === "") return null;
    if (/^(nan|na|none|null|missing)$/i.test(trimmed)) return "missing";
    const value = Number(trimmed);
    return Number.isFinite(value) ? value : NaN;
  }

  // The cells of a typed row.  Among categories, blanks and what stands between double quotes belong to a cell.
  function cellsOf(text) {
    if (text === "") return [];
    if (tree.categories === null) return text.split(/\s*[,;]\s*|\s+/);
    const cells = [""];
    for (const [part] of text.matchAll(/\s*"(?:[^"]|"")*"\s*|[,;]|[^,;"]+|"/g)) {
      const inner = part.trim().match(/^"(.*)"$/s);
      if (part === "," || part === ";") cells.push("");
      else cells.push(cells.pop() + (inner ? inner[1].replaceAll('""', '"') : part.trim()));
    }
    return cells;
  }

  // What a field holds for a cell: a selector has the code of the category that is written so, or is the same number.
  function textFor(field, cell) {
    const known = tree.categories?.[field.dataset.feature];
    if (known === undefined) return cell;
    let code = known.findIndex((one) => String(one) === cell);
    if (code < 0) code = known.findIndex((one) => String(one).trim() === cell);
    if (code < 0 && cell !== "") code = known.indexOf(Number(cell));
    if (code < 0) return cell === "" ? "" : "missing";
    return String(code);
  }

  const takesLeft = (node, value) => {
    if (value === "missing") return tree.missingLeft[node] === 1;
    const codes = tree.categoriesLeft[node];
    if (codes !== null) return codes.includes(value);
    return tree.threshold[node] === null || value <= tree.threshold[node];
  };

  let rowTyped = false; // a whole row may lack every value that the tree tests

  function follow() {
    showRoute();
    drawRoute();
  }

  // The route of the row in the fields: highlighted as far as its values lead.
  function showRoute() {
    const values = new Map();
    let wrong = false;
    for (const field of fields) {
      const value = numberOf(field.value);
      field.setAttribute("aria-invalid", String(Number.isNaN(value)));
      wrong = wrong || Number.isNaN(value);
      values.set(Number(field.dataset.feature), value);
    }
    for (const item of items.values()) item.classList.remove("ct-route");
    answer.removeAttribute("data-leaf");
    if (wrong) { answer.textContent = "The marked fields are not numbers."; return; }
    const empty = [...values.values()].every((value) => value === null);
    if (fields.length > 0 && empty && !rowTyped) { answer.textContent = ""; return; }

    let node = 0;
    for (;;) {
      const item = items.get(node);
      item.classList.add("ct-route");
      if (tree.feature[node] < 0) break;
      let value = values.get(tree.feature[node]);
      if (value === null && mayLack.has(tree.feature[node])) value = "missing"; // as in the training rows
      if (value === null) {
        answer.textContent = `To go on: ${tree.features[tree.feature[node]]}`;
        return;
      }
      item.querySelector(":scope > details").open = true;
      node = takesLeft(node, value) ? tree.left[node] : tree.right[node];
    }
    centre(boxOf(items.get(node)));
    answer.dataset.leaf = String(node);
    answer.textContent =
      `${tree.predictions[node]}: leaf ${node}, ${tree.rows[node]}, ${tree.losses[node]}`;
  }

  for (const field of fields) {
    const kind = field.tagName === "SELECT" ? "change" : "input";
    field.addEventListener(kind, () => { whole.value = ""; rowTyped = false; follow(); });
  }
  whole.addEventListener("input", () => {
    const row = cellsOf(whole.value.trim());
    const right = row.length === 0 || row.length === tree.features.length;
    whole.setAttribute("aria-invalid", String(!right));
    rowTyped = right && row.length > 0;
    for (const field of fields) field.value = right && row.length ? textFor(field, row[Number(field.dataset.feature)]) : "";
    follow();
    if (!right) answer.textContent = `${plural(row.length, tree.categories === null ? "number" : "value")} of ${tree.features.length}.`;
  });
  document.getElementById("ct-form").addEventListener("submit", (event) => event.preventDefault());
  if (fields.length === 0) follow();

  // The note beside a node: its rows, and how many are of each class or in each part of the targets.
  function describe(node) {
    tip.replaceChildren();
    const head = document.createElement("b");
    head.textContent = `Node ${node}: ${tree.rows[node]}`;
    tip.append(head);
    if (tree.tests[node] !== "") {
      const test = document.createElement("div");
      test.textContent = tree.tests[node];
      tip.append(test);
    }
    tip.classList.toggle("ct-wide", tree.tests[node].length > 600);
    const { shown, others } = tree.shares[node];
    for (const [label, count, share, colour] of shown) {
      const line = document.createElement("div"), name = document.createElement("span");
      const bar = document.createElement("i"), number = document.createElement("span");
      line.className = "ct-line";
      name.textContent = label;
      bar.style.width = `${100 * share}%`;
      bar.style.background = colour;
      number.textContent = `${count} (${(100 * share).toFixed(1)} %)`;
      line.append(name, bar, number);
      tip.append(line);
    }
    if (others > 0) tip.append(`classes not shown: ${others}`);
  }

  function showBeside(box, node) {
    describe(node);
    tip.hidden = false;
    const at = box.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const below = at.bottom + 8 + size.height <= window.innerHeight;
    tip.style.left = `${Math.max(4, Math.min(at.left, window.innerWidth - size.width - 4))}px`;
    tip.style.top = `${below ? at.bottom + 8 : Math.max(4, at.top - size.height - 8)}px`;
  }

  const hide = () => { tip.hidden = true; };
  for (const [node, item] of items) {
    const box = boxOf(item);
    box.addEventListener("mouseenter", () => showBeside(box, node));
    box.addEventListener("focus", () => showBeside(box, node));
    box.addEventListener("mouseleave", hide);
    box.addEventListener("blur", hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  window.addEventListener("scroll", hide, true);
})();
