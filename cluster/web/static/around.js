// The best boards one step away.
/** @import { Around, Told } from "../answers" */
import { choice, face, spelled, use } from "/static/board.js";
import { byId, cellName, count, points } from "/static/lib.js";

/** @param {number} n */
const signed = (n) => (n > 0 ? `+${count(n)}` : count(n).replace("-", "−"));

/** Without a board: take them away.  @param {Told} [told]  @param {Around} [around] */
export function showAround(told, around) {
  const near = byId("near");
  byId("around").hidden = !told;
  near.replaceChildren();
  if (!told || !around) return;
  const usual = told.usual || "";
  const h = told.rows.length;
  /** @param {number} cell */
  const name = (cell) => `${cellName(cell, h)}, ${face(usual[cell])}`;

  /** @param {string} other */
  function change(other) {
    const cells = [...usual].map((_, cell) => cell);
    const [one, two] = cells.filter((cell) => other[cell] !== usual[cell]);
    if (two === undefined) return `${name(one)} to ${face(other[one])}`;
    return `${name(one)} and ${name(two)} swapped`;
  }

  for (const item of around.best) {
    const text = `${change(item.board)}: ${points(item.score)} (${signed(item.difference)})`;
    near.append(choice(spelled(item.board), text, () => use(item.board)));
  }
}
