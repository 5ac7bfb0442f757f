// The board to play with.  Cells are numbered down the columns, as everywhere; people type along the rows.
import { ask, byId, cellName, copy, count, el, facts, points } from "/static/lib.js";
import { showAround } from "/static/around.js";
import { remember } from "/static/cards.js";
import { makeGame } from "/static/play.js";
import { hintsAtMore, warm, wordList } from "/static/words.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const tiles = byId("tiles");
const size = byId("size");
const list = byId("list");
const dice = byId("dice");
const words = wordList({
  box: byId("words"),
  filter: byId("filter"),
  tiles,
  trace: byId("trace"),
  spoken: byId("spoken"),
});
const game = makeGame();
let w = 3;
let h = 3;
let cells = [];
let chosen = 0;
let told = null;
let around = null;
let asking = 0;
let scored = null;
let afterQ = -1;

const given = new URLSearchParams(location.search);
let names = {}; // letters beyond a-z that the word list has, by the symbol of each
const RULES = ["plain_q", "min_letters", "scores", "letter_values", "bonus"];
// A cell holds its tile as it is typed: a letter, [th], [a/e], [-ing], . or *.  Answers about usual boards have symbols.
const typed = (symbol) => {
  const letter = names[symbol] || symbol;
  return letter === symbol || (letter.length === 1 && letter !== "q") ? letter : `[${letter}]`;
};
const faceOf = (cell) =>
  cell === "q"
    ? "Qu"
    : cell.replace(/[[\]]/g, "").replace(/(^|\/)-?./g, (start) => start.toUpperCase());
export const face = (symbol) => faceOf(typed(symbol));
export const spelled = (symbols) => [...symbols].map(typed).join("");
const board = () => cells.join("");
const rules = () => {
  const asked = RULES.map((name) => [
    name,
    byId(name).type === "checkbox" ? (byId(name).checked ? "1" : "") : byId(name).value.trim(),
  ]);
  return {
    ...(list.value ? { list: list.value } : { run: given.get("run") }),
    ...Object.fromEntries(asked.filter(([, value]) => value)),
  }; // of a run: its own list and points
};
const isFull = () => cells.every((letter) => letter);
const inputs = () => [...tiles.children];
const inputOf = (cell) => inputs().find((input) => Number(input.dataset.cell) === cell);

function resize(name, kept = null) {
  const before = { cells, w, h };
  [w, h] = name.split("x").map(Number);
  if (![...size.options].some((option) => option.value === name))
    size.append(el("option", { textContent: name }));
  size.value = name;
  cells = Array(w * h).fill("");
  if (kept) cells = kept;
  else
    for (let x = 0; x < Math.min(w, before.w); x++)
      for (let y = 0; y < Math.min(h, before.h); y++)
        cells[x * h + y] = before.cells[x * before.h + y] || "";
  tiles.style.setProperty("--columns", w);
  const fitting = [...dice.options].find((option) => option.dataset.size === name);
  if (fitting && dice.selectedOptions[0].dataset.size !== name) dice.value = fitting.value;
  const made = [];
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++) {
      const input = el("input", {
        className: "tile",
        type: "text",
        autocomplete: "off",
        spellcheck: false,
        maxLength: 24,
      });
      for (const [key, value] of Object.entries({
        autocapitalize: "characters",
        inputmode: "text",
        "data-cell": x * h + y,
        "aria-label": cellName(x * h + y, h),
      }))
        input.setAttribute(key, value);
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
    input.style.setProperty("--n", Math.max(2, shown.length));
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  }
  words.clear();
  scored = refresh();
}

function name(letters) {
  names = letters;
  for (const key of byId("keys").children)
    key.querySelector("span").textContent = face(key.dataset.letter);
}

function put(cell, letter) {
  cells[cell] = letter;
  show();
}

function step(cell, dx, dy) {
  const x = Math.floor(cell / h) + dx;
  const y = (cell % h) + dy;
  return x >= 0 && x < w && y >= 0 && y < h ? x * h + y : cell;
}

function nextInRow(cell) {
  const order = inputs().map((input) => Number(input.dataset.cell));
  return order[Math.min(order.length - 1, order.indexOf(cell) + 1)];
}

