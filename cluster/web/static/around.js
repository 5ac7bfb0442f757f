// Scores with one letter changed, as a table that is coloured, and the best boards one step away.
/** @import { Around, Told } from "../answers" */
import { choice, face, LETTERS, put, shade, spelled, use } from "/static/board.js";
import { byId, cellName, count, el, points, rowOrder } from "/static/lib.js";

/** @param {number} n */
const signed = (n) => (n > 0 ? `+${count(n)}` : count(n).replace("-", "−"));

/** Without a board: take the table away.  @param {Told} [told]  @param {Around} [around] */
export function showAround(told, around) {
  const table = byId("heat");
  const near = byId("near");
  table.hidden = byId("near-title").hidden = !told;
  table.replaceChildren();
  near.replaceChildren();
  if (!told || !around) return;
  const usual = told.usual || "";
  const now = told.score;
  const h = told.rows.length;
  const most = Math.max(...around.scores.flat().map((value) => Math.abs(value - now)), 1);
  /** @param {number} cell */
  const name = (cell) => `${cellName(cell, h)}, ${face(usual[cell])}`;

  /** @param {string} other */
  function change(other) {
    const cells = [...usual].map((_, cell) => cell);
    const [one, two] = cells.filter((cell) => other[cell] !== usual[cell]);
    if (two === undefined) return `${name(one)} to ${face(other[one])}`;
    return `${name(one)} and ${name(two)} swapped`;
  }

  /** @param {number} cell */
  function heading(cell) {
    const seen = `${(cell % h) + 1}.${Math.floor(cell / h) + 1} `;
    return el(
      "th",
      { scope: "row" },
      el("span.visually-hidden", `${cellName(cell, h)} `),
      el("span.soft", { ariaHidden: "true" }, seen),
      face(usual[cell]),
    );
  }

  /** @param {number} cell  @param {string} letter  @param {number} score */
  function changed(cell, letter, score) {
    const title = points(score);
    if (letter === usual[cell]) return el("td.own", { title }, "·");
    const difference = score - now;
    const item = el("td", { title }, signed(difference));
    item.style.setProperty("--heat", shade(difference, most));
    item.addEventListener("click", () => put(cell, letter));
    return item;
  }

  const rows = rowOrder(around.scores.length / h, h).map((cell) => {
    const items = around.scores[cell].map((score, at) => changed(cell, LETTERS[at], score));
    return el("tr", heading(cell), ...items);
  });
  const columns = [...LETTERS].map((letter) => el("th", { scope: "col" }, face(letter)));
  const caption = "Difference of the score, rows: cells; columns: letters";
  table.append(
    el("caption.visually-hidden", caption),
    el("thead", el("tr", el("td"), ...columns)),
    el("tbody", ...rows),
  );
  for (const item of around.best) {
    const text = `${change(item.board)}: ${points(item.score)} (${signed(item.difference)})`;
    near.append(choice(spelled(item.board), text, () => use(item.board)));
  }
}
