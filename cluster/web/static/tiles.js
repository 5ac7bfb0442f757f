// A board as tiles, and its words by their length.
/** @import { Playable, Word } from "../answers" */
import { byId, counted, el, field, graphic, points } from "/static/lib.js";
import { listen } from "/static/words.js";

/** @type {Record<string, string>} */
const BONUSES = { dl: "double letter", tl: "triple letter", dw: "double word", tw: "triple word" };

// The tiles of a board, with the values of their letters and their bonuses; returns what they are
// in words.
/** @param {HTMLElement} tiles  @param {Playable} board */
export function layTiles(tiles, { rows, values = [], bonus = [] }) {
  tiles.replaceChildren();
  tiles.style.setProperty("--columns", String(rows[0].length));
  const lines = rows.map((row, y) => {
    const spoken = row.map((face, x) => {
      const cell = x * rows.length + y;
      const value = values[cell];
      const kind = bonus[cell] || "";
      const marks = { "data-cell": cell, "data-value": value, "data-bonus": kind.toUpperCase() };
      const isHole = face === ".";
      const tile = el(isHole ? "span.tile.hole" : "span.tile", marks, isHole ? "" : face);
      tile.style.setProperty("--n", String(Math.max(2, face.length)));
      tiles.append(tile);
      if (isHole) return "hole";
      return [face, value == null ? "" : points(value), BONUSES[kind]].filter(Boolean).join(" ");
    });
    return `Row ${y + 1}: ${spoken.join(", ")}.`;
  });
  return lines.join(" ");
}

/** @param {Playable} board */
export function marksTold({ values, bonus = [] }) {
  const kinds = Object.keys(BONUSES)
    .filter((kind) => bonus.includes(kind))
    .map((kind) => `${kind.toUpperCase()}: ${BONUSES[kind]}.`);
  return [...kinds, ...(values ? ["The small number is what a letter is worth."] : [])].join(" ");
}

/** @param {HTMLElement} tiles  @param {number[] | null} [heat] */
export function warm(tiles, heat) {
  const low = heat ? Math.min(...heat) : 0;
  const high = heat ? Math.max(...heat) : 0;
  for (const tile of /** @type {Iterable<HTMLElement>} */ (tiles.children)) {
    const value = heat ? heat[Number(tile.dataset.cell)] : 0;
    const share = high > low ? (0.55 * (value - low)) / (high - low) : 0.2;
    tile.style.setProperty("--share", heat ? (0.06 + share).toFixed(3) : "0");
  }
}

/** @param {HTMLElement} tiles */
export const tilesIn = (tiles) => /** @type {HTMLElement[]} */ ([...tiles.children]);

// show([{ title, words }]) fills the box; clear() takes the drawn path away, unfilter() the filter.
/** @typedef {{ title?: string, words: Word[] }} Section */
/** The list beside a board, by the ids of both.  @param {string} [prefix] */
export function wordList(prefix = "") {
  const box = byId(`${prefix}words`);
  const filter = field(`${prefix}filter`);
  const { clear, sift } = listen({
    box,
    filter,
    cells: () => tilesIn(byId(`${prefix}tiles`)),
    trace: graphic(`${prefix}trace`),
    spoken: byId(`${prefix}spoken`),
  });
  const none = el("p.soft");
  filter.addEventListener("input", show);

  function show() {
    none.hidden = sift() > 0;
    none.textContent = filter.value.trim()
      ? "No word contains that."
      : "No word of the list is on this board.";
    clear();
  }

  return {
    clear,
    unfilter() {
      filter.value = "";
    },
    /** @param {Section[]} sections */
    show(sections) {
      const parts = sections.flatMap(({ title, words }) => {
        const heading = title ? [el("h3.title", title)] : [];
        return [...heading, ...groups(words)];
      });
      box.replaceChildren(...parts, none);
      show();
    },
    /** @param {string} text */
    empty(text) {
      none.hidden = false;
      none.textContent = text;
      box.replaceChildren(none);
      clear();
    },
  };
}

/** @param {Word[]} words */
function groups(words) {
  const lengths = new Set(words.map((word) => word.letters));
  return [...lengths].map((n) => {
    const same = words.filter((word) => word.letters === n);
    return group(n, same);
  });
}

/** @param {number} letters  @param {Word[]} items */
function group(letters, items) {
  const isEven = items.every((item) => item.points === items[0].points);
  const each = isEven ? `${points(items[0].points)} each, ` : "";
  const number = el("span.count", items.length);
  const about = el("span", each, number);
  const buttons = items.map((item, at) =>
    el(
      "button",
      {
        tabIndex: at ? -1 : 0,
        "aria-pressed": "false",
        "data-path": item.path.join(","),
        "data-points": points(item.points),
      },
      item.word,
    ),
  );
  const named = { role: "toolbar", "aria-label": `Words of ${counted(letters, "letter")}` };
  const row = el("div.words", named, ...buttons);
  return el("div.group", el("h3", `${counted(letters, "letter")} `, about), row);
}
