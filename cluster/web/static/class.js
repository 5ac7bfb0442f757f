// One class of boards: letters of each cell in, bounds, story and trees out.  Cells are numbered
// down the columns.
/** @import { Story, Tree } from "../answers" */
import {
  ask,
  byId,
  cellName,
  copy,
  count,
  drawing,
  el,
  field,
  menu,
  offers,
  on,
  reason,
  rowOrder,
  tellFault,
  write,
} from "/static/lib.js";

const size = menu("size");
const list = menu("list");
const buckets = byId("buckets");
let asking = 0;

/** @param {string} name  @param {string[]} [kept] */
function layout(name, kept = []) {
  const [w, h] = name.split("x").map(Number);
  size.value = name;
  buckets.className = `buckets w${w}`;
  const made = rowOrder(w, h).map((cell) =>
    el("input", {
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

/** @param {string} id  @param {[string, number][]} rows  @param {number | null} cutoff */
function bars(id, rows, cutoff) {
  const most = Math.max(...rows.map(([, value]) => value), 1);
  const made = rows.map(([name, value]) => {
    const filled = el("span");
    filled.style.setProperty("--share", String(value / most));
    const spoken = { role: "img", "aria-label": `${name}: ${count(value)}` };
    const kind = cutoff && value >= cutoff ? "div.bound.over" : "div.bound";
    return el(kind, el("span", name), el("div.beam", spoken, filled), el("b", count(value)));
  });
  byId(id).replaceChildren(...made);
}

async function bound() {
  const number = ++asking;
  const cutoff = field("cutoff").value.trim();
  const question = { class: typed().join(" "), list: list.value, cutoff };
  history.replaceState(null, "", `/class?${new URLSearchParams(question)}`);
  tellFault("");
  write("done", "Collecting the terms…");
  try {
    /** @type {Story} */
    const story = await ask("/api/class", question);
    if (number !== asking) return;
    byId("answer").hidden = false;
    write("done", `No board of the class scores more than ${count(story.orderly_bound)}.`);
    /** @type {[string, number][]} */
    const bounds = [
      ["orderly", story.orderly_bound],
      ["max", story.max_bound],
      ["sum", story.sum_bound],
    ];
    bars("bounds", bounds, story.cutoff);
    byId("story").replaceChildren(...story.lines.map((line) => el("p", line.trim())));
    const h = Number(story.dims.split("x")[1]);
    /** @type {[string, number][]} */
    const forced = story.forced.map((item) => [
      `${cellName(item.cell, h)} = ${item.letter}`,
      item.bound,
    ]);
    bars("forced", forced, story.cutoff);
    await drawTrees(number, question);
  } catch (error) {
    if (number !== asking) return;
    write("done", "");
    byId("answer").hidden = true;
    tellFault(reason(error));
  }
}

/** @param {number} number  @param {Record<string, string>} question */
async function drawTrees(number, question) {
  byId("trees").replaceChildren();
  write("trees-told", "Growing them…");
  try {
    /** @type {Tree[]} */
    const trees = await ask("/api/trees", question);
    if (number !== asking) return;
    write(
      "trees-told",
      "Below each node: what can still be added. " +
        "Of the letters of a cell (rounded) only the best counts.",
    );
    byId("trees").replaceChildren(...trees.map(drawTree));
    for (const box of byId("trees").querySelectorAll(".scroll")) showRoot(box);
  } catch (error) {
    if (number === asking) write("trees-told", `Not drawn: ${reason(error)}`);
  }
}

/** @param {Tree} tree */
function drawTree(tree) {
  const bound = count(tree.bound);
  const spoken = `${tree.title}; its bound is ${bound}. The same as text follows.`;
  const place = { tabIndex: 0, role: "region", "aria-label": tree.title };
  const text = el("pre.code.tree", { tabIndex: 0 }, tree.text);
  return el(
    "div",
    el("h3", `${tree.title}, bound ${bound}`),
    el("div.scroll", place, drawing(tree.svg, spoken)),
    el("details", el("summary", "As text"), text),
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

on("form", "submit", (event) => {
  event.preventDefault();
  bound();
});
size.addEventListener("change", () => layout(size.value));
on("vowels", "click", () => fill(typed().map((_, cell) => (cell % 2 ? "aeiou" : "lnrst"))));
on("small", "click", () => {
  layout("2x2", ["t", "ai", "e", "r"]);
  bound();
});
on("copy-link", "click", () => copy(location.href, byId("done"), "Link"));

const given = new URLSearchParams(location.search);
const groups = (given.get("class") || "").split(/\s+/).filter(Boolean);
const fitting = [...size.options].reverse().find((option) => {
  const [w, h] = option.value.split("x").map(Number);
  return w * h === groups.length;
});
if (offers(list, given.get("list"))) list.value = given.get("list") || "";
field("cutoff").value = (given.get("cutoff") || "").replace(/\D/g, "");
if (fitting) {
  layout(fitting.value, groups);
  bound();
} else layout("2x2");
