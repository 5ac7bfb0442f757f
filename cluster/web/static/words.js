// Words by their length.  A word that is clicked, or reached with the arrow keys, draws its path on the tiles.
import { el, points } from "/static/lib.js";

// The path of cells over the tiles; the tiles of it are marked.
export function drawPath(tiles, trace, path) {
  const all = [...tiles.children];
  const frame = trace.getBoundingClientRect();
  all.forEach((tile) => tile.classList.toggle("on", path.includes(Number(tile.dataset.cell))));
  trace.replaceChildren();
  if (!path.length) return;
  const spots = path.map((cell) => {
    const box = all.find((tile) => Number(tile.dataset.cell) === cell).getBoundingClientRect();
    return [box.x + box.width / 2 - frame.x, box.y + box.height / 2 - frame.y, box.width];
  });
  const draw = (tag, values) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(values)) made.setAttribute(name, value);
    return made;
  };
  const wide = spots[0][2];
  trace.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  trace.append(
    draw("polyline", {
      points: spots.map(([x, y]) => `${x},${y}`).join(" "),
      "stroke-width": wide * 0.11,
    }),
    draw("circle", { cx: spots[0][0], cy: spots[0][1], r: wide * 0.2 }),
  );
}

const BONUSES = { dl: "double letter", tl: "triple letter", dw: "double word", tw: "triple word" };

// The tiles of a board, with the values of their letters and their bonuses; returns what they are in words.
export function layTiles(tiles, { rows, values = [], bonus = [] }) {
  const told = [];
  tiles.style.setProperty("--columns", rows[0].length);
  tiles.replaceChildren(
    ...rows.flatMap((row, y) =>
      row.map((face, x) => {
        const cell = x * rows.length + y;
        const isHole = face === ".";
        const value = values[cell] ?? null;
        const own = isHole ? null : bonus[cell];
        const tile = el("span", {
          className: isHole ? "tile hole" : "tile",
          textContent: isHole ? "" : face,
        });
        tile.dataset.cell = cell;
        if (value !== null && !isHole) tile.dataset.value = value;
        if (own) tile.dataset.bonus = own.toUpperCase();
        tile.style.setProperty("--n", Math.max(2, face.length));
        told.push(
          `${x ? "" : `Row ${y + 1}: `}${[isHole ? "hole" : face, ...(tile.dataset.value ? [points(value)] : []), ...(own ? [BONUSES[own]] : [])].join(" ")}${x < row.length - 1 ? "," : "."}`,
        );
        return tile;
      }),
    ),
  );
  return told.join(" ");
}

export function marksTold({ values, bonus = [] }) {
  const kinds = Object.keys(BONUSES)
    .filter((kind) => bonus.includes(kind))
    .map((kind) => `${kind.toUpperCase()}: ${BONUSES[kind]}.`);
  return [...kinds, ...(values ? ["The small number is what a letter is worth."] : [])].join(" ");
}

export function warm(tiles, heat) {
  const low = heat ? Math.min(...heat) : 0;
  const high = heat ? Math.max(...heat) : 0;
  for (const tile of tiles.children) {
    const value = heat ? heat[Number(tile.dataset.cell)] : 0;
    tile.style.setProperty(
      "--share",
      heat ? (0.06 + (high > low ? (0.55 * (value - low)) / (high - low) : 0.2)).toFixed(3) : "0",
    );
  }
}

// A box that shows at its edge that there is more to scroll to.
export function hintsAtMore(box) {
  const look = () => {
    box.classList.toggle("more-down", box.scrollHeight - box.clientHeight - box.scrollTop > 4);
    box.classList.toggle("more-right", box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
  new MutationObserver(look).observe(box, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["hidden"],
  });
}

// show([{ title, words }]) fills the box; clear() takes the drawn path away.
export function wordList({ box, filter, tiles, trace, spoken }) {
  let sections = [];

  function group(letters, items) {
    const each = items.every((item) => item.points === items[0].points)
      ? `${points(items[0].points)} each, `
      : "";
    const head = el(
      "h3",
      { textContent: `${letters} letters ` },
      el("span", { textContent: `${each}${items.length}` }),
    );
    const buttons = items.map((item, at) => {
      const button = el("button", {
        type: "button",
        textContent: item.word,
        tabIndex: at ? -1 : 0,
      });
      button.setAttribute("aria-pressed", "false");
      button.dataset.path = item.path.join(",");
      button.dataset.points = points(item.points);
      return button;
    });
    const row = el("div", { className: "words" }, ...buttons);
    row.setAttribute("role", "toolbar");
    row.setAttribute("aria-label", `Words of ${letters} letters`);
    return el("div", {}, head, row);
  }

  function fill() {
    const wanted = filter.value.trim().toLowerCase();
    const made = sections.flatMap(({ title, words }) => {
      const groups = new Map();
      for (const item of words)
        if (item.word.includes(wanted))
          groups.set(item.letters, [...(groups.get(item.letters) || []), item]);
      return [
        ...(title ? [el("h3", { className: "title", textContent: title })] : []),
        ...[...groups].map(([letters, items]) => group(letters, items)),
      ];
    });
    if (!made.some((part) => part.matches("div")))
      made.push(
        el("p", {
          className: "soft",
          textContent: wanted ? "No word has that in it." : "No word of the list is on this board.",
        }),
      );
    box.replaceChildren(...made);
    clear();
  }

  function clear() {
    drawPath(tiles, trace, []);
    spoken.textContent = "";
    box
      .querySelectorAll("[aria-pressed='true']")
      .forEach((button) => button.setAttribute("aria-pressed", "false"));
  }

  function draw(button) {
    clear();
    drawPath(tiles, trace, button.dataset.path.split(",").map(Number));
    button.setAttribute("aria-pressed", "true");
    spoken.textContent = `${button.textContent}: ${button.dataset.points}`;
  }

  filter.addEventListener("input", () => {
    if (sections.length) fill();
  });
  box.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-path]");
    if (!button) return;
    if (button.getAttribute("aria-pressed") === "true") {
      clear();
      return;
    }
    draw(button);
    if (tiles.getBoundingClientRect().bottom < 40)
      tiles.scrollIntoView({ behavior: "smooth", block: "start" });
  });
  box.addEventListener("keydown", (event) => {
    const button = event.target.closest("button[data-path]");
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e6, End: 1e6 }[
      event.key
    ];
    if (!button || !move) return;
    event.preventDefault();
    const all = [...button.parentElement.children];
    const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(button) + move))];
    all.forEach((other) => {
      other.tabIndex = other === to ? 0 : -1;
    });
    to.focus();
    draw(to);
  });
  addEventListener("resize", () => {
    const shown = box.querySelector("[aria-pressed='true']");
    if (shown) drawPath(tiles, trace, shown.dataset.path.split(",").map(Number));
  });
  hintsAtMore(box);
  return {
    clear,
    show(these) {
      sections = these;
      fill();
    },
    empty(text) {
      sections = [];
      box.replaceChildren(el("p", { className: "soft", textContent: text }));
      clear();
    },
  };
}
