/** @import { Drawn, Run } from "../answers" */

import { fillCard, showOwn } from "/static/cards.js";
import {
  ago,
  ask,
  byId,
  count,
  counted,
  drawing,
  duration,
  el,
  facts,
  keep,
  points,
  showState,
} from "/static/lib.js";
import { drawMap } from "/static/map.js";

const address = `/api/runs/${byId("run").dataset.key}`;
let version = "";
/** @type {Run} */
let found = {};
let isOwnAsked = false;

function question() {
  if (!found.rows_state) return "";
  const words = found.n_words ? `, ${count(found.n_words)} words` : "";
  const list = `word list ${found.wordlist}${words}`;
  return `${found.dims} boards, ${list}, ${found.scores} points, cutoff ${count(found.cutoff)}`;
}

/** @param {Run} pulse */
function claimed(pulse) {
  if (pulse.state === "unreadable") return pulse.error;
  if (pulse.state === "proven") return `Proven. ${found.statement || ""}`;
  if (pulse.state === "running")
    return "Not proven yet: the search goes on, and what is shown was found so far.";
  if (!found.rows_state) return "";
  const yet = pulse.state === "faulty" ? "" : " yet";
  const why = found.why_not_proven || "its rows are being read";
  return `Not proven${yet}: what is shown was found so far. In the way: ${why}.`;
}

/** @param {Run} pulse */
function showNow(pulse) {
  showState(byId("state"), pulse.state);
  byId("question").textContent = question();
  const fault = byId("claim");
  const live = pulse.live || {};
  const claim = claimed(pulse);
  fault.textContent = claim;
  fault.hidden = !claim;
  fault.classList.toggle("proven", pulse.state === "proven");
  byId("percent").textContent = pulse.percent;
  /** @type {HTMLProgressElement} */ (byId("progress")).value = pulse.n_classes
    ? pulse.n_classes_done / pulse.n_classes
    : 0;
  byId("done").textContent = pulse.n_classes
    ? `${count(pulse.n_classes_done)} of ${count(pulse.n_classes)} classes`
    : "not known yet";
  byId("figures").hidden = pulse.state === "proven";
  const share = pulse.state === "proven" ? "" : `${pulse.percent} `;
  document.title = share + document.title.replace(/^[\d.]+ % |^– /, "");
  facts(byId("now"), live.is_running ? running(live, live.progress || {}) : ended(live));
}

/**
 * @param {Run} live
 * @param {Run} progress
 * @returns {Parameters<typeof facts>[1]}
 */
function running(live, progress) {
  const names = Object.entries(progress.hosts || {});
  const hosts =
    names.length === 1 ? `on ${names[0][0]}` : names.map(([name, n]) => `${name} ${n}`).join(", ");
  /** @type {[number, string][]} */
  const units = [
    [progress.n_open, "open"],
    [progress.n_in_flight, "being searched"],
    [progress.n_split, "split"],
  ];
  const free = `${size(progress.n_free_bytes)} of ${size(progress.n_total_bytes)}`;
  return [
    ["Time left", live.time_left, true],
    ["Rate", live.rate],
    ["Units", progress.n_open === undefined ? "" : listed(units)],
    ["Workers", progress.n_workers ? `${count(progress.n_workers)} ${hosts}` : "none up yet"],
    ["Memory", progress.n_total_bytes ? `${free} free on the driver's machine` : ""],
    ["Trouble", trouble(progress) || "none"],
    ["Driver", live.driver],
    ["Figures from", progress.time ? ago(progress.time) : "the driver is starting up"],
  ];
}

/** @param {Run} live @returns {Parameters<typeof facts>[1]} */
function ended(live) {
  const end = live.end;
  const progress = live.progress;
  if (end) {
    const how = end.complete ? "done" : "ended";
    const why = end.complete ? "" : `: ${end.message || ""}`;
    return [["Last session", `${how} ${ago(end.time)}${why}`]];
  }
  if (!progress) return [["Driver", "nobody works on it"]];
  const last = `ended without a word, last heard of ${ago(progress.time)}`;
  return [["Last session", `${last}: killed, or its machine is gone`]];
}

/** @param {[number, string][]} counts */
const listed = (counts) => counts.map(([n, what]) => `${count(n)} ${what}`).join(", ");

/** @param {Run} progress */
function trouble(progress) {
  /** @type {[number, string][]} */
  const counts = [
    [progress.n_deaths, "workers lost"],
    [progress.n_strikes, "strikes"],
    [progress.n_requeued, "units tried again"],
    [progress.n_quarantined, "units given up"],
  ];
  return listed(counts.filter(([n]) => n));
}

/** @param {string} value */
const text = (value) => el("td", { textContent: value });
/** @param {string} value */
const number = (value) => el("td", { className: "n", textContent: value });
/** @param {string} value */
const code = (value) => el("code", { textContent: value });

