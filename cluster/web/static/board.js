// The board to play with.  Cells are numbered down the columns, as everywhere; people type along the rows.
import { ask, byId, copy, count, el, facts, points } from "/static/lib.js";
import { showAround } from "/static/around.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const tiles = byId("tiles"), trace = byId("trace"), size = byId("size"), list = byId("list");
let w = 3, h = 3, cells = [], chosen = 0, told = null, around = null, asking = 0;

const given = new URLSearchParams(location.search);
let names = {}; // letters beyond a-z that the word list has, by the symbol of each
const RULES = ["plain_q", "min_letters", "scores", "letter_values", "bonus"];
// A cell holds its tile as it is typed: a letter, [th], [a/e], [-ing], . or *.  Answers about usual boards have symbols.
const typed = (symbol) => { const letter = names[symbol] || symbol; return letter === symbol || (letter.length === 1 && letter !== "q") ? letter : `[${letter}]`; };
const faceOf = (cell) => (cell === "q" ? "Qu" : cell.replace(/[[\]]/g, "").replace(/(^|\/)-?./g, (start) => start.toUpperCase()));
export const face = (symbol) => faceOf(typed(symbol));
export const spelled = (symbols) => [...symbols].map(typed).join("");
const board = () => cells.join("");
const rules = () => {
  const asked = RULES.map((name) => [name, byId(name).type === "checkbox" ? (byId(name).checked ? "1" : "") : byId(name).value.trim()]);
  return { ...(list.value ? { list: list.value } : { run: given.get("run") }), ...Object.fromEntries(asked.filter(([, value]) => value)) }; // of a run: its own list and points
};
const isFull = () => cells.every((letter) => letter);
const inputs = () => [...tiles.children];
const inputOf = (cell) => inputs().find((input) => Number(input.dataset.cell) === cell);

function resize(name, kept = null) {
  const before = { cells, w, h };
  [w, h] = name.split("x").map(Number);
  if (![...size.options].some((option) => option.value === name)) size.append(el("option", { textContent: name }));
  size.value = name;
  cells = Array(w * h).fill("");
  if (kept) cells = kept;
  else for (let x = 0; x < Math.min(w, before.w); x++) for (let y = 0; y < Math.min(h, before.h); y++) cells[x * h + y] = before.cells[x * before.h + y] || "";
  tiles.style.setProperty("--columns", w);
  const made = [];
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
    const input = el("input", { className: "tile", type: "text", autocomplete: "off", spellcheck: false, maxLength: 24 });
    for (const [key, value] of Object.entries({ autocapitalize: "characters", inputmode: "text", "data-cell": x * h + y, "aria-label": `Row ${y + 1}, column ${x + 1}` })) input.setAttribute(key, value);
    made.push(input);
  }
  tiles.replaceChildren(...made);
  chosen = Math.min(chosen, cells.length - 1);
  show();
}

function show() {
  for (const input of inputs()) {
    const shown = faceOf(cells[Number(input.dataset.cell)]);
    if (input.value !== shown) input.value = shown;
    input.classList.toggle("small", w > 4 || shown.length > 2);
    input.classList.toggle("tiny", w > 7 || shown.length > 3);
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  }
  clearPath();
  refresh();
}

function name(letters) {
  names = letters;
  for (const key of byId("keys").children) key.querySelector("span").textContent = face(key.dataset.letter);
}

function put(cell, letter) { cells[cell] = letter; show(); }

function step(cell, dx, dy) {
  const x = Math.floor(cell / h) + dx, y = (cell % h) + dy;
  return x >= 0 && x < w && y >= 0 && y < h ? x * h + y : cell;
}

function nextInRow(cell) {
  const order = inputs().map((input) => Number(input.dataset.cell));
  return order[Math.min(order.length - 1, order.indexOf(cell) + 1)];
}

