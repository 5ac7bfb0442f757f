// The classes of a run as tiles: what is done, what was expensive, where boards were found.  Arrow
// keys walk over the tiles.
/** @import { ClassMap } from "../answers" */
import { byId, count, write } from "/static/lib.js";

const GAP = 1;
const canvas = /** @type {HTMLCanvasElement} */ (byId("map"));
/** @type {ClassMap} */
let shown;
let at = -1;

/** @param {ClassMap | null} map */
export function drawMap(map) {
  canvas.hidden = byId("legend").hidden = !map;
  if (!map) {
    write("map-told", "There are too many classes to draw one by one.");
    return;
  }
  shown = map;
  const n = map.first.length;
  const share = Math.round(map.n_classes / n);
  const each =
    map.n_classes > n ? `each tile stands for about ${share} classes` : "each tile is a class";
  write("map-told", `${count(map.n_classes)} classes in the order of their numbers, ${each}.`);
  const nDone = map.done.reduce((total, value) => total + value, 0);
  const nFound = map.found.filter((value) => value > 0).length;
  const parts = [
    `Map of the classes: ${count(nDone)} of ${count(map.n_classes)} done`,
    `boards found in ${count(nFound)} of ${count(n)} tiles`,
    `${map.time} of wall time. Arrow keys walk over the tiles.`,
  ];
  canvas.setAttribute("aria-label", parts.join(", "));
  paint();
}

new ResizeObserver(paint).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
canvas.addEventListener("pointermove", (event) => choose(tileAt(event)));
canvas.addEventListener("keydown", (event) => {
  const { columns } = grid();
  /** @type {Record<string, number>} */
  const steps = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -Infinity,
    End: Infinity,
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  choose(Math.min(shown.first.length - 1, Math.max(0, at + step)));
});

function grid() {
  const n = shown.first.length;
  const width = canvas.clientWidth || 600;
  const tile = Math.max(6, Math.min(34, Math.sqrt((width * 190) / n)));
  const columns = Math.max(1, Math.min(n, Math.floor(width / tile)));
  const size = Math.min(34, width / columns);
  return { columns, size, rows: Math.ceil(n / columns) };
}

/** @param {PointerEvent} event */
function tileAt(event) {
  const { columns, size } = grid();
  const x = Math.floor(event.offsetX / size);
  const y = Math.floor(event.offsetY / size);
  const tile = y * columns + x;
  return x < columns && tile < shown.first.length ? tile : -1;
}

// What is known of a tile, in words.
/** @param {number} tile */
function tileTold(tile) {
  const n = shown.classes[tile];
  const first = count(shown.first[tile]);
  const done = shown.done[tile];
  const begun = shown.begun[tile];
  let state = begun ? `${count(done)} done, ${count(begun - done)} begun` : "open";
  if (done === n) state = "done";
  const found = shown.found[tile] ? `, ${count(shown.found[tile])} candidates found` : "";
  const name = n === 1 ? `Class ${first}` : `${count(n)} classes from number ${first}`;
  return `${name}: ${state}, ${shown.times[tile]}${found}`;
}

/** @param {number} tile */
function choose(tile) {
  if (tile === at || tile < 0) return;
  at = tile;
  write("map-spoken", tileTold(tile));
  paint();
}

function paint() {
  if (!shown || !canvas.clientWidth) return;
  const { columns, size, rows } = grid();
  const ratio = devicePixelRatio || 1;
  const height = Math.ceil(rows * size);
  canvas.style.setProperty("height", `${height}px`);
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  const colours = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const colour = (name) => colours.getPropertyValue(name).trim();
  const steps = ["--s1", "--s2", "--s3", "--s4"].map(colour);
  const [open, hit, ink] = ["--s0", "--found", "--ink"].map(colour);
  const most = Math.max(...shown.seconds, 1e-9);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(ratio, ratio);
  shown.first.forEach((_, tile) => {
    const x = (tile % columns) * size;
    const y = Math.floor(tile / columns) * size;
    const side = size - GAP;
    const share = shown.done[tile] / shown.classes[tile];
    pen.fillStyle = open;
    pen.fillRect(x, y, side, side);
    if (share > 0) {
      pen.fillStyle = steps[Math.min(3, Math.floor(4 * Math.sqrt(shown.seconds[tile] / most)))];
      pen.fillRect(x, y + side * (1 - share), side, side * share);
    }
    if (shown.found[tile]) {
      pen.fillStyle = hit;
      pen.beginPath();
      pen.arc(x + side / 2, y + side / 2, Math.max(1.6, side * 0.22), 0, 7);
      pen.fill();
    }
    if (tile === at) {
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, side - 2, side - 2);
    }
  });
}
