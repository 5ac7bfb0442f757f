// The board to play with.  Cells are numbered down the columns, as everywhere; people type along
// the rows.
/** @import { Around, Climb, Told } from "../answers" */

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
  menu,
  offers,
  on,
  points,
  reason,
  rowOrder,
  write,
} from "/static/lib.js";
import { makeGame } from "/static/play.js";
import { warm, wordList } from "/static/tiles.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const tiles = byId("tiles");
const size = menu("size");
const list = menu("list");
const dice = menu("dice");
const words = wordList();
const game = makeGame();
let w = 3;
let h = 3;
/** @type {string[]} */
let cells = [];
let chosen = 0;
/** @type {Told | null} */
let told = null;
/** @type {number[][]} */
let scores = []; // with each letter in each cell; empty: not known
let asking = 0;
let scored = Promise.resolve();
let afterQ = -1;
let nEdits = 0; // letters put or taken away by hand, which a board asked for before does not undo
let diceChosen = 0; // how often; nor does it change that choice

const given = new URLSearchParams(location.search);
// letters beyond a-z that the word list has, by the symbol of each
/** @type {Record<string, string>} */
let names = {};
const RULES = ["plain_q", "min_letters", "scores", "letter_values", "bonus"];

// A cell holds its tile as it is typed: a letter, [th], [a/e], [-ing], . or *.  Keys are symbols.
/** @param {string} symbol */
function typed(symbol) {
  const letter = names[symbol] || symbol;
  const isPlain = letter === symbol || (letter.length === 1 && letter !== "q");
  return isPlain ? letter : `[${letter}]`;
}

/** @param {string} cell */
function faceOf(cell) {
  if (cell === "q" && !field("plain_q").checked) return "Qu";
  return cell.replace(/[[\]]/g, "").replace(/(^|\/)-?./g, (start) => start.toUpperCase());
}

/** @param {string} symbol */
const face = (symbol) => faceOf(typed(symbol));
const board = () => cells.join("");

// Of a run: its own list, and its points unless others are given.
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
const inRows = () => rowOrder(w, h);

