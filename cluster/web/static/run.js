import { ago, ask, byId, count, drawing, duration, el, facts, keep, points, showState } from "/static/lib.js";
import { fillCard, showOwn } from "/static/cards.js";
import { drawMap } from "/static/map.js";

const address = `/api/runs/${byId("run").dataset.key}`;
let version = "";
let found = {};
let isOwnAsked = false;

function question(pulse) {
  if (!found.rows_state) return "";
  const words = found.n_words ? `, ${count(found.n_words)} words` : "";
  return `${found.dims} boards, word list ${found.wordlist}${words}, ${found.scores} points, cutoff ${count(found.cutoff)}`;
}

function showNow(pulse) {
  showState(byId("state"), pulse.state);
  byId("question").textContent = question(pulse);
  const fault = byId("claim"), live = pulse.live || {}, progress = live.progress || {};
  const claim = pulse.state === "unreadable" ? pulse.error
    : pulse.state === "proven" ? `Proven. ${found.statement || ""}`
    : pulse.state === "running" ? "Not proven yet: the search goes on, and what is shown was found so far."
    : found.rows_state ? `Not proven${pulse.state === "faulty" ? "" : " yet"}: what is shown was found so far. In the way: ${found.why_not_proven || "its rows are being read"}.` : "";
  fault.textContent = claim;
  fault.hidden = !claim;
  fault.classList.toggle("proven", pulse.state === "proven");
  byId("percent").textContent = pulse.percent;
  byId("progress").value = pulse.n_classes ? pulse.n_classes_done / pulse.n_classes : 0;
  byId("done").textContent = pulse.n_classes ? `${count(pulse.n_classes_done)} of ${count(pulse.n_classes)} classes` : "not known yet";
  byId("figures").hidden = pulse.state === "proven";
  document.title = `${pulse.state === "proven" ? "" : `${pulse.percent} `}${document.title.replace(/^[\d.]+ % |^– /, "")}`;
  facts(byId("now"), live.is_running ? running(live, progress) : ended(live));
}

function running(live, progress) {
  const names = Object.entries(progress.hosts || {});
  const hosts = names.length === 1 ? `on ${names[0][0]}` : names.map(([name, n]) => `${name} ${n}`).join(", ");
  return [
    ["Time left", live.time_left, true],
    ["Rate", live.rate],
    ["Units", progress.n_open === undefined ? "" : `${count(progress.n_open)} open, ${count(progress.n_in_flight)} being searched, ${count(progress.n_split)} split`],
    ["Workers", progress.n_workers ? `${count(progress.n_workers)} ${hosts}` : "none up yet"],
    ["Memory", progress.n_total_bytes ? `${size(progress.n_free_bytes)} of ${size(progress.n_total_bytes)} free on the driver's machine` : ""],
    ["Trouble", trouble(progress) || "none"],
    ["Driver", live.driver],
    ["Figures from", progress.time ? ago(progress.time) : "the driver is starting up"],
  ];
}

function ended(live) {
  const end = live.end, progress = live.progress;
  if (end) return [["Last session", end.complete ? `done ${ago(end.time)}` : `ended ${ago(end.time)}: ${end.message || ""}`]];
  return progress ? [["Last session", `ended without a word, last heard of ${ago(progress.time)}: killed, or its machine is gone`]] : [["Driver", "nobody works on it"]];
}

function trouble(progress) {
  return [[progress.n_deaths, "workers lost"], [progress.n_strikes, "strikes"], [progress.n_requeued, "units tried again"], [progress.n_quarantined, "units given up"]]
    .filter(([n]) => n).map(([n, what]) => `${count(n)} ${what}`).join(", ");
}

function showBusy(live) {
  const busy = (live && live.is_running && live.progress && live.progress.busy) || [];
  byId("busy-box").hidden = !busy.length;
  const more = (n) => (n > 1 ? ` and ${count(n - 1)} more ${n === 2 ? "unit" : "units"}` : "");
  const since_s = (item) => item.seconds + Math.max(0, Date.now() / 1000 - live.progress.time);
  byId("busy").replaceChildren(...busy.map((item) => el("tr", {}, el("td", { className: "n", textContent: item.worker }), el("td", { textContent: item.host }), el("td", { textContent: `class ${count(item.class_id)} ${item.path}`.trim() + more(item.n_units) }), el("td", { className: "n", textContent: duration(since_s(item)) }), el("td", { className: "n", textContent: item.n_bytes ? size(item.n_bytes) : "" }))));
}