tiles.addEventListener("focusin", (event) => {
  choose(Number(event.target.dataset.cell));
  event.target.select();
});
tiles.addEventListener("input", (event) => {
  const cell = Number(event.target.dataset.cell);
  const isRestOfQu = event.data && event.data.toLowerCase() === "u" && afterQ === cell;
  afterQ = -1;
  if (isRestOfQu) {
    event.target.value = faceOf(cells[cell]);
    event.target.select();
    return;
  }
  const own = event.target.value.toLowerCase();
  const tile = own.match(/\[[^\]]+\]/);
  if (own.includes("[") && !tile) return; // a tile of several letters is being written
  const letters = own.replace(/[^\p{L}.*]/gu, "");
  const letter = tile
    ? tile[0]
    : letters === "qu"
      ? "q"
      : letters.replace("qu", "").slice(-1) || letters.slice(-1);
  put(cell, letter);
  if (letter) inputOf(nextInRow(cell)).focus();
  if (letter === "q" && letters !== "qu") afterQ = nextInRow(cell); // a u typed now is that of Qu
});
tiles.addEventListener("keydown", (event) => {
  const cell = Number(event.target.dataset.cell);
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
    event.key
  ];
  if (move) {
    event.preventDefault();
    inputOf(step(cell, ...move)).focus();
    inputOf(step(cell, ...move)).select();
  } else if (event.key === "Backspace" || event.key === "Delete") {
    event.preventDefault();
    const order = inputs().map((input) => Number(input.dataset.cell));
    const before = order[Math.max(0, order.indexOf(cell) - 1)];
    if (cells[cell] || event.key === "Delete") put(cell, "");
    else {
      put(before, "");
      inputOf(before).focus();
    }
  }
});
tiles.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text").replace(/^.*: [\d,]+ points?\b.*$/m, ""); // the line that Copy as text adds
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
  } catch (error) {
    const number = asking;
    await scored; // or the score of the board that stays would take the place of the error
    if (number === asking) byId("told").textContent = error.message;
  }
}

function choose(cell) {
  chosen = cell;
  for (const input of inputs())
    input.classList.toggle("chosen", Number(input.dataset.cell) === chosen);
  showKeys();
}

export function use(symbols) {
  cells = [...symbols].map(typed);
  show();
  window.scrollTo({ top: 0, behavior: "smooth" });
}

// --- the letters below the board: what each would do in the chosen cell ---

byId("keys").append(
  ...[...LETTERS].map((letter) => {
    const key = el(
      "button",
      { type: "button" },
      el("span", { textContent: face(letter) }),
      el("small", {}),
    );
    key.dataset.letter = letter;
    return key;
  }),
);
byId("keys").addEventListener("click", (event) => {
  const key = event.target.closest("button");
  if (!key) return;
  put(chosen, typed(key.dataset.letter));
  if (!isFull()) {
    let cell = chosen;
    for (let i = 0; i < cells.length && cells[cell]; i++)
      cell = cell === nextInRow(cell) ? 0 : nextInRow(cell);
    choose(cell);
  }
});

function showKeys() {
  const scores = around?.scores[chosen];
  const most = scores
    ? Math.max(...around.scores.flat().map((value) => Math.abs(value - told.score)), 1)
    : 1;
  for (const key of byId("keys").children) {
    const letter = key.dataset.letter;
    const own = cells[chosen] === typed(letter);
    const value = scores ? scores[LETTERS.indexOf(letter)] : null;
    key.setAttribute("aria-pressed", String(own));
    key.querySelector("small").textContent = value === null ? "" : count(value);
    key.setAttribute(
      "aria-label",
      value === null ? face(letter) : `${face(letter)}: ${points(value)}`,
    );
    key.style.setProperty(
      "--heat",
      value === null || own ? "transparent" : shade(value - told.score, most),
    );
  }
  byId("keys-told").textContent =
    `Letters for ${cellName(chosen, h)}${scores ? " and the score of the board with each: redder is better, bluer is worse." : "."}`;
}

export function shade(difference, most) {
  const share = Math.min(1, Math.abs(difference) / most) * 0.62;
  return `rgba(var(${difference > 0 ? "--warm-rgb" : "--cold-rgb"}), ${share.toFixed(3)})`;
}

// --- score and words ---

// What is said of the board before stays in its place, dim and out of reach, until the answer about this one is there.
function wait(ids, isWaiting) {
  for (const id of ids) byId(id).inert = isWaiting;
}

