// The runs, or the records: their best boards first.
/** @import { Pulse } from "../answers" */

import { fillCard, showOwn } from "/static/cards.js";
import { ask, byId, drawing, el, keep, showState } from "/static/lib.js";

const page = byId("runs");
const own = byId("own");
const cards = new Map();

/** @param {Pulse} run */
function make(run) {
  /** @type {Record<string, any>} */
  const parts = {
    link: el("a", { href: `/runs/${run.key}` }, run.name),
    pill: el("span.pill"),
    line: el("p.line.soft"),
    bar: el("progress", { max: 1, "aria-label": `Classes done of ${run.name}` }),
  };
  parts.item = page.querySelector(`[data-key="${run.key}"]`) || el("li");
  cards.set(run.key, parts);
  return parts;
}

// Proofs lead, the largest first; then what goes on, by size.
/** @param {Pulse} run */
function weight(run) {
  const [w, h] = (run.dims || "0x0").split("x").map(Number);
  return w * h + (run.state === "proven" ? 1000 : 0);
}

/** @param {Pulse} run */
function show(run) {
  const parts = cards.get(run.key) || make(run);
  const best = run.best;
  showState(parts.pill, run.state);
  parts.line.textContent = run.line;
  parts.bar.value = run.share || 0;
  parts.bar.hidden = run.share === null || run.state === "proven";
  const now = JSON.stringify([best, run.said]);
  if (now !== parts.shown) {
    parts.shown = now;
    const name = el("p.name", parts.link, " ", parts.pill);
    let drawn = drawing(best?.svg);
    if (!drawn && run.state === "reading")
      drawn = el("p.being-read", `Reading the rows of ${run.name}`);
    fillCard(parts.item, drawn, best?.score ?? null, run.said, name, parts.line, parts.bar);
  }
  return parts.item;
}

keep(async () => {
  /** @type {Pulse[]} */
  const runs = await ask(page.dataset.source || "");
  if (page.matches("ul")) runs.sort((a, b) => weight(b) - weight(a));
  const shown = runs.map(show);
  if (page.matches("ul")) {
    shown.splice(1, 0, own);
    const isOther = shown.some((item, at) => page.children[at] !== item);
    if (isOther || shown.length !== page.children.length) page.replaceChildren(...shown);
    byId("none").hidden = runs.length > 0;
  }
  page.setAttribute("aria-busy", "false");
  const isBusy = runs.some((run) => run.state === "running" || run.state === "reading");
  return isBusy ? 2000 : Number(page.dataset.wait);
});
if (own) showOwn(own);
