// Refreshes the report when it is due, counts down to it, and says when the numbers on the page are old.
import { moment, say } from "./words.js";

const OLD_MS = 90_000;
const LATE_MS = 3_000; // the server says when; where it is not heard, the page goes by its own clock
const AGAIN_MS = 5_000;
const YOUNG_MS = 5_000;
const USUAL_MS = 30_000;
const GIVE_UP_MS = 20_000;
const SETTLED_MS = 5_000; // after coming back to the page, no warning about what the next refresh mends
const PARTS = ["report", "time-chart", "headlines"];

export class Refresh {
  #strip;
  #stale;
  #readAt = ""; // of the report that is shown, as the server wrote it
  #cameAt = 0; // when it came, by this machine's clock: the server's may be another
  #dueAt = Date.now() + USUAL_MS;
  #triedAt = 0;
  #wokeAt = Date.now();
  #asking = new Set(); // requests that will replace the report or a part of it

  constructor(strip, stale) {
    this.#strip = strip;
    this.#stale = stale;
    document.addEventListener("htmx:beforeSend", (event) => this.#noteRequest(event.detail));
    document.addEventListener("htmx:beforeSwap", (event) => this.#giveWay(event.detail));
    document.addEventListener("htmx:afterSwap", () => this.tick());
    this.tick();
  }

  // The server says that newer numbers can be read, and when the next can be.
  announce(next_s) {
    this.#dueAt = Date.now() + next_s * 1000;
    if (Date.now() - this.#cameAt > YOUNG_MS) this.#request();
    this.tick();
  }

  // Somebody looks at the page again.
  wake() {
    this.#wokeAt = Date.now();
    if (this.#hasFailed || Date.now() >= this.#dueAt) this.#request();
    this.tick();
  }

  // Once a second.
  tick() {
    const report = document.querySelector("#report");
    const readAt = report?.dataset.readAt ?? "";
    if (readAt !== this.#readAt) {
      this.#readAt = readAt;
      this.#cameAt = Date.now();
    }
    const isWanting = this.#hasFailed || Date.now() > this.#dueAt + LATE_MS;
    if (isWanting && Date.now() > this.#triedAt + AGAIN_MS) this.#request();
    this.#show(isMoving(report));
  }

  get #hasFailed() {
    return this.#triedAt > this.#cameAt && !this.#asking.size;
  }

  #request() {
    const report = document.querySelector("#report");
    if (!isMoving(report) || document.hidden || this.#asking.size) return;
    this.#triedAt = Date.now();
    htmx.trigger(report, "refresh");
  }

  #noteRequest({ xhr, target }) {
    if (!PARTS.includes(target?.id)) return;
    xhr.timeout = GIVE_UP_MS; // a line that died in its sleep would hold it up for minutes
    this.#asking.add(xhr);
    xhr.addEventListener("loadend", () => this.#asking.delete(xhr));
  }

  // Choosing something else during a refresh shows it, whichever answer arrives first.
  #giveWay(swap) {
    const { target, requestConfig } = swap;
    if (requestConfig.elt !== target || target.id !== "report") return;
    const isOfThisPage = new URL(requestConfig.path, location).search === location.search;
    if (this.#asking.size > 1 || !target.isConnected || !isOfThisPage) swap.shouldSwap = false;
  }

  #show(moves) {
    const left_s = Math.max(0, Math.ceil((this.#dueAt - Date.now()) / 1000));
    const updated = this.#readAt ? say(gettext("Updated %(time)s"), { time: this.#clock({}) }) : "";
    write(this.#strip.querySelector(".updated"), updated);
    const isDue = !left_s || this.#hasFailed;
    const next = isDue ? gettext(", refreshing") : say(gettext(", next in %(seconds)s s"), { seconds: left_s });
    write(this.#strip.querySelector(".countdown"), moves ? next : "");
    const isOld = moves && Date.now() - this.#cameAt > OLD_MS && Date.now() - this.#wokeAt > SETTLED_MS;
    const time = this.#clock({ day: "numeric", month: "short" });
    const old = gettext("These numbers are from %(time)s. The page is trying to refresh them.");
    write(this.#stale, isOld ? say(old, { time }) : "");
  }

  // By the stream's clock, as all times on the page.
  #clock(more) {
    const parts = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: this.#strip.dataset.zone, ...more };
    return this.#readAt ? moment(new Date(this.#readAt), parts) : "";
  }
}

// One of the past stays as it is.
function isMoving(report) {
  return report?.dataset.moving === "yes";
}

// What is the same is not written again: it would be read out again.
function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
