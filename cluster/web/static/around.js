// Scores with one letter changed, as a table that is coloured, and the best boards one step away.
import { face, spelled } from "/static/board.js";
import { byId, cellName, count, el, points } from "/static/lib.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export function showAround(around, told, h, { shade, use, put } = {}) {
  const table = byId("heat"), near = byId("near");
  table.hidden = byId("near-title").hidden = !around;
  near.replaceChildren();
  if (!around) { table.replaceChildren(); return; }
  const most = Math.max(...around.scores.flat().map((value) => Math.abs(value - told.score)), 1);
  const head = el("tr", {}, el("td", {}), ...[...LETTERS].map((letter) => el("th", { scope: "col", textContent: face(letter) })));
  const name = (cell) => `${cellName(cell, h)}, ${face(told.usual[cell])}`;
  const change = (other) => {
    const [one, two] = [...[...told.usual].keys()].filter((cell) => other[cell] !== told.usual[cell]);
    return two === undefined ? `${name(one)} to ${face(other[one])}` : `${name(one)} and ${name(two)} swapped`;
  };
  const inRows = [...around.scores.keys()].sort((a, b) => (a % h) - (b % h) || a - b);
  const rows = inRows.map((cell) => {
    const own = told.usual[cell], scores = around.scores[cell];
    const label = el("th", { scope: "row" }, el("span", { className: "visually-hidden", textContent: `${cellName(cell, h)} ` }), el("span", { className: "soft", ariaHidden: "true", textContent: `${(cell % h) + 1}.${Math.floor(cell / h) + 1} ` }), face(own));
    return el("tr", {}, label, ...scores.map((score, at) => {
      const difference = score - told.score, letter = LETTERS[at];
      const item = el("td", { textContent: letter === own ? "·" : difference > 0 ? `+${count(difference)}` : count(difference).replace("-", "−"), title: points(score) });
      if (letter === own) item.className = "own";
      else { item.style.setProperty("--heat", shade(difference, most)); item.addEventListener("click", () => put(cell, letter)); }
      return item;
    }));
  });
  table.replaceChildren(el("caption", { className: "visually-hidden", textContent: "Difference of the score, rows: cells; columns: letters" }), el("thead", {}, head), el("tbody", {}, ...rows));
  near.replaceChildren(...around.best.map((item) => {
    const button = el("button", { type: "button" }, el("code", { textContent: spelled(item.board) }), el("small", { textContent: `${change(item.board)}: ${points(item.score)} (${item.difference >= 0 ? "+" : "−"}${count(Math.abs(item.difference))})` }));
    button.addEventListener("click", () => use(item.board));
    return el("li", {}, button);
  }));
}