/** @param {string} name  @param {string[] | null} [kept]  @param {boolean} [fitDice] */
function resize(name, kept = null, fitDice = true) {
  const before = { cells, w, h };
  [w, h] = name.split("x").map(Number);
  if (!offers(size, name)) size.append(el("option", name));
  size.value = name;
  cells = kept || Array(w * h).fill("");
  for (let x = 0; !kept && x < Math.min(w, before.w); x++) {
    for (let y = 0; y < Math.min(h, before.h); y++) {
      cells[x * h + y] = before.cells[x * before.h + y] || "";
    }
  }
  tiles.style.setProperty("--columns", String(w));
  const fitting = [...dice.options].find((option) => option.dataset.size === name);
  if (fitDice && fitting && dice.selectedOptions[0].dataset.size !== name)
    dice.value = fitting.value;
  const made = inRows().map((cell) =>
    el("input.tile", {
      autocomplete: "off",
      spellcheck: false,
      maxLength: 24,
      autocapitalize: "characters",
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
  }
  choose(chosen);
  words.clear();
  scored = refresh();
}

/** @param {number} cell  @param {string} letter */
function put(cell, letter) {
  nEdits++;
  cells[cell] = letter;
  show();
}

/** @param {number} cell  @param {number} dx  @param {number} dy */
function step(cell, dx, dy) {
  const x = Math.floor(cell / h) + dx;
  const y = (cell % h) + dy;
  return x >= 0 && x < w && y >= 0 && y < h ? x * h + y : cell;
}

/** The cell so many places further along the rows.  @param {number} cell  @param {number} by */
function along(cell, by) {
  const order = inRows();
  return order[Math.min(order.length - 1, Math.max(0, order.indexOf(cell) + by))];
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
  if (letter) inputOf(along(cell, 1)).focus();
  if (letter === "q" && letters !== "qu") afterQ = along(cell, 1); // a u typed now is that of Qu
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
    const isHere = cells[cell] || event.key === "Delete";
    const emptied = isHere ? cell : along(cell, -1);
    put(emptied, "");
    inputOf(emptied).focus();
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

const counts = () => [nEdits, diceChosen];

// Any way to write a board is read where all boards are: on the server.  Returns whether it is
// shown: letters that were typed meanwhile stay.
/** @param {string} text  @param {string} [name]  @param {number[]} [asked] the counts when asked */
async function read(text, name, asked = counts()) {
  const [nBefore, nChosen] = asked;
  try {
    const answer = await ask("/api/board", { letters: text, size: name, ...rules() });
    if (nBefore !== nEdits) return false;
    names = answer.letters;
    resize(answer.dims, answer.cells, nChosen === diceChosen);
    return true;
  } catch (error) {
    const number = asking;
    await scored; // or the score of the board that stays would take the place of the error
    if (number === asking) write("told", reason(error));
    return false;
  }
}

/** @param {number} cell */
function choose(cell) {
  chosen = cell;
  for (const input of inputs())
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  showKeys();
}

// --- the letters below the board: what each would do in the chosen cell ---

/** @type {Map<string, { button: HTMLElement, face: HTMLElement, score: HTMLElement }>} */
const keys = new Map();
for (const letter of LETTERS) {
  const shown = el("span", face(letter));
  const score = el("small");
  const button = el("button", { "data-letter": letter }, shown, score);
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
  const known = scores[chosen];
  const now = told?.score || 0;
  const most = Math.max(...scores.flat().map((value) => Math.abs(value - now)), 1);
  for (const [letter, { button, score }] of keys) {
    const own = cells[chosen] === typed(letter);
    button.setAttribute("aria-pressed", String(own));
    const value = known ? known[LETTERS.indexOf(letter)] : now;
    score.textContent = known ? count(value) : "";
    const worth = known ? `: ${points(value)}` : "";
    button.setAttribute("aria-label", face(letter) + worth);
    const isPlain = own || !known;
    button.style.setProperty("--heat", isPlain ? "transparent" : shade(value - now, most));
  }
  const legend = " and the score of the board with each: redder is better, bluer is worse";
  write("keys-told", `Letters for ${cellName(chosen, h)}${known ? legend : ""}.`);
}

/** @param {number} difference  @param {number} most */
function shade(difference, most) {
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
  write("score", "–");
  heat(null);
  for (const id of ["copy-text", "copy-svg"]) field(id).disabled = !isFull();
  field("climb").disabled = true;
  for (const id of ["save-svg", "save"]) byId(id).hidden = !isFull();
  field("play-it").disabled = true;
  write("place", "");
  told = null;
  scores = [];
  wait(["words", "facts", "near"], isFull());
  showKeys();
  if (!isFull()) {
    const n = cells.filter((letter) => !letter).length;
    write("told", n === cells.length ? "fill every cell" : counted(n, "more letter"));
    words.empty("They appear when the board is full.");
    facts(byId("facts"), []);
    showAround();
    return;
  }
  write("told", "being scored");
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
    names = answer.letters;
    for (const [letter, key] of keys) key.face.textContent = face(letter);
    wait(["words", "facts"], false);
    showScore(answer);
    field("climb").disabled = answer.usual === null;
    if (answer.usual === null) showAround();
    else {
      /** @type {Around} */
      const around = await ask("/api/around", asked);
      if (number !== asking) return;
      scores = around.scores;
      showKeys();
      showAround(around);
    }
    wait(["near"], false);
  } catch (error) {
    if (number !== asking) return;
    write("told", reason(error));
    if (!told) for (const id of ["words", "facts"]) byId(id).replaceChildren();
    showAround();
  }
}

/** @param {number[] | null | undefined} values */
function heat(values) {
  warm(tiles, values);
  byId("legend").hidden = !values;
}

/** @param {Told} told */
function showScore(told) {
  write("score", count(told.score));
  const unit = told.score === 1 ? "point" : "points";
  write("told", `${unit}, ${counted(told.n_words, "word")} of ${told.wordlist}`);
  write("place", told.place || "");
  field("play-it").disabled = false;
  heat(told.heat);
  facts(byId("facts"), [
    ["Board, down the columns", el("code", told.board)],
    ["Canonical form", told.canonical && el("code", told.canonical)],
    ["Dice", told.dice && `${told.dice[0].toUpperCase()}${told.dice.slice(1)}`, true],
  ]);
  words.show([{ words: told.words }]);
}

// --- what can be done with it ---

// The rows of the board and its score, to be sent as a message.
function asText() {
  const faces = inRows().map((cell) => faceOf(cells[cell]).padEnd(2));
  const lines = [];
  while (faces.length) lines.push(faces.splice(0, w).join(" ").trimEnd());
  const words = told && `${counted(told.n_words, "word")} of ${told.wordlist}`;
  const score = told ? `${told.board}: ${points(told.score)}, ${words}` : board();
  return [...lines, "", score].join("\n");
}

// Does what takes a moment, and says what is wrong if it cannot be done.
/** @param {() => Promise<void>} act */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    write(byId("game").matches("[open]") ? "game-spoken" : "done", reason(error));
  }
}

