// Sends pictures at the rate that the connection holds: at most 10 a second, and two in progress at a time.
import { Shutter } from "./source.js";
import { Trouble } from "./trouble.js";

const EVERY_MS = 100;
const UNDER_WAY = 2;
const FAILURES = 20;
// However long it takes.
const PASSING = ["rate_limited", "overloaded", "not_known_yet"];
const SHORTEST_FRAME_S = 1 / 30;
const LONGEST_FRAME_S = 1;

export class Sender {
  #video;
  #gateway;
  #told;
  #aborting = new AbortController();
  #underWay = new Set();
  #shutter = new Shutter();
  #session = crypto.randomUUID();
  #frames = 0;
  #newest = 0;
  #failures = 0;
  #waitUntil = 0;
  #dueAt = 0;
  #isDue = false;
  #lastTakenMs = null;
  #answers = [];

  skipped = 0;
  answered = 0;
  overtaken = 0;
  countedS = 0;

  // `told`: onAnswer({ frameId, answer, ... }), onTrouble(trouble) for what passes, onEnd(trouble) for what does not.
  constructor(video, gateway, told) {
    this.#video = video;
    this.#gateway = gateway;
    this.#told = told;
  }

  start() {
    this.#dueAt = performance.now();
    this.#tick();
  }

  // Requests in progress are aborted, then the session is ended: otherwise the last frame would start it again.
  async stop() {
    this.#aborting.abort();
    await Promise.allSettled(this.#underWay);
    this.#shutter.close();
    if (this.answered) this.#gateway.endSession(this.#session);
  }

  leave() {
    this.#aborting.abort();
    this.#shutter.close();
    if (this.answered) this.#gateway.endSession(this.#session);
  }

  get isStopped() {
    return this.#aborting.signal.aborted;
  }

  // Answers a second over the last three seconds, and medians of what one took: to encode, and the round trip.
  get pace() {
    const since = performance.now() - 3000;
    this.#answers = this.#answers.filter(({ at }) => at > since);
    const spanMs = this.#answers.length > 1 ? this.#answers.at(-1).at - this.#answers[0].at : 0;
    return {
      fps: spanMs ? (1000 * (this.#answers.length - 1)) / spanMs : 0,
      encodeMs: median(this.#answers.map(({ encodeMs }) => encodeMs)),
      tripMs: median(this.#answers.map(({ tripMs }) => tripMs)),
    };
  }

  get #canSend() {
    const isReady = this.#video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
    return !this.isStopped && isReady && !document.hidden && performance.now() >= this.#waitUntil;
  }

  #tick() {
    if (this.isStopped) return;
    if (this.#canSend && this.#isDue) this.skipped += 1; // the one before it never found a place
    this.#isDue = this.#canSend;
    this.#sendDue();
    // A browser that is late makes up for nothing: the next is due a tenth of a second after this one was.
    this.#dueAt = Math.max(this.#dueAt + EVERY_MS, performance.now());
    setTimeout(() => this.#tick(), this.#dueAt - performance.now());
  }

  // A picture that is due while two are in progress is taken as soon as one of them is answered, not a beat later.
  #sendDue() {
    if (!this.#isDue || !this.#canSend || this.#underWay.size >= UNDER_WAY) return;
    this.#isDue = false;
    const sending = this.#look().catch((error) => this.#fail(error));
    this.#underWay.add(sending);
    sending.finally(() => {
      this.#underWay.delete(sending);
      this.#sendDue();
    });
  }

  async #look() {
    const frameId = (this.#frames += 1);
    const begunMs = performance.now();
    const takenMs = performance.timeOrigin + begunMs; // a clock that is never set back
    const picture = await this.#shutter.take(this.#video);
    try {
      const answer = await this.#ask(picture, { takenMs, encodeMs: performance.now() - begunMs });
      if (!this.isStopped) this.#take({ frameId, answer, picture, takenMs });
    } finally {
      picture.bitmap.close();
    }
  }

  async #ask({ jpeg }, { takenMs, encodeMs }) {
    await this.#gateway.prepare();
    const sentMs = performance.now();
    const takenAt = new Date(takenMs).toISOString();
    const signal = this.#aborting.signal;
    const answer = await this.#gateway.look({ jpeg, takenAt, session: this.#session, signal });
    if (answer.error_code) throw new Trouble("other", { detail: answer.error, waitMs: 1000 });
    if (!this.isStopped) this.#count(takenMs, { encodeMs, tripMs: performance.now() - sentMs });
    return answer;
  }

  // An answer that was overtaken is counted, but what is drawn is newer.
  #take(frame) {
    if (frame.frameId < this.#newest) {
      this.overtaken += 1;
      return;
    }
    this.#newest = frame.frameId;
    this.#told.onAnswer(frame);
  }

  #count(takenMs, { encodeMs, tripMs }) {
    this.#failures = 0;
    this.answered += 1;
    this.#answers.push({ at: performance.now(), encodeMs, tripMs });
    if (this.#lastTakenMs === null) this.countedS += SHORTEST_FRAME_S;
    else if (takenMs > this.#lastTakenMs)
      this.countedS += Math.min(Math.max((takenMs - this.#lastTakenMs) / 1000, SHORTEST_FRAME_S), LONGEST_FRAME_S);
    this.#lastTakenMs = Math.max(takenMs, this.#lastTakenMs ?? 0);
  }

  #fail(error) {
    if (this.isStopped || error.name === "AbortError") return;
    const trouble = error instanceof Trouble ? error : new Trouble("other", { detail: String(error) });
    this.#failures += 1;
    const isAway = trouble.name === "unreachable";
    const isTooMuch = this.#failures > FAILURES && !PASSING.includes(trouble.name);
    if (trouble.waitMs === null || isTooMuch || (isAway && !this.answered)) {
      this.#told.onEnd(trouble);
      return;
    }
    this.#waitUntil = performance.now() + trouble.waitMs;
    this.#told.onTrouble(isAway ? new Trouble("away") : trouble);
  }
}

function median(values) {
  return values.sort((one, other) => one - other)[values.length >> 1] ?? null;
}
