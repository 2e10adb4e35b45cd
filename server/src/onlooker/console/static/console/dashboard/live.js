// The live strip: who is in view now, when the next numbers arrive, and whether those on the page are old.
import { Follower } from "./events.js";
import { keepFocus } from "./focus.js";
import { Refresh } from "./refresh.js";

const LOST_MS = 15_000; // without a word from the server, who is in view is unknown
const ASLEEP_MS = 5_000; // a clock that ticks each second and is so late was asleep

const strip = document.querySelector("#live");
const badge = strip.querySelector(".badge");
const words = strip.querySelector(".words");
const refresh = new Refresh(strip, document.querySelector("#stale"));
const follower = new Follower(strip.dataset.events, hear);
let tickedAt = Date.now();

function hear(name, data) {
  if (name === "view") show(data);
  if (name === "numbers") refresh.announce(data.next_s);
}

function show(view) {
  badge.className = `badge ${view.sign}`;
  badge.textContent = view.label;
  words.textContent = view.words;
  strip.dataset.inView = view.in_view ?? "";
  strip.dataset.looking = view.looking ?? "";
}

function wake() {
  if (document.hidden) return;
  follower.wake();
  refresh.wake();
}

function tick() {
  if (Date.now() - tickedAt > ASLEEP_MS) wake();
  tickedAt = Date.now();
  if (document.hidden) return;
  if (Date.now() - follower.heardAt > LOST_MS) {
    show({ sign: "unknown", label: gettext("Unknown"), words: gettext("reconnecting to the server") });
  }
  refresh.tick();
}

// A hidden page requests nothing: browsers allow few connections to one server, for all pages together.
document.addEventListener("visibilitychange", () => (document.hidden ? follower.rest() : wake()));
addEventListener("pagehide", () => follower.rest());
addEventListener("pageshow", wake);
addEventListener("online", wake);
keepFocus();
setInterval(tick, 1000);
wake();