/** @param {Run} live */
function showBusy(live) {
  const progress = (live?.is_running && live.progress) || {};
  const busy = progress.busy || [];
  byId("busy-box").hidden = !busy.length;
  /** @param {Run} item */
  const since_s = (item) => item.seconds + Math.max(0, Date.now() / 1000 - progress.time);
  const rows = busy.map((/** @type {Run} */ item) => {
    const more = item.n_units > 1 ? ` and ${counted(item.n_units - 1, "more unit")}` : "";
    return el(
      "tr",
      {},
      number(item.worker),
      text(item.host),
      text(`class ${count(item.class_id)} ${item.path}`.trim() + more),
      number(duration(since_s(item))),
      number(item.n_bytes ? size(item.n_bytes) : ""),
    );
  });
  byId("busy").replaceChildren(...rows);
}

/** @param {number} bytes */
const size = (bytes) => {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const unit = ["bytes", "KiB", "MiB", "GiB", "TiB"][step];
  return `${(bytes / 1024 ** step).toFixed(step ? 1 : 0)} ${unit}`;
};

/** @param {Drawn[]} boards */
function boardsTold(boards) {
  if (!boards.length) {
    if (found.proven) return "No board reaches the cutoff.";
    return "No board that reaches the cutoff was found so far.";
  }
  const how = found.proven ? "Exactly" : "Found so far:";
  const score = found.n_boards === 1 ? "board scores" : "boards score";
  const rest = found.n_boards > boards.length ? `; the best ${boards.length} of them` : "";
  const reach = `${count(found.cutoff)} or more, up to symmetry`;
  return `${how} ${count(found.n_boards)} ${score} ${reach}${rest}.`;
}

/** @param {Run} pulse */
function showFound(pulse) {
  const key = byId("run").dataset.key || "";
  const notes = (found.notes || []).map((/** @type {string} */ note) =>
    el("p", { className: "fault", textContent: `Note: ${note}` }),
  );
  byId("notes").replaceChildren(...notes);
  /** @type {Drawn[]} */
  const boards = found.boards || [];
  byId("boards-told").textContent = boardsTold(boards);
  /** @param {Drawn} item  @param {...(Node | null)} shown */
  const link = (item, ...shown) => {
    const href = `/board?letters=${encodeURIComponent(item.typed)}&run=${key}`;
    return el("a", { href }, ...shown);
  };
  const [first, ...rest] = boards;
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
  if (!isOwnAsked) showOwn(own, { key, dims: found.dims, best: first });
  isOwnAsked = true;
  const map = /** @type {HTMLCanvasElement} */ (byId("map"));
  drawMap(found.map, map, byId("map-spoken"), byId("map-told"));
  if (found.map && pulse.state === "running") {
    const time = new Date(1000 * found.read_at_s).toLocaleTimeString();
    byId("map-told").textContent += ` As of ${time}, when the rows stored so far were read.`;
  }
  byId("legend").hidden = !found.map;
  const slow = (found.slow || []).map((/** @type {Run} */ item) =>
    el(
      "tr",
      {},
      number(count(item.class_id)),
      el("td", {}, code(item.letters)),
      number(duration(item.seconds)),
      number(count(item.found)),
    ),
  );
  byId("slow-box").hidden = !slow.length;
  byId("slow").replaceChildren(...slow);
  const hosts = counted(found.n_hosts, "host");
  facts(byId("check"), [
    ["Digest of the result", code(found.digest), true],
    ["Strength, as its claim records it", found.strength, true],
    ["Verdicts", `${count(found.n_units)} stored, by ${hosts}`],
    ["Disk", found.disk && `${size(found.disk[0])} taken, ${size(found.disk[1])} free`],
    ["Letter buckets", code(found.partition), true],
    ["SHA-256 of the list", code(found.wordlist_sha256), true],
  ]);
}

// Of one worker: its time, and what that costs.
/** @param {number} hours */
function workTold(hours) {
  const seconds = hours * 3600;
  const cost = hours * (found.price || 0);
  const money = cost >= 0.005 ? `, ${cost.toFixed(2)} at ${found.price} an hour` : "";
  const exact = `${seconds.toFixed(seconds < 10 ? 1 : 0)} seconds`;
  const time = hours < 0.1 ? exact : `${hours.toFixed(1)} hours`;
  return `${time} of one worker${money}`;
}

/** @param {Run} pulse */
function costToCome(pulse) {
  if (pulse.state === "proven") return "nothing";
  const progress = (pulse.live?.is_running && pulse.live.progress) || {};
  const left = progress.remaining_s;
  const n = progress.n_workers;
  if (left === undefined || left === null || !n)
    return "unknown: no driver that works on it has said how long still";
  return `about ${workTold((left * n) / 3600)}, if the guess of the time left holds`;
}

/** @param {Run} pulse */
function showCost(pulse) {
  const hours = (found.seconds || 0) / 3600;
  const clock = "by the clock: on a busy machine a worker has less than a core";
  facts(byId("cost"), [
    ["So far, in stored verdicts", found.rows_state ? `${workTold(hours)}, ${clock}` : "", true],
    ["To come", costToCome(pulse), true],
  ]);
}

keep(async () => {
  const pulse = await ask(address);
  if (pulse.version !== version) {
    found = await ask(`${address}/proven`);
    if (found.rows_state) showFound(pulse);
    version = pulse.version;
  }
  showNow(pulse);
  showBusy(pulse.live);
  showCost(pulse);
  /** @type {Record<string, number>} */
  const soon = { running: 2000, reading: 700 };
  return soon[pulse.state] || 5000;
}, byId("fault"));
