/** @import { Placed, Pulse, RowsTold } from "../answers" */

import { fillCard, showOwn } from "/static/cards.js";
import { ask, byId, drawing, el, facts, keep, points, showState, write } from "/static/lib.js";

const address = `/api/runs/${byId("run").dataset.key}`;
let version = "";
/** @type {RowsTold | null} */
let answer = null;
let isOwnAsked = false;

/** @param {string} id  @param {string[]} kinds of the cells  @param {string[][]} rows */
function table(id, kinds, rows) {
  const made = rows.map((row) => el("tr", ...row.map((value, at) => el(kinds[at], value))));
  byId(id).replaceChildren(...made);
  byId(`${id}-box`).hidden = !rows.length;
}

/** @param {Pulse} pulse */
function showNow(pulse) {
  const isProven = pulse.state === "proven";
  showState(byId("state"), pulse.state);
  write("question", pulse.question);
  write("claim", pulse.claim);
  byId("claim").hidden = !pulse.claim;
  byId("claim").classList.toggle("proven", isProven);
  write("percent", pulse.percent);
  /** @type {HTMLProgressElement} */ (byId("progress")).value = pulse.share || 0;
  write("done", pulse.done);
  byId("figures").hidden = isProven;
  const share = isProven ? "" : `${pulse.percent} `;
  document.title = share + document.title.replace(/^[\d.]+ % |^– /, "");
  facts(byId("now"), pulse.now);
  table("busy", ["td.n", "td", "td", "td.n", "td.n"], pulse.busy);
  facts(byId("cost"), [
    ["So far, in stored verdicts", answer?.cost, true],
    ["To come", pulse.to_come, true],
  ]);
}

/** @param {Pulse} pulse  @param {RowsTold} answer */
function showAnswer(pulse, answer) {
  const key = byId("run").dataset.key || "";
  byId("notes").replaceChildren();
  for (const note of answer.notes) byId("notes").append(el("p.fault", `Note: ${note}`));
  write("boards-told", answer.boards_told);
  /** @param {Placed} item  @param {...(Node | null)} shown */
  const link = (item, ...shown) => {
    const asked = `letters=${encodeURIComponent(item.typed)}&size=${answer.dims}&run=${key}`;
    return el("a", { href: `/board?${asked}` }, ...shown);
  };
  /** @type {Placed[]} */
  const [first, ...rest] = answer.boards;
  const own = byId("own");
  const best = el("li");
  if (first) {
    const name = el("p.name", link(first, el("code", first.typed)));
    fillCard(best, drawing(first.svg), first.score, first.said, name);
  }
  byId("best").replaceChildren(...(first ? [best, own] : [own]));
  byId("boards").replaceChildren();
  for (const item of rest) {
    const shown = [drawing(item.svg), el("b", points(item.score)), el("span", item.typed)];
    byId("boards").append(el("li", link(item, ...shown), el("span", item.said)));
  }
  if (!isOwnAsked) showOwn(own, { key, dims: answer.dims, best: first });
  isOwnAsked = true;
  const [map, told] = answer.map;
  write("map-told", told);
  byId("map").replaceChildren(drawing(map, told) || "");
  byId("legend").hidden = !map;
  if (map && pulse.state === "running") {
    const time = new Date(1000 * answer.read_at_s).toLocaleTimeString();
    byId("map-told").append(` As of ${time}, when the rows stored so far were read.`);
  }
  facts(byId("check"), answer.check);
}

keep(async () => {
  const pulse = await ask(address);
  if (pulse.version !== version) {
    /** @type {RowsTold} */
    const proven = await ask(`${address}/proven`);
    answer = proven;
    if (proven.dims) showAnswer(pulse, proven);
    version = pulse.version;
  }
  showNow(pulse);
  /** @type {Record<string, number>} */
  const soon = { running: 2000, reading: 700 };
  return soon[pulse.state] || 5000;
});
