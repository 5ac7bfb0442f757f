// The board to play with.  Cells are numbered down the columns, as everywhere; people type along
// the rows.
/** @import { Around, Climb, Told } from "../answers" */

import { showAround } from "/static/around.js";
import { remember } from "/static/cards.js";
import {
  ask,
  byId,
  cellName,
  copy,
  count,
  counted,
  el,
  facts,
  field,
  graphic,
  menu,
  points,
  reason,
} from "/static/lib.js";
import { makeGame } from "/static/play.js";
import { hintsAtMore, warm, wordList } from "/static/tiles.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const tiles = byId("tiles");
const size = menu("size");
const list = menu("list");
const dice = menu("dice");
const words = wordList({
  box: byId("words"),
  filter: field("filter"),
  tiles,
  trace: graphic("trace"),
  spoken: byId("spoken"),
});
const game = makeGame();
let w = 3;
let h = 3;
/** @type {string[]} */
let cells = [];
let chosen = 0;
/** @type {Told | null} */
let told = null;
/** @type {Around | null} */
let around = null;
let asking = 0;
let scored = Promise.resolve();
let afterQ = -1;

const given = new URLSearchParams(location.search);
// letters beyond a-z that the word list has, by the symbol of each
/** @type {Record<string, string>} */
let names = {};
const RULES = ["plain_q", "min_letters", "scores", "letter_values", "bonus"];

// A cell holds its tile as it is typed: a letter, [th], [a/e], [-ing], . or *.  Answers about usual
// boards have symbols.
/** @param {string} symbol */
function typed(symbol) {
  const letter = names[symbol] || symbol;
  const isPlain = letter === symbol || (letter.length === 1 && letter !== "q");
  return isPlain ? letter : `[${letter}]`;
}

/** @param {string} cell */
function faceOf(cell) {
  if (cell === "q") return "Qu";
  return cell.replace(/[[\]]/g, "").replace(/(^|\/)-?./g, (start) => start.toUpperCase());
}

/** @param {string} symbol */
export const face = (symbol) => faceOf(typed(symbol));
/** @param {string} symbols */
export const spelled = (symbols) => [...symbols].map(typed).join("");
const board = () => cells.join("");

// Of a run: its own list and points.
function rules() {
  /** @type {Record<string, string>} */
  const chosen = list.value ? { list: list.value } : { run: given.get("run") || "" };
  for (const name of RULES) {
    const rule = field(name);
    const value = rule.type === "checkbox" ? rule.checked && "1" : rule.value.trim();
    if (value) chosen[name] = value;
  }
  return chosen;
}

/** @returns {Record<string, string>} */
const question = () => ({ letters: board(), size: size.value, ...rules() });
const isFull = () => cells.every((letter) => letter);
const inputs = () => /** @type {HTMLInputElement[]} */ ([...tiles.children]);
/** @param {number} cell */
const inputOf = (cell) => inputs()[inRows().indexOf(cell)];
/** @param {Event} event */
const inputAt = (event) => /** @type {HTMLInputElement} */ (event.target);

// The cells as people read them.
function inRows() {
  return cells.map((_, at) => (at % w) * h + Math.floor(at / w));
}

/** @param {string} name  @param {string[] | null} [kept] */
function resize(name, kept = null) {
  const before = { cells, w, h };
  [w, h] = name.split("x").map(Number);
  if (![...size.options].some((option) => option.value === name))
    size.append(el("option", { textContent: name }));
  size.value = name;
  cells = kept || Array(w * h).fill("");
  for (let x = 0; !kept && x < Math.min(w, before.w); x++) {
    for (let y = 0; y < Math.min(h, before.h); y++) {
      cells[x * h + y] = before.cells[x * before.h + y] || "";
    }
  }
  tiles.style.setProperty("--columns", String(w));
  const fitting = [...dice.options].find((option) => option.dataset.size === name);
  if (fitting && dice.selectedOptions[0].dataset.size !== name) dice.value = fitting.value;
  const made = inRows().map((cell) =>
    el("input", {
      className: "tile",
      type: "text",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 24,
      autocapitalize: "characters",
      inputmode: "text",
      "data-cell": cell,
      "aria-label": cellName(cell, h),
    }),
  );
  tiles.replaceChildren(...made);
  chosen = Math.min(chosen, cells.length - 1);
  show();
}

function show() {
  for (const input of inputs()) {
    const shown = faceOf(cells[Number(input.dataset.cell)]);
    if (input.value !== shown) input.value = shown;
    input.style.setProperty("--n", String(Math.max(2, shown.length)));
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  }
  words.clear();
  scored = refresh();
}

