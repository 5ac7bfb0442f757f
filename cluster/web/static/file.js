// The page that is one file: what it knows of its board stands in it.
/** @import { Word } from "../answers" */
import { byId } from "/static/lib.js";
import { makeGame } from "/static/play.js";

/** @param {string} packed @returns {Word} */
function unpacked(packed) {
  const [word, value, letters, start, steps] = packed.split(" ");
  let cell = Number(start);
  const path = [cell];
  for (const step of [...steps].map(Number)) {
    cell += (Math.floor(step / 3) - 1) * data.rows.length + (step % 3) - 1;
    path.push(cell);
  }
  return { word, points: Number(value), letters: Number(letters), path };
}

const data = JSON.parse(byId("data").textContent);
data.words = data.words.map(unpacked);
data.common = data.common.map((/** @type {number} */ at) => data.words[at].word);
makeGame().set(data, data.hidden, data.game);
if (data.hidden) byId("start").focus({ preventScroll: true });