tiles.addEventListener("focusin", (event) => { choose(Number(event.target.dataset.cell)); event.target.select(); });
tiles.addEventListener("input", (event) => {
  const cell = Number(event.target.dataset.cell);
  const own = event.target.value.toLowerCase(), tile = own.match(/\[[^\]]+\]/);
  if (own.includes("[") && !tile) return; // a tile of several letters is being written
  const letters = own.replace(/[^\p{L}.*]/gu, "");
  const letter = tile ? tile[0] : letters === "qu" ? "q" : letters.replace("qu", "").slice(-1) || letters.slice(-1);
  put(cell, letter);
  if (letter) inputOf(nextInRow(cell)).focus();
});
tiles.addEventListener("keydown", (event) => {
  const cell = Number(event.target.dataset.cell);
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (move) { event.preventDefault(); inputOf(step(cell, ...move)).focus(); inputOf(step(cell, ...move)).select(); }
  else if (event.key === "Backspace" || event.key === "Delete") {
    event.preventDefault();
    const order = inputs().map((input) => Number(input.dataset.cell)), before = order[Math.max(0, order.indexOf(cell) - 1)];
    if (cells[cell] || event.key === "Delete") put(cell, "");
    else { put(before, ""); inputOf(before).focus(); }
  }
});
tiles.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (text.trim().length < 4) return;
  event.preventDefault();
  read(text);
});

// Any way to write a board is read where all boards are: on the server.
async function read(text, name) {
  try {
    const answer = await ask("/api/board", { letters: text, size: name, ...rules() });
    names = answer.letters;
    resize(answer.dims, answer.cells);
  } catch (error) { byId("done").textContent = error.message; }
}

function choose(cell) {
  chosen = cell;
  for (const input of inputs()) input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  showKeys();
}

export function use(symbols) {
  cells = [...symbols].map(typed);
  show();
  window.scrollTo({ top: 0, behavior: "smooth" });
}

// --- the letters below the board: what each would do in the chosen cell ---

byId("keys").append(...[...LETTERS].map((letter) => {
  const key = el("button", { type: "button" }, el("span", { textContent: face(letter) }), el("small", {}));
  key.dataset.letter = letter;
  return key;
}));
byId("keys").addEventListener("click", (event) => {
  const key = event.target.closest("button");
  if (!key) return;
  put(chosen, typed(key.dataset.letter));
  if (!isFull()) { let cell = chosen; for (let i = 0; i < cells.length && cells[cell]; i++) cell = cell === nextInRow(cell) ? 0 : nextInRow(cell); choose(cell); }
});

function showKeys() {
  const scores = around && around.scores[chosen];
  const most = scores ? Math.max(...around.scores.flat().map((value) => Math.abs(value - told.score)), 1) : 1;
  for (const key of byId("keys").children) {
    const letter = key.dataset.letter, own = cells[chosen] === typed(letter);
    const value = scores ? scores[LETTERS.indexOf(letter)] : null;
    key.setAttribute("aria-pressed", String(own));
    key.querySelector("small").textContent = value === null ? "" : count(value);
    key.setAttribute("aria-label", value === null ? face(letter) : `${face(letter)}: ${points(value)}`);
    key.style.setProperty("--heat", value === null || own ? "transparent" : shade(value - told.score, most));
  }
  const x = Math.floor(chosen / h) + 1, y = (chosen % h) + 1;
  byId("keys-told").textContent = `Row ${y}, column ${x}${scores ? ": the score of the board with each letter there." : "."}`;
}

export function shade(difference, most) {
  const share = Math.min(1, Math.abs(difference) / most) * 0.62;
  return `rgba(var(${difference > 0 ? "--warm-rgb" : "--cold-rgb"}), ${share.toFixed(3)})`;
}

// --- score and words ---

// What is said of the board before stays in its place, dim and out of reach, until the answer about this one is there.
function wait(ids, isWaiting) { for (const id of ids) byId(id).inert = isWaiting; }

async function refresh() {
  const number = ++asking;
  const asked = { letters: board(), size: size.value, ...rules() };
  history.replaceState(null, "", `/board?${new URLSearchParams(isFull() ? asked : { size: size.value, ...rules() })}`);
  byId("score").textContent = "–";
  heat(null);
  for (const id of ["copy-text", "copy-svg"]) byId(id).disabled = !isFull();
  byId("climb").disabled = true;
  byId("save-svg").hidden = !isFull();
  told = around = null;
  wait(["words", "facts", "heat", "near"], isFull());
  showKeys();
  if (isFull()) byId("told").textContent = "being scored";
  else {
    const n = cells.filter((letter) => !letter).length;
    byId("told").textContent = n === cells.length ? "fill every cell" : `${n} more ${n === 1 ? "letter" : "letters"}`;
    byId("words").replaceChildren(el("p", { className: "soft", textContent: "They appear when the board is full." }));
    facts(byId("facts"), []);
    showAround(null);
    return;
  }
  byId("save-svg").href = `/api/board.svg?${new URLSearchParams(asked)}`;
  byId("save-svg").setAttribute("download", `${asked.letters}.svg`);
  try {
    const answer = await ask("/api/board", asked);
    if (number !== asking) return;
    if (answer.dims !== size.value) { resize(answer.dims, answer.cells); return; } // turned: the same game
    told = answer;
    name(told.letters);
    wait(["words", "facts"], false);
    showScore();
    if (told.usual === null) { wait(["heat", "near"], false); showAround(null); return; }
    byId("climb").disabled = false;
    const near = await ask("/api/around", asked);
    if (number !== asking) return;
    around = near;
    wait(["heat", "near"], false);
    showKeys();
    showAround(around, told, h, { shade, use, put });
  } catch (error) {
    if (number !== asking) return;
    byId("told").textContent = error.message;
    if (!told) for (const id of ["words", "facts"]) byId(id).replaceChildren();
    showAround(null);
  }
}