/** @param {Record<string, string>} letters */
function name(letters) {
  names = letters;
  for (const [letter, key] of keys) key.face.textContent = face(letter);
}

/** @param {number} cell  @param {string} letter */
function put(cell, letter) {
  cells[cell] = letter;
  show();
}

/** @param {number} cell  @param {number} dx  @param {number} dy */
function step(cell, dx, dy) {
  const x = Math.floor(cell / h) + dx;
  const y = (cell % h) + dy;
  return x >= 0 && x < w && y >= 0 && y < h ? x * h + y : cell;
}

/** @param {number} cell */
function nextInRow(cell) {
  const order = inRows();
  return order[Math.min(order.length - 1, order.indexOf(cell) + 1)];
}

tiles.addEventListener("focusin", (event) => {
  choose(Number(inputAt(event).dataset.cell));
  inputAt(event).select();
});
tiles.addEventListener("input", (event) => {
  const input = inputAt(event);
  const cell = Number(input.dataset.cell);
  const isRestOfQu =
    /** @type {InputEvent} */ (event).data?.toLowerCase() === "u" && afterQ === cell;
  afterQ = -1;
  if (isRestOfQu) {
    input.value = faceOf(cells[cell]);
    input.select();
    return;
  }
  const own = input.value.toLowerCase();
  const tile = own.match(/\[[^\]]+\]/);
  if (own.includes("[") && !tile) return; // a tile of several letters is being written
  const letters = own.replace(/[^\p{L}.*]/gu, "");
  let letter = letters.replace("qu", "").slice(-1) || letters.slice(-1);
  if (letters === "qu") letter = "q";
  if (tile) letter = tile[0];
  put(cell, letter);
  if (letter) inputOf(nextInRow(cell)).focus();
  if (letter === "q" && letters !== "qu") afterQ = nextInRow(cell); // a u typed now is that of Qu
});
/** @type {Record<string, [dx: number, dy: number]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

tiles.addEventListener("keydown", (event) => {
  const cell = Number(inputAt(event).dataset.cell);
  const move = MOVES[event.key];
  if (move) {
    event.preventDefault();
    const next = inputOf(step(cell, ...move));
    next.focus();
    next.select();
  } else if (event.key === "Backspace" || event.key === "Delete") {
    event.preventDefault();
    const order = inRows();
    const before = order[Math.max(0, order.indexOf(cell) - 1)];
    if (cells[cell] || event.key === "Delete") put(cell, "");
    else {
      put(before, "");
      inputOf(before).focus();
    }
  }
});
tiles.addEventListener("paste", (event) => {
  // without the line that Copy as text adds
  const pasted = event.clipboardData?.getData("text") || "";
  const text = pasted.replace(/^.*: [\d,]+ points?\b.*$/m, "");
  if (text.trim().length < 4) return;
  event.preventDefault();
  read(text);
});

// Any way to write a board is read where all boards are: on the server.
/** @param {string} text  @param {string} [name] */
async function read(text, name) {
  try {
    const answer = await ask("/api/board", { letters: text, size: name, ...rules() });
    names = answer.letters;
    resize(answer.dims, answer.cells);
  } catch (error) {
    const number = asking;
    await scored; // or the score of the board that stays would take the place of the error
    if (number === asking) byId("told").textContent = reason(error);
  }
}

/** @param {number} cell */
function choose(cell) {
  chosen = cell;
  for (const input of inputs())
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  showKeys();
}

/** @param {string} symbols */
export function use(symbols) {
  cells = [...symbols].map(typed);
  show();
  window.scrollTo({ top: 0, behavior: "smooth" });
}

// --- the letters below the board: what each would do in the chosen cell ---

/** @type {Map<string, { button: HTMLElement, face: HTMLElement, score: HTMLElement }>} */
const keys = new Map();
for (const letter of LETTERS) {
  const shown = el("span", { textContent: face(letter) });
  const score = el("small", {});
  const button = el("button", { type: "button", "data-letter": letter }, shown, score);
  button.addEventListener("click", () => press(letter));
  keys.set(letter, { button, face: shown, score });
  byId("keys").append(button);
}

/** @param {string} letter */
function press(letter) {
  put(chosen, typed(letter));
  const order = inRows();
  const at = order.indexOf(chosen);
  const empty = [...order.slice(at), ...order.slice(0, at)].find((cell) => !cells[cell]);
  if (empty !== undefined) choose(empty);
}

