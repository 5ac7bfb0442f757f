// The page that is one file: what it knows of its board stands in it.
import { byId } from "/static/lib.js";
import { makeGame } from "/static/play.js";

const data = JSON.parse(byId("data").textContent);
data.words = data.words.map((packed) => {
  const [word, value, letters, start, steps] = packed.split(" ");
  const path = [Number(start)];
  for (const step of steps)
    path.push(path.at(-1) + (Math.floor(step / 3) - 1) * data.rows.length + (step % 3) - 1);
  return { word, points: Number(value), letters: Number(letters), path };
});
makeGame().set(data, data.hidden);
if (data.hidden) byId("start").focus({ preventScroll: true });
