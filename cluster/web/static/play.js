// The game: three minutes, words typed or dragged over the tiles, then what was found and what was
// missed.
// It knows the words of the board with their points; how they run was found by the program.
import { byId, count, counted, points } from "/static/lib.js";
import { layTiles, marksTold, warm, wordList } from "/static/tiles.js";
import { drawPath } from "/static/words.js";

const SECONDS = 180;
const WARN_AT = [60, 30, 10];

// -Ing is only for the end of a word, Un- for its beginning.
const lettersOn = (face) => face.toLowerCase().replace(/^-|-$/g, "");
const pattern = (face) => (face === "*" ? "\\p{L}" : `(?:${lettersOn(face).replaceAll("/", "|")})`);

// Returns set(board, isHidden) and stop(); the elements are those of templates/play.html.
export function makeGame() {
  const tiles = byId("game-tiles");
  const trace = byId("game-trace");
  const typed = byId("typed");
  const heard = byId("heard");
  const answers = wordList({
    box: byId("game-words"),
    filter: byId("game-filter"),
    tiles,
    trace,
    spoken: heard,
  });
  let board = null;
  let faces = [];
  let h = 0;
  let words = new Map();
  let found = new Set();
  let path = [];
  let timer = 0;
  let end = 0;
  let left = SECONDS;
  let last = null;
  let isDragged = false;

  const wn = (n) => counted(n, "word");
  const sum = (items) => items.reduce((total, item) => total + item.points, 0);
  const isOn = () => timer !== 0;

  function set(given, isHidden) {
    stop();
    board = given;
    h = board.rows.length;
    const w = board.rows[0].length;
    words = new Map(board.words.map((item) => [item.word, item]));
    faces = Array.from({ length: w * h }, (_, cell) => board.rows[cell % h][Math.floor(cell / h)]);
    tiles.setAttribute("aria-label", `Board. ${layTiles(tiles, board)}`);
    byId("game-marks").textContent = marksTold(board);
    show(SECONDS, "three minutes");
    byId("start").textContent = "Play";
    if (isHidden) answers.empty("They come after the game.");
    else answers.show([{ words: board.words }]);
    colour(!isHidden);
  }

  function colour(isShown) {
    warm(tiles, isShown ? board.heat : null);
    byId("game-legend").hidden = !isShown;
  }

  function show(seconds, text) {
    left = seconds;
    byId("clock").textContent =
      `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    byId("clock").classList.toggle("late", isOn() && seconds <= 10);
    byId("tally").textContent = text;
  }

  const caught = () => [...found].map((word) => words.get(word));
  const tally = () => `${points(sum(caught()))}, ${wn(found.size)}`;

  function start() {
    found = new Set();
    end = Date.now() + SECONDS * 1000;
    timer = setInterval(tick, 200);
    byId("warned").textContent = "";
    phase(true);
    colour(false);
    answers.empty("Find them.");
    show(SECONDS, tally());
    if (matchMedia("(pointer: fine)").matches)
      typed.focus(); // elsewhere the keyboard would cover the tiles
    else tiles.scrollIntoView({ block: "nearest" });
  }

  function phase(isPlaying) {
    byId("start").hidden = isPlaying;
    byId("stop").hidden = byId("entry").hidden = !isPlaying;
    byId("game-filter").parentElement.hidden = isPlaying;
    tiles.classList.toggle("live", isPlaying);
    choose([]);
  }

  function tick() {
    const now = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    if (now === left) return;
    const warned = WARN_AT.find((second) => now <= second && left > second);
    if (warned && now) byId("warned").textContent = `${now} seconds left`;
    show(now, tally());
    if (!now) finish();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    if (board) phase(false);
  }

  function finish() {
    stop();
    const got = caught();
    const missed = board.words.filter((item) => !found.has(item.word));
    byId("start").textContent = "Play again";
    answers.show([
      {
        title: `Found: ${wn(got.length)}, ${points(sum(got))}`,
        words: board.words.filter((item) => found.has(item.word)),
      },
      { title: `Missed: ${wn(missed.length)}, ${points(sum(missed))}`, words: missed },
    ]);
    colour(true);
    byId("tally").textContent = tally();
    byId("clock").classList.remove("late");
    heard.className = "spoken told";
    const score = `${count(sum(got))} of ${points(sum(board.words))}`;
    const how = left ? "Ended" : "Time is up";
    const all = count(board.words.length);
    heard.textContent = `${how}. You found ${wn(got.length)} of ${all}: ${score}.`;
    byId("start").focus({ preventScroll: true });
  }

  function enter() {
    const text = typed.value.trim().normalize("NFC").toLowerCase();
    const isPath = path.length > 0;
    const spelled = new RegExp(`^${path.map((cell) => pattern(faces[cell])).join("")}$`, "u");
    const fitting = isPath
      ? board.words.filter((item) => spelled.test(item.word))
      : [words.get(text)].filter(Boolean);
    const fresh = fitting
      .filter((item) => !found.has(item.word))
      .sort((a, b) => b.points - a.points)[0];
    const drawn = isPath ? path : fresh?.path;
    choose([]);
    typed.value = "";
    if (!text) return;
    if (fresh) {
      found.add(fresh.word);
      byId("tally").textContent = tally();
      answers.show([{ words: board.words.filter((item) => found.has(item.word)) }]);
      drawPath(tiles.children, trace, drawn);
      heard.textContent = `${fresh.word}: ${points(fresh.points)}`;
    } else if (fitting.length) heard.textContent = `${fitting[0].word}: found before`;
    else if (board.leftOut) heard.textContent = `${text}: not among the words of this page`;
    else heard.textContent = `${text}: not a word of ${board.wordlist} on this board`;
    heard.className = fresh ? "spoken good" : "spoken";
  }

  function choose(cells) {
    path = cells;
    drawPath(tiles.children, trace, path);
    if (path.length) typed.value = path.map((cell) => lettersOn(faces[cell])).join("");
  }

  // --- drag over the tiles, or press one after the other and the last one again ---

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
  function fits(from, cell) {
    const dx = Math.floor(from / h) - Math.floor(cell / h);
    const dy = (from % h) - (cell % h);
    const isNear = Math.abs(dx) <= 1 && Math.abs(dy) <= 1;
    return isNear && !faces[cell].endsWith("-") && !faces[from].startsWith("-");
  }

  function cellAt(x, y) {
    const tile = [...tiles.children].find((item) => {
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
    const before = path.length;
    reach(cell);
    if (path.length === before) {
      choose([]);
      reach(cell);
    }
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

  typed.addEventListener("input", () => {
    path = [];
    drawPath(tiles.children, trace, []);
  });
  byId("entry").addEventListener("submit", (event) => {
    event.preventDefault();
    if (isOn()) enter();
  });
  byId("start").addEventListener("click", start);
  byId("stop").addEventListener("click", finish);
  return { set, stop };
}