function showKeys() {
  const scores = around?.scores[chosen];
  const now = told?.score || 0;
  const all = scores ? around?.scores.flat() || [] : [];
  const most = Math.max(...all.map((value) => Math.abs(value - now)), 1);
  for (const [letter, { button, score }] of keys) {
    const own = cells[chosen] === typed(letter);
    const value = scores ? scores[LETTERS.indexOf(letter)] : null;
    button.setAttribute("aria-pressed", String(own));
    score.textContent = value === null ? "" : count(value);
    const worth = value === null ? "" : `: ${points(value)}`;
    button.setAttribute("aria-label", face(letter) + worth);
    const isPlain = value === null || own;
    button.style.setProperty("--heat", isPlain ? "transparent" : shade(value - now, most));
  }
  const legend = " and the score of the board with each: redder is better, bluer is worse";
  byId("keys-told").textContent = `Letters for ${cellName(chosen, h)}${scores ? legend : ""}.`;
}

/** @param {number} difference  @param {number} most */
export function shade(difference, most) {
  const share = Math.min(1, Math.abs(difference) / most) * 0.62;
  return `rgba(var(${difference > 0 ? "--warm-rgb" : "--cold-rgb"}), ${share.toFixed(3)})`;
}

// --- score and words ---

// What is said of the board before stays in its place, dim and out of reach, until the answer about
// this one is there.
/** @param {string[]} ids  @param {boolean} isWaiting */
function wait(ids, isWaiting) {
  for (const id of ids) byId(id).inert = isWaiting;
}

async function refresh() {
  const number = ++asking;
  const asked = question();
  const query = new URLSearchParams(asked);
  if (!isFull()) query.delete("letters");
  history.replaceState(null, "", `/board?${query}`);
  byId("score").textContent = "–";
  heat(null);
  for (const id of ["copy-text", "copy-svg"]) field(id).disabled = !isFull();
  field("climb").disabled = true;
  for (const id of ["save-svg", "save"]) byId(id).hidden = !isFull();
  field("play-it").disabled = true;
  byId("place").textContent = "";
  told = around = null;
  wait(["words", "facts", "heat", "near"], isFull());
  showKeys();
  if (isFull()) byId("told").textContent = "being scored";
  else {
    const n = cells.filter((letter) => !letter).length;
    byId("told").textContent = n === cells.length ? "fill every cell" : counted(n, "more letter");
    words.empty("They appear when the board is full.");
    facts(byId("facts"), []);
    showAround(null);
    return;
  }
  const files = { "save-svg": "svg?", "save-page": "html?", "save-game": "html?hidden=1&" };
  for (const [id, file] of Object.entries(files)) {
    byId(id).setAttribute("href", `/api/board.${file}${query}`);
    byId(id).setAttribute("download", `${asked.letters}.${file.split("?")[0]}`);
  }
  try {
    /** @type {Told} */
    const answer = await ask("/api/board", asked);
    if (number !== asking) return;
    if (answer.dims !== size.value) {
      resize(answer.dims, answer.cells); // turned: the same game
      return;
    }
    told = answer;
    remember(query.toString());
    name(answer.letters);
    wait(["words", "facts"], false);
    showScore(answer);
    if (answer.usual === null) {
      wait(["heat", "near"], false);
      showAround(null);
      return;
    }
    field("climb").disabled = false;
    const near = await ask("/api/around", asked);
    if (number !== asking) return;
    around = near;
    wait(["heat", "near"], false);
    showKeys();
    showAround({ ...near, told: answer, h }, { shade, use, put });
  } catch (error) {
    if (number !== asking) return;
    byId("told").textContent = reason(error);
    if (!told) {
      byId("words").replaceChildren();
      byId("facts").replaceChildren();
    }
    showAround(null);
  }
}

/** @param {number[] | null | undefined} values */
function heat(values) {
  warm(tiles, values);
  byId("legend").hidden = !values;
}

/** @param {Told} told */
function showScore(told) {
  byId("score").textContent = count(told.score);
  const unit = told.score === 1 ? "point" : "points";
  byId("told").textContent = `${unit}, ${counted(told.n_words, "word")} of ${told.wordlist}`;
  byId("place").textContent = told.place || "";
  field("play-it").disabled = false;
  heat(told.heat);
  facts(byId("facts"), [
    ["Board, down the columns", el("code", { textContent: told.board })],
    ["Canonical form", told.canonical && el("code", { textContent: told.canonical })],
    ["Dice", told.dice && `${told.dice[0].toUpperCase()}${told.dice.slice(1)}`, true],
  ]);
  words.show([{ words: told.words }]);
}

// --- what can be done with it ---

// The rows of the board and its score, to be sent as a message.
function asText() {
  const faces = inRows().map((cell) => faceOf(cells[cell]).padEnd(2));
  const lines = [];
  for (let at = 0; at < faces.length; at += w) {
    lines.push(
      faces
        .slice(at, at + w)
        .join(" ")
        .trimEnd(),
    );
  }
  const words = told && `${counted(told.n_words, "word")} of ${told.wordlist}`;
  const score = told ? `${told.board}: ${points(told.score)}, ${words}` : board();
  return [...lines, "", score].join("\n");
}