async function refresh() {
  const number = ++asking;
  const asked = { letters: board(), size: size.value, ...rules() };
  history.replaceState(
    null,
    "",
    `/board?${new URLSearchParams(isFull() ? asked : { size: size.value, ...rules() })}`,
  );
  byId("score").textContent = "–";
  heat(null);
  for (const id of ["copy-text", "copy-svg"]) byId(id).disabled = !isFull();
  byId("climb").disabled = true;
  for (const id of ["save-svg", "save-page"]) byId(id).hidden = !isFull();
  byId("play-it").disabled = true;
  byId("place").textContent = "";
  told = around = null;
  wait(["words", "facts", "heat", "near"], isFull());
  showKeys();
  if (isFull()) byId("told").textContent = "being scored";
  else {
    const n = cells.filter((letter) => !letter).length;
    byId("told").textContent =
      n === cells.length ? "fill every cell" : `${n} more ${n === 1 ? "letter" : "letters"}`;
    words.empty("They appear when the board is full.");
    facts(byId("facts"), []);
    showAround(null);
    return;
  }
  for (const [kind, ending] of [
    ["svg", "svg"],
    ["page", "html"],
  ]) {
    byId(`save-${kind}`).href = `/api/board.${ending}?${new URLSearchParams(asked)}`;
    byId(`save-${kind}`).setAttribute("download", `${asked.letters}.${ending}`);
  }
  try {
    const answer = await ask("/api/board", asked);
    if (number !== asking) return;
    if (answer.dims !== size.value) {
      resize(answer.dims, answer.cells);
      return;
    } // turned: the same game
    told = answer;
    remember(new URLSearchParams(asked).toString());
    name(told.letters);
    wait(["words", "facts"], false);
    showScore();
    if (told.usual === null) {
      wait(["heat", "near"], false);
      showAround(null);
      return;
    }
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
  warm(tiles, values);
  byId("legend").hidden = !values;
}

function showScore() {
  byId("score").textContent = count(told.score);
  byId("told").textContent =
    `${told.score === 1 ? "point" : "points"}, ${count(told.n_words)} ${told.n_words === 1 ? "word" : "words"} of ${told.wordlist}`;
  byId("place").textContent = told.place || "";
  byId("play-it").disabled = false;
  heat(told.heat);
  facts(byId("facts"), [
    ["Board, down the columns", el("code", { textContent: told.board })],
    ["Canonical form", told.canonical && el("code", { textContent: told.canonical })],
    ["Dice", told.dice && `${told.dice[0].toUpperCase()}${told.dice.slice(1)}`, true],
  ]);
  words.show([{ words: told.words }]);
}

// --- what can be done with it ---

function rows() {
  const made = [];
  for (let y = 0; y < h; y++)
    made.push(Array.from({ length: w }, (_, x) => faceOf(cells[x * h + y])));
  return made;
}

async function roll() {
  try {
    const rolled = await ask("/api/roll", { dice: dice.value });
    await read(rolled.board, rolled.dims);
    byId("done").textContent = `Rolled ${rolled.board}.`;
  } catch (error) {
    byId("done").textContent = error.message;
  }
}
byId("roll").addEventListener("click", roll);
byId("play-it").addEventListener("click", () => {
  game.set(told, true);
  byId("game").showModal();
  byId("start").focus();
});
byId("game").addEventListener("close", game.stop);
byId("clear").addEventListener("click", () => {
  cells = cells.map(() => "");
  chosen = 0;
  show();
  inputOf(0).focus();
});
byId("climb").addEventListener("click", async () => {
  const asked = { letters: board(), size: size.value, ...rules() };
  byId("climb").disabled = true;
  byId("done").textContent = "Climbing: this takes up to ten seconds…";
  try {
    const answer = await ask("/api/climb", asked);
    byId("done").textContent =
      answer.found.length && spelled(answer.found[0].board) !== told?.canonical
        ? `Climbed to ${points(answer.found[0].score)}, in a pool of ${count(answer.pool)}${answer.complete ? "" : " when time was up"}. No proof that there is no better.`
        : "No better board was found from here.";
    byId("climbed").hidden = false;
    byId("climbed-list").replaceChildren(
      ...answer.found.map((item) =>
        choice(spelled(item.board), points(item.score), () => use(item.board)),
      ),
    );
  } catch (error) {
    byId("done").textContent = error.message;
  }
  byId("climb").disabled = !told || told.usual === null;
});

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

byId("copy-text").addEventListener("click", () =>
  copy(
    [
      ...rows().map((row) =>
        row
          .map((text) => text.padEnd(2))
          .join(" ")
          .trimEnd(),
      ),
      "",
      told
        ? `${told.board}: ${points(told.score)}, ${count(told.n_words)} words of ${told.wordlist}`
        : board(),
    ].join("\n"),
    byId("done"),
    "Text",
  ),
);
byId("copy-svg").addEventListener("click", async () => {
  const word = byId("words").querySelector("[aria-pressed='true']");
  const query = new URLSearchParams({
    letters: board(),
    size: size.value,
    ...rules(),
    ...(word ? { word: word.textContent } : {}),
  });
  try {
    await copy(await ask(`/api/board.svg?${query}`), byId("done"), "SVG");
  } catch (error) {
    byId("done").textContent = error.message;
  }
});
size.addEventListener("change", () => resize(size.value));
for (const changed of [list, ...RULES.map(byId)]) changed.addEventListener("change", show);

for (const name of RULES)
  if (given.get(name)) {
    byId(name).value = given.get(name);
    byId(name).checked = true;
    byId("rules").open = true;
  }
if (given.get("run"))
  list.prepend(el("option", { value: "", textContent: "that of the run", selected: true }));
else if (given.get("list")) {
  if (![...list.options].some((option) => option.value === given.get("list")))
    list.prepend(
      el("option", { value: given.get("list"), textContent: `${given.get("list")} (not here)` }),
    );
  list.value = given.get("list");
}
hintsAtMore(byId("map"));
const letters = given.get("letters");
const wanted = given.get("size") || "";
const isSize = /^([1-9]|10)x([1-9]|10)$/.test(wanted);
resize(isSize ? wanted : "4x4");
if (letters) read(letters, wanted);
else if (!isSize) roll().then(() => inputOf(0).focus());
else inputOf(0).focus({ preventScroll: true });
