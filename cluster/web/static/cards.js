// Boards drawn large, each with a sentence about its place; the reader's own board beside them.
import { ask, el, points } from "/static/lib.js";
import { layTiles, warm } from "/static/words.js";

export function fillCard(card, drawn, score, said, ...more) {
  const head = score === null ? [] : [el("p", { className: "score" }, el("b", { textContent: points(score) }))];
  card.replaceChildren(el("div", { className: "drawn" }, drawn), el("div", {}, ...head, el("p", { className: "said", textContent: said }), ...more));
}

// The last board that the Board page scored, as its address holds it; a browser may keep nothing.
export function remember(query) { try { localStorage.setItem("board", query); } catch { /* then it is not shown elsewhere */ } }
function remembered() { try { return localStorage.getItem("board") || ""; } catch { return ""; } }

// Given in the address of this page, or the last one of the Board page.  Of a run: scored by its words and points, and
// shown only where it has its size; compared with its best board.
export async function showOwn(card, run = null) {
  const given = new URLSearchParams(location.search), isGiven = given.has("letters");
  const query = isGiven ? given : new URLSearchParams(remembered());
  if (!query.get("letters")) return;
  const asked = run ? { letters: query.get("letters"), size: query.get("size") || undefined, run: run.key } : Object.fromEntries(query);
  const name = el("p", { className: "name" }, el("a", { href: `/board?${new URLSearchParams(JSON.parse(JSON.stringify(asked)))}`, textContent: "Your board" }));
  try {
    const told = await ask("/api/board", asked);
    if (run && told.dims !== run.dims) return;
    const tiles = el("div", { className: "tiles" }), less = run && run.best ? run.best.score - told.score : 0;
    tiles.setAttribute("role", "img");
    tiles.setAttribute("aria-label", `Your board. ${layTiles(tiles, told)}`);
    warm(tiles, told.heat);
    const apart = less > 0 ? `${points(less)} fewer than the best of this run.` : less < 0 ? `${points(-less)} more than the best that this run found so far.` : "As many as the best of this run.";
    const place = told.place || (run && run.best ? apart : `Scored with ${told.wordlist}. Its place among all ${told.dims} boards is not known here.`);
    fillCard(card, el("div", { className: "wrap" }, tiles), told.score, place, name);
  } catch (error) {
    if (!isGiven) return;
    fillCard(card, "", null, error.message, name);
  }
  card.hidden = false;
}
