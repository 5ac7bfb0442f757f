// The game: words typed or dragged over the tiles, until the time is up or for as long as one
// likes; then what was found and what was missed.  It knows the words of the board with their
// points; how they run was found by the program.
/** @import { Game, Playable, Word } from "../answers" */
import {
  byId,
  count,
  counted,
  el,
  field,
  graphic,
  menu,
  offers,
  on,
  points,
  write,
} from "/static/lib.js";
import { layTiles, marksTold, tilesIn, warm, wordList } from "/static/tiles.js";
import { drawPath } from "/static/words.js";

const WARN_AT = [60, 30, 10];

// Letters without a mark that are not a-z, and umlauts written out: boardclass/word_import.py.
/** @type {Record<string, string>} */
const LATIN = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ŋ: "n",
  ħ: "h",
  ŧ: "t",
  "·": "",
};
/** @type {Record<string, string>} */
const UMLAUTS = { ä: "ae", ö: "oe", ü: "ue" };

// -Ing is only for the end of a word, Un- for its beginning.
/** @param {string} face */
const lettersOn = (face) => face.toLowerCase().replace(/^-|-$/g, "");
/** @param {string} face */
const pattern = (face) => (face === "*" ? "\\p{L}" : `(?:${lettersOn(face).replaceAll("/", "|")})`);

