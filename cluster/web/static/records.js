import { ask, count, drawing, el, facts, keep, points, showState } from "/static/lib.js";

function show(article, pulse, found) {
  showState(article.querySelector(".pill"), pulse.state);
  const best = (found.boards || [])[0];
  const drawn = article.querySelector(".drawn");
  if (best && !drawn.firstChild) drawn.append(drawing(best.svg));
  const tied = best ? found.boards.filter((item) => item.score === best.score) : [];
  const links = tied.flatMap(({ typed }) => [", ", el("a", { href: `/board?letters=${encodeURIComponent(typed)}&run=${article.dataset.key}`, textContent: typed })]).slice(1);
  article.querySelector(".score").replaceChildren(...(best ? [el("b", { textContent: points(best.score) }), " ", ...links, found.proven ? "" : ", found so far"] : []));
  const claim = article.querySelector(".claim");
  const text = pulse.state === "unreadable" ? pulse.error : found.proven ? `Proven. ${found.statement}` : found.rows_state ? `Not proven: ${found.why_not_proven}.` : "";
  claim.textContent = text;
  claim.hidden = !text;
  claim.classList.toggle("proven", Boolean(found.proven));
  if (!found.rows_state) return;
  facts(article.querySelector(".facts"), [
    ["Boards at or above the cutoff", `${count(found.n_boards)} up to symmetry`],
    ["Strength, as its claim records it", found.strength],
    ["Digest", el("code", { textContent: found.digest }), true],
  ]);
}

for (const article of document.querySelectorAll("[data-key]")) {
  const address = `/api/runs/${article.dataset.key}`;
  let version = "";
  keep(async () => {
    const pulse = await ask(address);
    if (pulse.state === "reading") { showState(article.querySelector(".pill"), pulse.state); return 700; }
    if (pulse.version !== version) {
      show(article, pulse, await ask(`${address}/proven`));
      version = pulse.version;
    }
    return 20000;
  });
}
