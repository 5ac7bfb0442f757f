import { ask, byId, count, drawing, duration, el, keep, showState } from "/static/lib.js";

const list = byId("runs");
const rows = new Map();

function make(run) {
  const parts = {
    thumb: el("div", { className: "thumb" }), link: el("a", { href: `/runs/${run.key}`, textContent: run.name }),
    pill: el("span", { className: "pill" }), line: el("p", { className: "line" }), bar: el("progress", { max: 1 }),
    score: el("div", { className: "score" }), board: "",
  };
  parts.bar.setAttribute("aria-label", `Classes done of ${run.name}`);
  parts.item = el("li", {}, parts.thumb, el("div", {}, el("h2", {}, parts.link, " ", parts.pill), parts.line, parts.bar), parts.score);
  rows.set(run.key, parts);
  return parts;
}

function line(run) {
  if (run.state === "unreadable") return run.error;
  const asked = run.dims ? [`${run.dims}, ${run.wordlist}, cutoff ${count(run.cutoff)}`] : [];
  const progress = (run.live && run.live.progress) || {};
  if (run.n_classes) asked.push(`${count(run.n_classes_done)} of ${count(run.n_classes)} classes (${run.percent})`);
  if (run.state === "running" && progress.remaining_s !== undefined && progress.remaining_s !== null) asked.push(`about ${duration(progress.remaining_s)} left`);
  return asked.join(" · ");
}

function show(run) {
  const parts = rows.get(run.key) || make(run);
  showState(parts.pill, run.state);
  parts.line.textContent = line(run);
  if (run.n_classes) parts.bar.value = run.n_classes_done / run.n_classes;
  parts.bar.hidden = !run.n_classes;
  const best = run.best;
  if ((best ? best.board : "") !== parts.board) {
    parts.board = best ? best.board : "";
    parts.thumb.replaceChildren(...[best && drawing(best.svg)].filter(Boolean));
  }
  parts.score.replaceChildren(...(best ? [el("b", { textContent: count(best.score) }), el("span", { textContent: run.state === "proven" ? "points, proven best" : "points so far" })] : []));
  return parts.item;
}

keep(async () => {
  const runs = await ask(list.dataset.source);
  const shown = runs.map(show);
  if (shown.length !== list.children.length || shown.some((item, at) => list.children[at] !== item)) list.replaceChildren(...shown);
  byId("none").hidden = runs.length > 0;
  list.setAttribute("aria-busy", "false");
  return runs.some((run) => run.state === "running" || run.state === "reading") ? 2000 : 5000;
}, byId("fault"));