function heat(values) {
  const low = values ? Math.min(...values) : 0, high = values ? Math.max(...values) : 0;
  for (const input of inputs()) {
    const value = values ? values[Number(input.dataset.cell)] : 0;
    input.style.setProperty("--share", values ? (0.06 + (high > low ? (0.55 * (value - low)) / (high - low) : 0.2)).toFixed(3) : "0");
  }
}

function showScore() {
  byId("score").textContent = count(told.score);
  byId("told").textContent = `${told.score === 1 ? "point" : "points"}, ${count(told.n_words)} ${told.n_words === 1 ? "word" : "words"} of ${told.wordlist}`;
  heat(told.heat);
  facts(byId("facts"), [
    ["Board, down the columns", el("code", { textContent: told.board })],
    ["Canonical form", told.canonical && el("code", { textContent: told.canonical })],
    ["Dice", told.dice && `${told.dice[0].toUpperCase()}${told.dice.slice(1)}`, true],
  ]);
  showWords();
}

function showWords() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const groups = new Map();
  for (const item of told.words) if (!wanted || item.word.includes(wanted)) groups.set(item.letters, [...(groups.get(item.letters) || []), item]);
  const made = [...groups].map(([letters, items]) => {
    const head = el("h3", { textContent: `${letters} letters ` }, el("span", { textContent: `${items.every((item) => item.points === items[0].points) ? `${points(items[0].points)} each, ` : ""}${items.length}` }));
    const buttons = items.map((item, at) => {
      const button = el("button", { type: "button", textContent: item.word, tabIndex: at ? -1 : 0 });
      button.setAttribute("aria-pressed", "false");
      button.dataset.path = item.path.join(",");
      button.dataset.points = points(item.points);
      return button;
    });
    const group = el("div", { className: "words" }, ...buttons);
    group.setAttribute("role", "toolbar");
    group.setAttribute("aria-label", `Words of ${letters} letters`);
    return el("div", {}, head, group);
  });
  byId("words").replaceChildren(...(made.length ? made : [el("p", { className: "soft", textContent: wanted ? "No word has that in it." : "No word of the list is on this board." })]));
  clearPath();
}

byId("filter").addEventListener("input", () => { if (told) showWords(); });
byId("words").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-path]");
  if (!button) return;
  const again = button.getAttribute("aria-pressed") === "true";
  clearPath();
  if (again) return;
  drawPath(button);
  if (tiles.getBoundingClientRect().bottom < 40) tiles.scrollIntoView({ behavior: "smooth", block: "start" });
});
byId("words").addEventListener("keydown", (event) => {
  const button = event.target.closest("button[data-path]");
  const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e6, End: 1e6 }[event.key];
  if (!button || !move) return;
  event.preventDefault();
  const all = [...button.parentElement.children], to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(button) + move))];
  all.forEach((other) => { other.tabIndex = other === to ? 0 : -1; });
  to.focus();
  clearPath();
  drawPath(to);
});

function clearPath() {
  trace.replaceChildren();
  byId("spoken").textContent = "";
  tiles.querySelectorAll(".on").forEach((input) => input.classList.remove("on"));
  byId("words").querySelectorAll("[aria-pressed='true']").forEach((button) => button.setAttribute("aria-pressed", "false"));
}

