// Small helpers of all pages.  Text from the server becomes text, never markup; drawings are parsed
// as SVG.

/** The element of that id, which stands in the template.  @type {(id: string) => HTMLElement} */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** One that has a value, or can be disabled.  @type {(id: string) => HTMLInputElement} */
export const field = /** @type {any} */ (byId);

/** @type {(id: string) => HTMLSelectElement} */
export const menu = /** @type {any} */ (byId);

/** @type {(id: string) => SVGGraphicsElement} */
export const graphic = /** @type {any} */ (byId);

/**
 * Make an element: el("p.soft", { id: "told" }, "text", child).  What is no property of it becomes
 * an attribute.
 * @param {string} kind its tag, and classes behind dots
 * @param {...(Record<string, unknown> | Node | string | number | null | undefined)} parts
 * @returns {any}
 */
export function el(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const made = /** @type {any} */ (document.createElement(tag));
  made.classList.add(...classes);
  for (const part of parts) {
    if (part == null) continue;
    if (part instanceof Node || typeof part !== "object") made.append(part);
    else for (const [name, value] of Object.entries(part)) set(made, name, value);
  }
  return made;
}

/** @param {any} element  @param {string} name  @param {unknown} value */
function set(element, name, value) {
  if (name in element) element[name] = value;
  else if (value != null && value !== "") element.setAttribute(name, value);
}

/** Whether a menu has that option.  @param {HTMLSelectElement} menu  @param {string | null} name */
export const offers = (menu, name) => [...menu.options].some((option) => option.value === name);

/** The cells of a board along its rows.  @param {number} w  @param {number} h */
export const rowOrder = (w, h) =>
  Array.from({ length: w * h }, (_, at) => (at % w) * h + Math.floor(at / w));

/** @param {string} id  @param {string} text */
export function write(id, text) {
  byId(id).textContent = text;
}

/** @param {string} id  @param {string} kind  @param {(event: Event) => void} act */
export const on = (id, kind, act) => byId(id).addEventListener(kind, act);

/** @param {string | null | undefined} svg  @param {string} [name] @returns {Element | null} */
export function drawing(svg, name) {
  if (!svg) return null;
  const made = document.importNode(
    new DOMParser().parseFromString(svg, "image/svg+xml").documentElement,
    true,
  );
  if (name) {
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", name);
  }
  return made;
}

/**
 * @param {string} address
 * @param {Record<string, string | null | undefined>} [values]
 * @returns {Promise<any>}
 */
export async function ask(address, values = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value);
  const text = query.toString();
  let answer;
  try {
    answer = await fetch(text ? `${address}?${text}` : address);
  } catch {
    throw new Error(
      "The server has stopped: start orderly serve again, and open the address that it prints.",
    );
  }
  if (answer.status === 403)
    throw new Error(
      "This browser is no longer let in: open the address that orderly serve printed.",
    );
  const isText = answer.ok && !(answer.headers.get("content-type") || "").includes("json");
  const told = await (isText ? answer.text() : answer.json());
  if (!answer.ok) throw new Error(told.error || `The server answered ${answer.status}.`);
  return told;
}

// Calls work() again and again; only while the page is visible, more slowly when it fails.  work()
// returns milliseconds.
/** @param {() => Promise<number>} work */
export function keep(work) {
  let timer = 0;
  async function turn() {
    clearTimeout(timer);
    if (document.hidden) return;
    let wait;
    try {
      wait = await work();
      tellFault("");
    } catch (error) {
      wait = 5000;
      tellFault(reason(error));
    }
    timer = setTimeout(turn, wait);
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) turn();
  });
  turn();
}

/** Empty: nothing is wrong any more.  @param {string} text */
function tellFault(text) {
  write("fault", text);
  byId("fault").hidden = !text;
}

/** What a caught error says.  @param {unknown} error */
export const reason = (error) => (error instanceof Error ? error.message : String(error));

/** @param {number | null | undefined} value */
export const count = (value) => (value == null ? "unknown" : value.toLocaleString("en-US"));
/** @param {number} cell  @param {number} h */
export const cellName = (cell, h) => `row ${(cell % h) + 1}, column ${Math.floor(cell / h) + 1}`;
/** @param {number} n  @param {string} noun */
export const counted = (n, noun) => `${count(n)} ${n === 1 ? noun : `${noun}s`}`;
/** @param {number} value */
export const points = (value) => counted(value, "point");

/** @param {HTMLElement} pill  @param {string} state */
export function showState(pill, state) {
  if (pill.textContent !== state) pill.textContent = state;
  pill.className = `pill ${state}`;
}

/**
 * @param {HTMLElement} list
 * @param {[name: string, value: Node | string | null | undefined, isWide?: boolean][]} rows
 */
export function facts(list, rows) {
  list.replaceChildren();
  for (const [name, value, wide] of rows)
    if (value) list.append(el(wide ? "div.wide" : "div", el("dt", name), el("dd", value)));
}

/** @param {string} text  @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    write("done", `${what} copied.`);
  } catch {
    write("done", `The browser does not let this page copy. ${text}`);
  }
}
