// The page that is one file: what it knows of its board stands in it.
import { byId } from "/static/lib.js";
import { makeGame } from "/static/play.js";

const data = JSON.parse(byId("data").textContent);
makeGame().set(data, data.hidden, data.game);
if (data.hidden) byId("start").focus({ preventScroll: true });