const roll = () =>
  attempt(async () => {
    const asked = counts();
    const rolled = await ask("/api/game", { ...rules(), dice: dice.value });
    const isShown = await read(rolled.board, rolled.dims, asked);
    if (isShown) write("done", `Rolled ${rolled.board}.`);
  });
on("roll", "click", roll);
/** @param {Told} board */
function play(board) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("game"));
  game.set(board, true);
  if (!dialog.open) dialog.showModal();
  byId("start").focus();
}
on("play-it", "click", () => {
  if (told) play(told);
});

// A fresh board with so many words as the goal asks for; its answers stay under the game.
async function rollAndPlay() {
  const rollers = ["roll-play", "again"].map(field);
  for (const roller of rollers) roller.disabled = true;
  await attempt(async () => {
    const query = { ...rules(), dice: dice.value, goal: field("goal").value };
    const asked = counts();
    /** @type {Told} */
    const rolled = await ask("/api/game", query);
    play(rolled);
    const isShown = await read(rolled.board, rolled.dims, asked);
    if (isShown) write("done", `Rolled ${rolled.board}.`);
  });
  for (const roller of rollers) roller.disabled = false;
}
on("roll-play", "click", () => {
  field("goal").value ||= "20";
  rollAndPlay();
});
on("again", "click", rollAndPlay);
byId("again").hidden = false;
on("game", "close", game.stop);
on("clear", "click", () => {
  nEdits++;
  cells.fill("");
  chosen = 0;
  show();
  inputOf(0).focus();
});
/** @param {Climb} answer */
function climbTold(answer) {
  const [[name, score] = ["", 0]] = answer.found;
  if (!name || name === told?.canonical) return "No better board was found from here.";
  const pool = `in a pool of ${count(answer.pool)}${answer.complete ? "" : " when time was up"}`;
  return `Climbed to ${points(score)}, ${pool}. No proof that there is no better.`;
}

on("climb", "click", async () => {
  field("climb").disabled = true;
  write("done", "Climbing: this takes up to ten seconds…");
  await attempt(async () => {
    /** @type {Climb} */
    const answer = await ask("/api/climb", question());
    write("done", climbTold(answer));
    byId("climbed").hidden = false;
    const choices = answer.found.map(([name, score]) => choice(name, points(score)));
    byId("climbed-list").replaceChildren(...choices);
  });
  field("climb").disabled = !told || told.usual === null;
});

/** @param {string} name  @param {string} text */
function choice(name, text) {
  const button = el("button", el("code", name), el("small", text));
  button.addEventListener("click", () => {
    read(name, size.value);
    window.scrollTo({ top: 0, behavior: "smooth" });
  });
  return el("li", button);
}

/** @param {number} n */
const signed = (n) => (n > 0 ? `+${count(n)}` : count(n).replace("-", "−"));

/** The best boards one step away; without any their place goes.  @param {Around} [around] */
function showAround(around) {
  byId("around").hidden = !around;
  const steps = around?.best.map(([name, change, score, more]) =>
    choice(name, `${change}: ${points(score)} (${signed(more)})`),
  );
  byId("near").replaceChildren(...(steps || []));
}

on("copy-text", "click", () => copy(asText(), "Text"));
on("copy-svg", "click", async () => {
  const word = byId("words").querySelector("[aria-pressed='true']");
  await attempt(async () => {
    const svg = await ask("/api/board.svg", { ...question(), word: word?.textContent });
    await copy(svg, "SVG");
  });
});
dice.addEventListener("change", () => diceChosen++);
size.addEventListener("change", () => resize(size.value));
for (const changed of [list, ...RULES.map(byId)]) changed.addEventListener("change", show);

for (const name of RULES) {
  const rule = given.get(name);
  if (!rule) continue;
  field(name).value = rule;
  field(name).checked = true;
  byId("rules").setAttribute("open", "");
}
const ownList = given.get("list");
if (given.get("run")) list.prepend(el("option", { value: "", selected: true }, "that of the run"));
else if (ownList) {
  if (!offers(list, ownList))
    list.prepend(el("option", { value: ownList }, `${ownList} (not here)`));
  list.value = ownList;
}
const letters = given.get("letters");
const wanted = given.get("size") || "";
const isSize = /^([1-9]|10)x([1-9]|10)$/.test(wanted);
resize(isSize ? wanted : "4x4");
if (letters) read(letters, wanted);
else if (!isSize) roll().then(() => inputOf(0).focus());
else inputOf(0).focus({ preventScroll: true });
