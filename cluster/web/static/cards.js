// Boards drawn large, each with a sentence about its place; the reader's own board beside them.
/** @import { Placed, Told } from "../answers" */
import { ask, el, points, reason } from "/static/lib.js";
import { layTiles, warm } from "/static/tiles.js";

/**
 * @param {HTMLElement} card
 * @param {Node | string | null} drawn
 * @param {number | null} score
 * @param {string} said
 * @param {...Node} more
 */
export function fillCard(card, drawn, score, said, ...more) {
  const value = score === null ? null : el("p.score", el("b", points(score)));
  card.replaceChildren(el("div.drawn", drawn), el("div", value, el("p.said", said), ...more));
}

// The last board that the Board page scored, as its address holds it; a browser may keep nothing.
/** @param {string} query */
export function remember(query) {
  try {
    localStorage.setItem("board", query);
  } catch {
    /* then it is not shown elsewhere */
  }
}
function remembered() {
  try {
    return localStorage.getItem("board") || "";
  } catch {
    return "";
  }
}

/** @param {Placed} best  @param {number} score */
function comparison(best, score) {
  const less = best.score - score;
  if (less > 0) return `${points(less)} fewer than the best of this run.`;
  if (less < 0) return `${points(-less)} more than the best that this run found so far.`;
  return "As many as the best of this run.";
}

/** @param {Told} told  @param {Placed} [best] */
function place(told, best) {
  if (told.place) return told.place;
  if (best) return comparison(best, told.score);
  return `Scored with ${told.wordlist}. Its place among all ${told.dims} boards is not known here.`;
}

// Given in the address of this page, or the last one of the Board page.  Of a run: scored by its
// words and points, and shown only where it has its size; compared with its best board.
/**
 * @param {HTMLElement} card
 * @param {{ key: string, dims: string | null, best?: Placed } | null} [run]
 */
export async function showOwn(card, run = null) {
  const given = new URLSearchParams(location.search);
  const isGiven = given.has("letters");
  const query = isGiven ? given : new URLSearchParams(remembered());
  if (!query.get("letters")) return;
  if (run) {
    for (const other of [...query.keys()]) {
      if (other !== "letters" && other !== "size") query.delete(other);
    }
    query.set("run", run.key);
  }
  const name = el("p.name", el("a", { href: `/board?${query}` }, "Your board"));
  try {
    /** @type {Told} */
    const told = await ask("/api/board", Object.fromEntries(query));
    if (run && told.dims !== run.dims) return;
    const tiles = el("div.tiles", { role: "img" });
    tiles.setAttribute("aria-label", `Your board. ${layTiles(tiles, told)}`);
    warm(tiles, told.heat);
    fillCard(card, el("div.wrap", tiles), told.score, place(told, run?.best), name);
  } catch (error) {
    if (!isGiven) return;
    fillCard(card, "", null, reason(error), name);
  }
  card.hidden = false;
}
