// Scores with one letter changed, as a table that is coloured, and the best boards one step away.
/** @import { Around, Told } from "../answers" */
import { choice, face, spelled } from "/static/board.js";
import { byId, cellName, count, el, points } from "/static/lib.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** @param {number} n */
const signed = (n) => (n > 0 ? `+${count(n)}` : count(n).replace("-", "−"));

/**
 * @param {(Around & { told: Told, h: number }) | null} around
 * @param {object} [act] not needed to take the table away
 * @param {(difference: number, most: number) => string} act.shade
 * @param {(symbols: string) => void} act.use
 * @param {(cell: number, letter: string) => void} act.put
 */
export function showAround(around, act) {
  const table = byId("heat");
  const near = byId("near");
  table.hidden = byId("near-title").hidden = !around;
  near.replaceChildren();
  if (!around || !act) {
    table.replaceChildren();
    return;
  }
  const { told, h } = around;
  const { shade, use, put } = act;
  const usual = told.usual || "";
  const most = Math.max(...around.scores.flat().map((value) => Math.abs(value - told.score)), 1);
  const columns = [...LETTERS].map((letter) =>
    el("th", { scope: "col", textContent: face(letter) }),
  );
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
    const spoken = `${cellName(cell, h)} `;
    const seen = `${(cell % h) + 1}.${Math.floor(cell / h) + 1} `;
    return el(
      "th",
      { scope: "row" },
      el("span", { className: "visually-hidden", textContent: spoken }),
      el("span", { className: "soft", ariaHidden: "true", textContent: seen }),
      face(usual[cell]),
    );
  }

  /** @param {number} cell  @param {string} letter  @param {number} score */
  function changed(cell, letter, score) {
    const difference = score - told.score;
    const item = el("td", { title: points(score) });
    if (letter === usual[cell]) {
      item.className = "own";
      item.textContent = "·";
      return item;
    }
    item.textContent = signed(difference);
    item.style.setProperty("--heat", shade(difference, most));
    item.addEventListener("click", () => put(cell, letter));
    return item;
  }

  const inRows = [...around.scores.keys()].sort((a, b) => (a % h) - (b % h) || a - b);
  const rows = inRows.map((cell) => {
    const items = around.scores[cell].map((score, at) => changed(cell, LETTERS[at], score));
    return el("tr", {}, heading(cell), ...items);
  });
  table.replaceChildren(
    el("caption", {
      className: "visually-hidden",
      textContent: "Difference of the score, rows: cells; columns: letters",
    }),
    el("thead", {}, el("tr", {}, el("td", {}), ...columns)),
    el("tbody", {}, ...rows),
  );
  const choices = around.best.map((item) => {
    const text = `${change(item.board)}: ${points(item.score)} (${signed(item.difference)})`;
    return choice(spelled(item.board), text, () => use(item.board));
  });
  near.replaceChildren(...choices);
}