// Returns set(board, isHidden) and stop(); the elements are those of templates/play.html.
export function makeGame() {
  const tiles = byId("game-tiles");
  const trace = graphic("game-trace");
  const typed = field("typed");
  const heard = byId("game-spoken");
  const answers = wordList("game-");
  /** @type {Playable} */
  let board;
  /** @type {string[]} */
  let faces = [];
  let h = 0;
  /** @type {Set<string>} */
  let found = new Set();
  /** @type {number[]} */
  let path = [];
  /** @type {Word | undefined} */
  let hinted; // the word that hints are about, and how many of its tiles they have shown
  let nHinted = 0;
  let nHints = 0;
  let timer = 0;
  let began = 0;
  let shown = 0; // seconds on the clock
  /** @type {[x: number, y: number] | null} */
  let last = null;
  let isDragged = false;

  /** @param {number} n */
  const wn = (n) => counted(n, "word");
  /** @param {Word[]} items */
  const sum = (items) => items.reduce((total, item) => total + item.points, 0);
  const isOn = () => timer !== 0;

  const limit = () => Math.ceil(60 * Number(menu("minutes").value)); // seconds; 0: none
  const goal = () => Number(field("goal").value); // words; 0: none
  /** @param {Word} item */
  const isCommon = (item) => board.common?.includes(item.word);
  const least = () => Math.max(board.least, Number(field("least").value));
  // The words that count.
  const inPlay = () => board.words.filter((item) => item.letters >= least());

  /**
   * @param {Playable} next
   * @param {boolean} isHidden
   * @param {Game} [rules]
   */
  function set(next, isHidden, rules) {
    stop();
    board = next;
    if (rules) {
      const minutes = String(rules.minutes);
      if (!offers(menu("minutes"), minutes)) menu("minutes").append(el("option", minutes));
      menu("minutes").value = minutes;
      field("least").value = String(rules.least);
      field("goal").value = String(rules.goal || "");
    }
    const chosen = field("least");
    if (chosen.value === chosen.min || Number(chosen.value) < board.least)
      chosen.value = String(board.least);
    chosen.min = String(board.least);
    h = board.rows.length;
    const w = board.rows[0].length;
    faces = Array.from({ length: w * h }, (_, cell) => board.rows[cell % h][Math.floor(cell / h)]);
    tiles.setAttribute("aria-label", `Board. ${layTiles(tiles, board)}`);
    write("game-marks", marksTold(board));
    announce();
    write("start", "Play");
    if (isHidden) answers.empty("They come after the game.");
    else answers.show([{ words: board.words }]);
    colour(!isHidden);
  }

  // What is to be found, before the game.
  function announce() {
    const nKnown = board.common?.length;
    const known = nKnown ? `; most people know ${count(nKnown)} of those that are there` : "";
    show(limit(), (goal() ? `find ${wn(goal())}` : "find what you can") + known);
  }

  /** @param {boolean} isShown */
  function colour(isShown) {
    warm(tiles, isShown ? board.heat : null);
    byId("game-legend").hidden = !isShown;
  }

  /** @param {number} seconds  @param {string} text */
  function show(seconds, text) {
    shown = seconds;
    write("clock", `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
    byId("clock").classList.toggle("late", isOn() && limit() > 0 && seconds <= 10);
    write("tally", text);
  }

  const caught = () => board.words.filter((item) => found.has(item.word));

  function tally() {
    const words = goal() ? `${count(found.size)} of ${wn(goal())}` : wn(found.size);
    return `${points(sum(caught()))}, ${words}`;
  }

  function start() {
    found = new Set();
    hinted = undefined;
    nHints = 0;
    began = Date.now();
    timer = setInterval(tick, 200);
    write("warned", "");
    phase(true);
    colour(false);
    answers.empty("Find them.");
    show(limit(), tally());
    if (matchMedia("(pointer: fine)").matches)
      typed.focus(); // elsewhere the keyboard would cover the tiles
    else tiles.scrollIntoView({ block: "nearest" });
  }

  /** @param {boolean} isPlaying */
  function phase(isPlaying) {
    byId("start").hidden = isPlaying;
    byId("stop").hidden = byId("entry").hidden = byId("hint").hidden = !isPlaying;
    byId("game-rules").hidden = isPlaying;
    byId("game-sift").hidden = isPlaying;
    tiles.classList.toggle("live", isPlaying);
    choose([]);
    // what was being typed or drawn when a game ended belongs to no other
    typed.value = "";
    last = null;
    answers.unfilter();
  }

  function tick() {
    const passed = (Date.now() - began) / 1000;
    const now = limit() ? Math.max(0, Math.ceil(limit() - passed)) : Math.floor(passed);
    if (now === shown) return;
    const warned = WARN_AT.find((second) => now <= second && shown > second);
    if (warned && now && limit()) write("warned", `${now} seconds left`);
    show(now, tally());
    if (limit() && !now) finish();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    if (board) phase(false);
  }

  function finish() {
    stop();
    const got = caught();
    const missed = inPlay().filter((item) => !found.has(item.word));
    const known = missed.filter(isCommon);
    const others = missed.filter((item) => !isCommon(item));
    write("start", "Play again");
    const sections = [section("Found", got)];
    if (known.length) sections.push(section("Missed, and most people know", known));
    sections.push(section(known.length ? "Missed, seldom seen" : "Missed", others));
    answers.show(sections);
    colour(true);
    write("tally", tally());
    byId("clock").classList.remove("late");
    heard.className = "spoken told";
    const score = `${count(sum(got))} of ${points(sum(inPlay()))}`;
    const how = limit() && !shown ? "Time is up" : "Ended";
    const all = count(inPlay().length);
    const reached = got.length >= goal() ? " The goal is reached." : " The goal is not reached.";
    const helped = nHints ? ` ${counted(nHints, "hint")}.` : "";
    const end = (goal() ? reached : "") + helped;
    heard.textContent = `${how}. You found ${wn(got.length)} of ${all}: ${score}.${end}`;
    byId("start").focus({ preventScroll: true });
  }

  /** @param {string} title  @param {Word[]} words */
  function section(title, words) {
    return { title: `${title}: ${wn(words.length)}, ${points(sum(words))}`, words };
  }

  // How the list may spell a word that was typed: as it is, without accents, and with umlauts
  // written out.  As boardclass.word_import.readings.
  /** @param {string} text */
  function spellings(text) {
    const own = new Set(Object.values(board.letters));
    /** @param {string} letter */
    const fold = (letter) => {
      if (own.has(letter)) return letter;
      const bare = letter.normalize("NFKD").replace(/\p{M}/gu, "");
      return LATIN[bare] ?? bare;
    };
    const spelledOut = [...text].map((letter) => UMLAUTS[letter] ?? letter);
    return [text, ...[[...text], spelledOut].map((letters) => letters.map(fold).join(""))];
  }

  function enter() {
    const text = typed.value.trim().normalize("NFC").toLowerCase();
    const spelt = spellings(text);
    const isPath = path.length > 0;
    const spelled = new RegExp(`^${path.map((cell) => pattern(faces[cell])).join("")}$`, "u");
    const fitting = inPlay().filter((item) =>
      isPath ? spelled.test(item.word) : spelt.includes(item.word),
    );
    const [fresh] = fitting
      .filter((item) => !found.has(item.word))
      .sort((a, b) => b.points - a.points);
    const trail = isPath ? path : fresh?.path;
    choose([]);
    typed.value = "";
    if (!text) return;
    if (fresh) {
      found.add(fresh.word);
      write("tally", tally());
      answers.show([{ words: caught() }]);
      drawPath(tilesIn(tiles), trace, trail);
      heard.textContent = `${fresh.word}: ${points(fresh.points)}`;
    } else if (fitting.length) heard.textContent = `${fitting[0].word}: found before`;
    else heard.textContent = `${text}: ${refusal(text, trail, isPath ? spelled : null)}`;
    heard.className = fresh ? "spoken good" : "spoken";
  }

  // Where a word begins that is still to be found, the short ones that most people know first;
  // asked again, one tile more of it.
  function hint() {
    if (!hinted || found.has(hinted.word)) {
      const left = inPlay().filter((item) => !found.has(item.word));
      const known = left.filter(isCommon);
      [hinted] = (known.length ? known : left).sort((a, b) => a.letters - b.letters);
      nHinted = 0;
    }
    choose([]);
    heard.className = "spoken";
    if (!hinted) {
      heard.textContent = "Every word is found.";
      return;
    }
    nHints += 1;
    nHinted = Math.min(nHinted + 1, hinted.path.length);
    const cells = hinted.path.slice(0, nHinted);
    drawPath(tilesIn(tiles), trace, cells);
    const begin = cells.map((cell) => lettersOn(faces[cell])).join("");
    heard.textContent = `Hint: ${counted(hinted.letters, "letter")}, beginning with ${begin}`;
  }

  // Why a word is worth nothing; of one that was dragged, by its cells and what they may spell.
  /** @param {string} text  @param {number[] | undefined} cells  @param {RegExp | null} spelled */
  function refusal(text, cells, spelled) {
    const sizes = (cells ?? []).map((cell) => {
      return Math.max(
        ...lettersOn(faces[cell])
          .split("/")
          .map((letters) => letters.length),
      );
    });
    const spelt = spellings(text);
    const n = spelled ? sizes.reduce((total, size) => total + size, 0) : [...text].length;
    if (n < least()) return `too short: words of ${least()} letters or more count`;
    if (board.uncounted.some((word) => (spelled ? spelled.test(word) : spelt.includes(word))))
      return "on this board, but worth no points";
    return `not a word of ${board.wordlist} on this board`;
  }

  /** @param {number[]} cells */
  function choose(cells) {
    path = cells;
    drawPath(tilesIn(tiles), trace, path);
    if (path.length) typed.value = path.map((cell) => lettersOn(faces[cell])).join("");
  }

  // --- drag over the tiles, or press one after the other and the last one again ---

  /** @param {number} cell */
  function reach(cell) {
    const from = path.at(-1);
    if (cell === path.at(-2)) {
      choose(path.slice(0, -1));
      return;
    }
    if (path.includes(cell) || faces[cell] === ".") return;
    if (from === undefined || fits(from, cell)) choose([...path, cell]);
  }

  // Whether a word may go on from one cell to another.
  /** @param {number} from  @param {number} cell */
  function fits(from, cell) {
    const dx = Math.floor(from / h) - Math.floor(cell / h);
    const dy = (from % h) - (cell % h);
    const isNear = Math.abs(dx) <= 1 && Math.abs(dy) <= 1;
    return isNear && !faces[cell].endsWith("-") && !faces[from].startsWith("-");
  }

  /** @param {number} x  @param {number} y */
  function cellAt(x, y) {
    const tile = tilesIn(tiles).find((item) => {
      const box = item.getBoundingClientRect();
      return Math.hypot(x - box.x - box.width / 2, y - box.y - box.height / 2) < box.width * 0.43;
    });
    return tile && Number(tile.dataset.cell);
  }

  tiles.addEventListener("pointerdown", (event) => {
    if (!isOn() || (event.pointerType === "mouse" && event.button)) return;
    event.preventDefault();
    const cell = cellAt(event.clientX, event.clientY);
    if (cell === undefined) return;
    tiles.setPointerCapture(event.pointerId);
    last = [event.clientX, event.clientY];
    isDragged = false;
    if (cell === path.at(-1)) {
      enter();
      last = null;
      return;
    }
    const before = path;
    reach(cell);
    if (path === before) choose(faces[cell] === "." ? [] : [cell]);
  });
  tiles.addEventListener("pointermove", (event) => {
    if (!last || !isOn()) return;
    const [x, y] = last;
    const dx = event.clientX - x;
    const dy = event.clientY - y;
    const steps = Math.max(1, Math.ceil(Math.hypot(dx, dy) / 6));
    for (let i = 1; i <= steps; i++) {
      const cell = cellAt(x + (dx * i) / steps, y + (dy * i) / steps);
      if (cell !== undefined && cell !== path.at(-1)) {
        isDragged = true;
        reach(cell);
      }
    }
    last = [event.clientX, event.clientY];
  });
  tiles.addEventListener("pointerup", () => {
    if (last && isDragged) enter();
    last = null;
  });
  tiles.addEventListener("pointercancel", () => {
    last = null;
    choose([]);
    typed.value = "";
  });

  typed.addEventListener("input", () => choose([]));
  on("entry", "submit", (event) => {
    event.preventDefault();
    if (isOn()) enter();
  });
  on("start", "click", start);
  on("stop", "click", finish);
  on("hint", "click", hint);
  for (const id of ["minutes", "goal"]) on(id, "change", announce);
  return { set, stop };
}
