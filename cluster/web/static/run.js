/** @import { Drawn, Run } from "../answers" */

import { fillCard, showOwn } from "/static/cards.js";
import { ask, byId, drawing, el, facts, keep, points, showState } from "/static/lib.js";
import { drawMap } from "/static/map.js";

const address = `/api/runs/${byId("run").dataset.key}`;
let version = "";
/** @type {Run} */
let answer = {};
let isOwnAsked = false;

/** @param {string} value */
const cell = (value) => el("td", { textContent: value });
/** @param {string} value */
const number = (value) => el("td", { className: "n", textContent: value });
/** @param {string} value */
const code = (value) => el("code", { textContent: value });

/** @param {Run} pulse */
function showNow(pulse) {
  const isProven = pulse.state === "proven";
  showState(byId("state"), pulse.state);
  byId("question").textContent = pulse.question;
  const claim = byId("claim");
  claim.textContent = pulse.claim;
  claim.hidden = !pulse.claim;
  claim.classList.toggle("proven", isProven);
  byId("percent").textContent = pulse.percent;
  /** @type {HTMLProgressElement} */ (byId("progress")).value = pulse.share || 0;
  byId("done").textContent = pulse.done;
  byId("figures").hidden = isProven;
  const share = isProven ? "" : `${pulse.percent} `;
  document.title = share + document.title.replace(/^[\d.]+ % |^– /, "");
  /** @type {[string, string][]} */
  const now = pulse.now;
  facts(
    byId("now"),
    now.map(([name, value]) => [name, value, value.length > 60]),
  );
  byId("busy-box").hidden = !pulse.busy.length;
  /** @type {string[][]} */
  const working = pulse.busy;
  const busy = working.map(([worker, host, units, time, memory]) =>
    el("tr", {}, number(worker), cell(host), cell(units), number(time), number(memory)),
  );
  byId("busy").replaceChildren(...busy);
  facts(byId("cost"), [
    ["So far, in stored verdicts", answer.cost, true],
    ["To come", pulse.to_come, true],
  ]);
}

/** @param {Run} pulse */
function showAnswer(pulse) {
  const key = byId("run").dataset.key || "";
  const notes = answer.notes.map((/** @type {string} */ note) =>
    el("p", { className: "fault", textContent: `Note: ${note}` }),
  );
  byId("notes").replaceChildren(...notes);
  byId("boards-told").textContent = answer.boards_told;
  /** @param {Drawn} item  @param {...(Node | null)} shown */
  const link = (item, ...shown) => {
    const href = `/board?letters=${encodeURIComponent(item.typed)}&run=${key}`;
    return el("a", { href }, ...shown);
  };
  /** @type {Drawn[]} */
  const [first, ...rest] = answer.boards;
  const own = byId("own");
  const best = el("li", {});
  if (first) {
    const name = el("p", { className: "name" }, link(first, code(first.typed)));
    fillCard(best, drawing(first.svg), first.score, first.said, name);
  }
  byId("best").replaceChildren(...(first ? [best, own] : [own]));
  const others = rest.map((item) => {
    const score = el("b", { textContent: points(item.score) });
    const letters = el("span", { textContent: item.typed });
    const said = el("span", { textContent: item.said });
    return el("li", {}, link(item, drawing(item.svg), score, letters), said);
  });
  byId("boards").replaceChildren(...others);
  if (!isOwnAsked) showOwn(own, { key, dims: answer.dims, best: first });
  isOwnAsked = true;
  const map = /** @type {HTMLCanvasElement} */ (byId("map"));
  drawMap(answer.map, map, byId("map-spoken"), byId("map-told"));
  if (answer.map && pulse.state === "running") {
    const time = new Date(1000 * answer.read_at_s).toLocaleTimeString();
    byId("map-told").textContent += ` As of ${time}, when the rows stored so far were read.`;
  }
  byId("legend").hidden = !answer.map;
  /** @type {string[][]} */
  const expensive = answer.slow;
  const slow = expensive.map(([classId, letters, time, candidates]) =>
    el("tr", {}, number(classId), el("td", {}, code(letters)), number(time), number(candidates)),
  );
  byId("slow-box").hidden = !slow.length;
  byId("slow").replaceChildren(...slow);
  facts(byId("check"), [
    ["Digest of the result", code(answer.digest), true],
    ["Strength, as its claim records it", answer.strength, true],
    ["Verdicts", answer.verdicts],
    ["Disk", answer.disk],
    ["Letter buckets", code(answer.partition), true],
    ["SHA-256 of the list", code(answer.wordlist_sha256), true],
  ]);
}

keep(async () => {
  const pulse = await ask(address);
  if (pulse.version !== version) {
    answer = await ask(`${address}/proven`);
    if (answer.dims) showAnswer(pulse);
    version = pulse.version;
  }
  showNow(pulse);
  /** @type {Record<string, number>} */
  const soon = { running: 2000, reading: 700 };
  return soon[pulse.state] || 5000;
}, byId("fault"));
