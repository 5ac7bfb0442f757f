const SIZE = 50;
const SVG = "http://www.w3.org/2000/svg";

function centre(card, cell) {
  const h = Number(card.dataset.h);
  return [Math.floor(cell / h) * SIZE + SIZE / 2, (cell % h) * SIZE + SIZE / 2];
}

function clear(card) {
  card.querySelectorAll("rect.on").forEach((rect) => rect.classList.remove("on"));
  card
    .querySelectorAll("[aria-pressed='true']")
    .forEach((button) => button.setAttribute("aria-pressed", "false"));
  card.querySelector("g.path").replaceChildren();
  card.querySelector(".spoken").textContent = "";
}

function show(card, button) {
  const path = button.dataset.path.split(",").map(Number);
  const points = path.map((cell) => centre(card, cell));
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", points.map((point) => point.join(",")).join(" "));
  const start = document.createElementNS(SVG, "circle");
  start.setAttribute("cx", points[0][0]);
  start.setAttribute("cy", points[0][1]);
  start.setAttribute("r", 10);
  card.querySelector("g.path").append(line, start);
  const cells = card.querySelectorAll("svg.board rect");
  path.forEach((cell) => cells[cell].classList.add("on"));
  button.setAttribute("aria-pressed", "true");
  card.querySelector(".spoken").textContent = `${button.textContent}: ${button.dataset.points}`;
}

function filter(card, wanted) {
  let n = 0;
  card.querySelectorAll(".group").forEach((group) => {
    const buttons = [...group.querySelectorAll("button")];
    buttons.forEach((button) => {
      button.hidden = !button.textContent.includes(wanted);
    });
    const left = buttons.filter((button) => !button.hidden).length;
    group.querySelector(".count").textContent = wanted
      ? `${left} of ${buttons.length}`
      : buttons.length;
    group.hidden = left === 0;
    n += left;
  });
  card.querySelector("output").textContent = wanted
    ? `${n} of ${card.querySelectorAll("button").length}`
    : "";
}

document.querySelectorAll(".card").forEach((card) => {
  card.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-path]");
    if (!button) return;
    const again = button.getAttribute("aria-pressed") === "true";
    clear(card);
    if (!again) show(card, button);
  });
  const input = card.querySelector("input");
  card.querySelector(".filter").hidden = false; // without this script it would do nothing
  input.addEventListener("input", () => filter(card, input.value.trim().toLowerCase()));
  window.addEventListener("beforeprint", () => {
    input.value = "";
    filter(card, "");
  });
});

window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((details) => {
    details.open = true;
  });
});