function drawPath(button) {
  const path = button.dataset.path.split(",").map(Number), frame = trace.getBoundingClientRect();
  const spots = path.map((cell) => { const box = inputOf(cell).getBoundingClientRect(); return [box.x + box.width / 2 - frame.x, box.y + box.height / 2 - frame.y, box.width]; });
  const draw = (tag, values) => { const made = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const [name, value] of Object.entries(values)) made.setAttribute(name, value); return made; };
  const wide = spots[0][2];
  trace.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  trace.append(draw("polyline", { points: spots.map(([x, y]) => `${x},${y}`).join(" "), "stroke-width": wide * 0.11 }), draw("circle", { cx: spots[0][0], cy: spots[0][1], r: wide * 0.2 }));
  path.forEach((cell) => inputOf(cell).classList.add("on"));
  button.setAttribute("aria-pressed", "true");
  byId("spoken").textContent = `${button.textContent}: ${button.dataset.points}`;
}
addEventListener("resize", () => {
  const shown = byId("words").querySelector("[aria-pressed='true']");
  if (!shown) return;
  trace.replaceChildren();
  drawPath(shown);
});

// --- what can be done with it ---

function rows() {
  const made = [];
  for (let y = 0; y < h; y++) made.push(Array.from({ length: w }, (_, x) => faceOf(cells[x * h + y])));
  return made;
}

byId("roll").addEventListener("click", async () => {
  try { const rolled = await ask("/api/roll", { dice: byId("dice").value }); await read(rolled.board, rolled.dims); byId("done").textContent = `Rolled ${rolled.board}.`; }
  catch (error) { byId("done").textContent = error.message; }
});
byId("clear").addEventListener("click", () => { cells = cells.map(() => ""); chosen = 0; show(); inputOf(0).focus(); });
byId("climb").addEventListener("click", async () => {
  const asked = { letters: board(), size: size.value, ...rules() };
  byId("climb").disabled = true;
  byId("done").textContent = "Climbing: this takes up to ten seconds…";
  try {
    const answer = await ask("/api/climb", asked);
    byId("done").textContent = answer.found.length && spelled(answer.found[0].board) !== (told && told.canonical) ? `Climbed to ${points(answer.found[0].score)}, in a pool of ${count(answer.pool)}${answer.complete ? "" : " when time was up"}. No proof that there is no better.` : "No better board was found from here.";
    byId("climbed").hidden = false;
    byId("climbed-list").replaceChildren(...answer.found.map((item) => choice(spelled(item.board), points(item.score), () => use(item.board))));
  } catch (error) { byId("done").textContent = error.message; }
  byId("climb").disabled = !told || told.usual === null;
});

export function choice(name, text, act) {
  const button = el("button", { type: "button" }, el("code", { textContent: name }), el("small", { textContent: text }));
  button.addEventListener("click", act);
  return el("li", {}, button);
}

byId("copy-link").addEventListener("click", () => copy(location.href, byId("done"), "Link"));
byId("copy-text").addEventListener("click", () => copy([...rows().map((row) => row.map((text) => text.padEnd(2)).join(" ").trimEnd()), "", told ? `${told.board}: ${points(told.score)}, ${count(told.n_words)} words of ${told.wordlist}` : board()].join("\n"), byId("done"), "Text"));
byId("copy-svg").addEventListener("click", async () => {
  const word = byId("words").querySelector("[aria-pressed='true']");
  const query = new URLSearchParams({ letters: board(), size: size.value, ...rules(), ...(word ? { word: word.textContent } : {}) });
  try { await copy(await (await fetch(`/api/board.svg?${query}`)).text(), byId("done"), "SVG"); } catch (error) { byId("done").textContent = error.message; }
});
size.addEventListener("change", () => resize(size.value));
for (const changed of [list, ...RULES.map(byId)]) changed.addEventListener("change", show);

for (const name of RULES) if (given.get(name)) { byId(name).value = given.get(name); byId(name).checked = true; byId("rules").open = true; }
if (given.get("run")) list.prepend(el("option", { value: "", textContent: "that of the run", selected: true }));
else if (given.get("list")) {
  if (![...list.options].some((option) => option.value === given.get("list"))) list.prepend(el("option", { value: given.get("list"), textContent: `${given.get("list")} (not here)` }));
  list.value = given.get("list");
}
const letters = given.get("letters"), wanted = given.get("size") || "";
resize(/^([1-9]|10)x([1-9]|10)$/.test(wanted) ? wanted : "3x3");
if (letters) read(letters, wanted);
