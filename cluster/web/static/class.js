// One class of boards: letters of each cell in, bounds, story and trees out.  Cells are numbered
// down the columns.
/** @import { Story, Tree } from "../answers" */
import { ask, byId, cellName, copy, count, drawing, el, field, menu, reason } from "/static/lib.js";

const size = menu("size");
const list = menu("list");
const buckets = byId("buckets");
let asking = 0;

/** @param {string} name  @param {string[]} [kept] */
function layout(name, kept = []) {
  const [w, h] = name.split("x").map(Number);
  size.value = name;
  buckets.className = `buckets w${w}`;
  const inRows = Array.from({ length: w * h }, (_, at) => (at % w) * h + Math.floor(at / w));
  const made = inRows.map((cell) =>
    el("input", {
      type: "text",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 26,
      value: kept[cell] || "",
      required: true,
      pattern: "[A-Za-z]+",
      title: "one or more letters a-z",
      autocapitalize: "none",
      "data-cell": cell,
      "aria-label": `Letters of ${cellName(cell, h)}`,
    }),
  );
  buckets.replaceChildren(...made);
}

// In the order of the rows.
const inputs = () => /** @type {HTMLInputElement[]} */ ([...buckets.children]);

function typed() {
  /** @type {string[]} */
  const groups = [];
  for (const input of inputs())
    groups[Number(input.dataset.cell)] = input.value.trim().toLowerCase();
  return groups;
}

/** @param {string[]} groups */
function fill(groups) {
  for (const input of inputs()) input.value = groups[Number(input.dataset.cell)];
}

/** @param {Element} place  @param {[string, number][]} rows  @param {number | null} cutoff */
function bars(place, rows, cutoff) {
  const most = Math.max(...rows.map(([, value]) => value), 1);
  const made = rows.map(([name, value]) => {
    const filled = el("span", {});
    filled.style.setProperty("--share", String(value / most));
    const spoken = { role: "img", "aria-label": `${name}: ${count(value)}` };
    const beam = el("div", { className: "beam", ...spoken }, filled);
    const className = cutoff && value >= cutoff ? "bound over" : "bound";
    const title = el("span", { textContent: name });
    return el("div", { className }, title, beam, el("b", { textContent: count(value) }));
  });
  place.replaceChildren(...made);
}

// Without the rows of a table that has nothing to tell, and what the bars below tell.
/** @param {string} line  @param {Story} story */
function isTold(line, story) {
  if (line === "Forcing one cell:") return false;
  if (!line.startsWith("  row")) return true;
  return story.levels.length > 0 && line.includes(" parts left");
}

async function bound() {
  const number = ++asking;
  const asked = {
    class: typed().join(" "),
    list: list.value,
    cutoff: field("cutoff").value.trim(),
  };
  history.replaceState(null, "", `/class?${new URLSearchParams(asked)}`);
  byId("fault").hidden = true;
  byId("done").textContent = "Collecting the terms…";
  try {
    /** @type {Story} */
    const story = await ask("/api/class", asked);
    if (number !== asking) return;
    byId("answer").hidden = false;
    byId("done").textContent =
      `No board of the class scores more than ${count(story.orderly_bound)}.`;
    /** @type {[string, number][]} */
    const bounds = [
      ["orderly", story.orderly_bound],
      ["max", story.max_bound],
      ["sum", story.sum_bound],
    ];
    bars(byId("bounds"), bounds, story.cutoff);
    const lines = story.lines.filter((line) => isTold(line, story));
    byId("story").replaceChildren(...lines.map((line) => el("p", { textContent: line.trim() })));
    const h = Number(story.dims.split("x")[1]);
    /** @type {[string, number][]} */
    const forced = story.forced.map((item) => [
      `${cellName(item.cell, h)} = ${item.letter}`,
      item.bound,
    ]);
    bars(byId("forced"), forced, story.cutoff);
    await drawTrees(number, asked);
  } catch (error) {
    if (number !== asking) return;
    byId("done").textContent = "";
    byId("answer").hidden = true;
    byId("fault").textContent = reason(error);
    byId("fault").hidden = false;
  }
}

/** @param {number} number  @param {Record<string, string>} asked */
async function drawTrees(number, asked) {
  byId("trees").replaceChildren();
  byId("trees-told").textContent = "Growing them…";
  try {
    /** @type {Tree[]} */
    const trees = await ask("/api/trees", { class: asked.class, list: asked.list });
    if (number !== asking) return;
    byId("trees-told").textContent =
      "Below each node: what can still be added. " +
      "Of the letters of a cell (rounded) only the best counts.";
    byId("trees").replaceChildren(...trees.map(drawTree));
    for (const box of byId("trees").querySelectorAll(".scroll")) showRoot(box);
  } catch (error) {
    if (number === asking) byId("trees-told").textContent = `Not drawn: ${reason(error)}`;
  }
}

/** @param {Tree} tree */
function drawTree(tree) {
  const bound = count(tree.bound);
  const spoken = `${tree.title}; its bound is ${bound}. The same as text follows.`;
  const place = { className: "scroll", tabIndex: 0, role: "region", "aria-label": tree.title };
  const text = el("pre", { className: "code tree", textContent: tree.text, tabIndex: 0 });
  return el(
    "div",
    {},
    el("h3", { textContent: `${tree.title}, bound ${bound}` }),
    el("div", place, drawing(tree.svg, spoken)),
    el("details", {}, el("summary", { textContent: "As text" }), text),
  );
}

// A wide tree is scrolled to its root, the topmost node.
/** @param {Element} box */
function showRoot(box) {
  const [root] = [...box.querySelectorAll("rect")].sort(
    (a, b) => a.y.baseVal.value - b.y.baseVal.value,
  );
  const at = root.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  box.scrollLeft += at.x + at.width / 2 - frame.x - frame.width / 2;
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  bound();
});
size.addEventListener("change", () => layout(size.value));
byId("vowels").addEventListener("click", () =>
  fill(typed().map((_, cell) => (cell % 2 ? "aeiou" : "lnrst"))),
);
byId("small").addEventListener("click", () => {
  layout("2x2", ["t", "ai", "e", "r"]);
  bound();
});
byId("copy-link").addEventListener("click", () => copy(location.href, byId("done"), "Link"));

const given = new URLSearchParams(location.search);
const groups = (given.get("class") || "").split(/\s+/).filter(Boolean);
const names = Object.fromEntries(
  [...size.options].map((option) => {
    const [a, b] = option.value.split("x");
    return [Number(a) * Number(b), option.value];
  }),
);
if ([...list.options].some((option) => option.value === given.get("list")))
  list.value = given.get("list") || "";
field("cutoff").value = (given.get("cutoff") || "").replace(/\D/g, "");
if (names[groups.length]) {
  layout(names[groups.length], groups);
  bound();
} else layout("2x2");