const size = (bytes) => {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${(bytes / 1024 ** step).toFixed(step ? 1 : 0)} ${["bytes", "KiB", "MiB", "GiB", "TiB"][step]}`;
};

function showFound(pulse) {
  byId("notes").replaceChildren(...(found.notes || []).map((text) => el("p", { className: "fault", textContent: `Note: ${text}` })));
  const boards = found.boards || [];
  byId("boards-told").textContent = boards.length ? `${found.proven ? "Exactly" : "Found so far:"} ${count(found.n_boards)} ${found.n_boards === 1 ? "board scores" : "boards score"} ${count(found.cutoff)} or more, up to symmetry${found.n_boards > boards.length ? `; the best ${boards.length} of them` : ""}.`
    : found.proven ? "No board reaches the cutoff." : "No board that reaches the cutoff was found so far.";
  const link = (item, ...shown) => el("a", { href: `/board?letters=${encodeURIComponent(item.typed)}&run=${byId("run").dataset.key}` }, ...shown);
  const [first, ...rest] = boards, own = byId("own"), best = el("li", {});
  if (first) fillCard(best, drawing(first.svg), first.score, first.said, el("p", { className: "name" }, link(first, el("code", { textContent: first.typed }))));
  byId("best").replaceChildren(...(first ? [best, own] : [own]));
  byId("boards").replaceChildren(...rest.map((item) => el("li", {}, link(item, drawing(item.svg), el("b", { textContent: points(item.score) }), el("span", { textContent: item.typed })), el("span", { textContent: item.said }))));
  if (!isOwnAsked) showOwn(own, { key: byId("run").dataset.key, dims: found.dims, best: first });
  isOwnAsked = true;
  drawMap(found.map, byId("map"), byId("map-spoken"), byId("map-told"));
  if (found.map && pulse.state === "running") byId("map-told").textContent += ` As of ${new Date(1000 * found.read_at_s).toLocaleTimeString()}, when the rows stored so far were read.`;
  byId("legend").hidden = !found.map;
  byId("slow-box").hidden = !(found.slow || []).length;
  byId("slow").replaceChildren(...(found.slow || []).map((item) => el("tr", {}, el("td", { className: "n", textContent: count(item.class_id) }), el("td", {}, el("code", { textContent: item.letters })), el("td", { className: "n", textContent: duration(item.seconds) }), el("td", { className: "n", textContent: count(item.found) }))));
  facts(byId("check"), [["Digest of the result", el("code", { textContent: found.digest }), true], ["Strength, as its claim records it", found.strength, true], ["Verdicts", `${count(found.n_units)} stored, by ${count(found.n_hosts)} ${found.n_hosts === 1 ? "host" : "hosts"}`], ["Disk", found.disk && `${size(found.disk[0])} taken, ${size(found.disk[1])} free`], ["Letter buckets", el("code", { textContent: found.partition }), true], ["SHA-256 of the list", el("code", { textContent: found.wordlist_sha256 }), true]]);
}

function showCost(pulse) {
  const progress = (pulse.live && pulse.live.is_running && pulse.live.progress) || {};
  const hours = (found.seconds || 0) / 3600;
  const money = (value) => (found.price && value * found.price >= 0.005 ? `, ${(value * found.price).toFixed(2)} at ${found.price} an hour` : "");
  const told = (value) => `${value < 0.1 ? `${(value * 3600).toFixed(value * 3600 < 10 ? 1 : 0)} seconds` : `${value.toFixed(1)} hours`} of one worker${money(value)}`;
  const left = progress.remaining_s, n = progress.n_workers;
  facts(byId("cost"), [
    ["So far, in stored verdicts", found.rows_state ? `${told(hours)}, by the clock: on a busy machine a worker has less than a core` : "", true],
    ["To come", pulse.state === "proven" ? "nothing" : left !== undefined && left !== null && n ? `about ${told((left * n) / 3600)}, if the guess of the time left holds` : "unknown: no driver that works on it has said how long still", true],
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
  return pulse.state === "running" ? 2000 : pulse.state === "reading" ? 700 : 5000;
}, byId("fault"));