async function roll() {
  try {
    const rolled = await ask("/api/roll", { dice: dice.value });
    await read(rolled.board, rolled.dims);
    byId("done").textContent = `Rolled ${rolled.board}.`;
  } catch (error) {
    byId("done").textContent = reason(error);
  }
}
byId("roll").addEventListener("click", roll);
/** @param {Told} board */
function play(board) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("game"));
  game.set(board, true);
  if (!dialog.open) dialog.showModal();
  byId("start").focus();
}
byId("play-it").addEventListener("click", () => {
  if (told) play(told);
});

// A fresh board with so many words as the goal asks for; its answers stay under the game.
async function rollAndPlay() {
  const rollers = ["roll-play", "again"];
  for (const id of rollers) field(id).disabled = true;
  try {
    const asked = { ...rules(), dice: dice.value, goal: field("goal").value };
    /** @type {Told} */
    const rolled = await ask("/api/game", asked);
    play(rolled);
    await read(rolled.board, rolled.dims);
  } catch (error) {
    byId(byId("game").matches("[open]") ? "heard" : "done").textContent = reason(error);
  }
  for (const id of rollers) field(id).disabled = false;
}
byId("roll-play").addEventListener("click", () => {
  field("goal").value ||= "20";
  rollAndPlay();
});
byId("again").addEventListener("click", rollAndPlay);
byId("again").hidden = false;
byId("game").addEventListener("close", game.stop);
byId("clear").addEventListener("click", () => {
  cells = cells.map(() => "");
  chosen = 0;
  show();
  inputOf(0).focus();
});
/** @param {Climb} answer */
function climbTold(answer) {
  const [best] = answer.found;
  if (!best || spelled(best.board) === told?.canonical)
    return "No better board was found from here.";
  const pool = `in a pool of ${count(answer.pool)}${answer.complete ? "" : " when time was up"}`;
  return `Climbed to ${points(best.score)}, ${pool}. No proof that there is no better.`;
}

byId("climb").addEventListener("click", async () => {
  const asked = question();
  field("climb").disabled = true;
  byId("done").textContent = "Climbing: this takes up to ten seconds…";
  try {
    /** @type {Climb} */
    const answer = await ask("/api/climb", asked);
    byId("done").textContent = climbTold(answer);
    byId("climbed").hidden = false;
    const choices = answer.found.map((item) =>
      choice(spelled(item.board), points(item.score), () => use(item.board)),
    );
    byId("climbed-list").replaceChildren(...choices);
  } catch (error) {
    byId("done").textContent = reason(error);
  }
  field("climb").disabled = !told || told.usual === null;
});

/** @param {string} name  @param {string} text  @param {() => void} act */
export function choice(name, text, act) {
  const button = el(
    "button",
    { type: "button" },
    el("code", { textContent: name }),
    el("small", { textContent: text }),
  );
  button.addEventListener("click", act);
  return el("li", {}, button);
}

byId("copy-text").addEventListener("click", () => copy(asText(), byId("done"), "Text"));
byId("copy-svg").addEventListener("click", async () => {
  const word = byId("words").querySelector("[aria-pressed='true']");
  const query = new URLSearchParams(question());
  if (word) query.set("word", word.textContent);
  try {
    await copy(await ask(`/api/board.svg?${query}`), byId("done"), "SVG");
  } catch (error) {
    byId("done").textContent = reason(error);
  }
});
size.addEventListener("change", () => resize(size.value));
for (const changed of [list, ...RULES.map(byId)]) changed.addEventListener("change", show);

for (const name of RULES.filter((name) => given.get(name))) {
  field(name).value = given.get(name) || "";
  field(name).checked = true;
  byId("rules").setAttribute("open", "");
}
const ownList = given.get("list");
if (given.get("run"))
  list.prepend(el("option", { value: "", textContent: "that of the run", selected: true }));
else if (ownList) {
  const isHere = [...list.options].some((option) => option.value === ownList);
  if (!isHere) list.prepend(el("option", { value: ownList, textContent: `${ownList} (not here)` }));
  list.value = ownList;
}
hintsAtMore(byId("map"));
const letters = given.get("letters");
const wanted = given.get("size") || "";
const isSize = /^([1-9]|10)x([1-9]|10)$/.test(wanted);
resize(isSize ? wanted : "4x4");
if (letters) read(letters, wanted);
else if (!isSize) roll().then(() => inputOf(0).focus());
else inputOf(0).focus({ preventScroll: true });
