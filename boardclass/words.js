// Words that are listed beside a board, on every page and in the report: one that is clicked, or
// reached with the arrow keys, draws its path over the cells; a filter hides the others.

const SVG = "http://www.w3.org/2000/svg";
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e6, End: 1e6 };

/**
 * Draw the path of cells into an SVG element that lies over them, and mark the cells.
 * @param {Iterable<HTMLElement | SVGElement>} cells by data-cell, or in their order
 * @param {SVGGraphicsElement} trace
 * @param {number[]} path
 */
export function drawPath(cells, trace, path) {
  const byCell = [...cells];
  for (const cell of cells) if (cell.dataset.cell) byCell[Number(cell.dataset.cell)] = cell;
  byCell.forEach((cell, at) => {
    cell.classList.toggle("on", path.includes(at));
  });
  trace.replaceChildren();
  const frame = trace.getScreenCTM()?.inverse();
  if (!path.length || !frame) return;
  const spots = path.map((at) => {
    const box = byCell[at].getBoundingClientRect();
    const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
    return middle.matrixTransform(frame);
  });
  const wide = byCell[path[0]].getBoundingClientRect().width * frame.a;
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", spots.map((spot) => `${spot.x},${spot.y}`).join(" "));
  line.setAttribute("stroke-width", String(wide * 0.11));
  const start = document.createElementNS(SVG, "circle");
  start.setAttribute("cx", String(spots[0].x));
  start.setAttribute("cy", String(spots[0].y));
  start.setAttribute("r", String(wide * 0.2));
  trace.append(line, start);
}

/**
 * Let the words of a box draw their paths: buttons with data-path and data-points, in groups.
 * @param {object} parts
 * @param {HTMLElement} parts.box
 * @param {HTMLInputElement} parts.filter
 * @param {() => Iterable<HTMLElement | SVGElement>} parts.cells
 * @param {SVGGraphicsElement} parts.trace
 * @param {HTMLElement} parts.spoken
 */
export function listen({ box, filter, cells, trace, spoken }) {
  /** @returns {HTMLButtonElement[]} */
  const words = () => [...box.querySelectorAll("button")];
  const pressed = () => words().filter((word) => word.getAttribute("aria-pressed") === "true");
  /** @param {HTMLButtonElement} word */
  const path = (word) => (word.dataset.path || "").split(",").map(Number);

  function clear() {
    drawPath(cells(), trace, []);
    spoken.textContent = "";
    for (const word of pressed()) word.setAttribute("aria-pressed", "false");
  }

  /** @param {HTMLButtonElement} word */
  function draw(word) {
    clear();
    drawPath(cells(), trace, path(word));
    word.setAttribute("aria-pressed", "true");
    spoken.textContent = `${word.textContent}: ${word.dataset.points}`;
  }

  // Hide the words without what is typed; returns how many are left.
  function sift() {
    const wanted = filter.value.trim().toLowerCase();
    for (const word of words()) word.hidden = !word.textContent.includes(wanted);
    for (const group of box.querySelectorAll(".group")) {
      const all = [...group.querySelectorAll("button")];
      const n = all.filter((word) => !word.hidden).length;
      const number = /** @type {HTMLElement} */ (group.querySelector(".count"));
      number.textContent = wanted ? `${n} of ${all.length}` : String(n);
      /** @type {HTMLElement} */ (group).hidden = n === 0;
    }
    return words().filter((word) => !word.hidden).length;
  }

  box.addEventListener("click", (event) => {
    const word = /** @type {Element} */ (event.target).closest("button");
    if (!word) return;
    if (pressed().includes(word)) {
      clear();
      return;
    }
    draw(word);
    const board = trace.parentElement;
    if (board && board.getBoundingClientRect().bottom < 40) {
      board.scrollIntoView({ behavior: "smooth", block: "start" });
    }
  });
  box.addEventListener("keydown", (event) => {
    const word = /** @type {Element} */ (event.target).closest("button");
    const step = /** @type {Record<string, number>} */ (STEPS)[event.key];
    if (!word?.parentElement || !step) return;
    event.preventDefault();
    const all = [...word.parentElement.querySelectorAll("button")].filter((one) => !one.hidden);
    const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(word) + step))];
    for (const one of all) one.tabIndex = one === to ? 0 : -1;
    to.focus();
    draw(to);
  });
  addEventListener("resize", () => {
    for (const word of pressed()) drawPath(cells(), trace, path(word));
  });
  return { clear, sift };
}

// --- the report: words that stand in its page, a card for each board ---

export function listenToCards() {
  for (const card of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".card"))) {
    /** @template {Element} T @param {string} selector @returns {T} */
    const part = (selector) => /** @type {T} */ (card.querySelector(selector));
    const filter = /** @type {HTMLInputElement} */ (part("input"));
    const output = part("output");
    const words = listen({
      box: /** @type {HTMLElement} */ (part(".list")),
      filter,
      cells: () => card.querySelectorAll("rect"),
      trace: /** @type {SVGGraphicsElement} */ (part("g.path")),
      spoken: /** @type {HTMLElement} */ (part(".spoken")),
    });
    const sift = () => {
      const n = words.sift();
      output.textContent = filter.value.trim() ? `${n} of ${card.dataset.words}` : "";
    };
    /** @type {HTMLElement} */ (part(".filter")).hidden = false; // without a script it is of no use
    filter.addEventListener("input", sift);
    addEventListener("beforeprint", () => {
      filter.value = "";
      sift();
      for (const details of document.querySelectorAll("details")) details.open = true;
    });
  }
}
