// Follows the server's events for as long as the page is looked at, and comes back by itself whatever happens between.
// It reads them with fetch: an EventSource does not tell a busy server from a login page, and gives up at either.

const SILENCE_MS = 25_000; // the server says something at least every 10 s
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const LASTING_MS = 5_000; // a connection that ends sooner did not do any good

export class Follower {
  #url;
  #hear;
  #reading = null; // ends the request that is open
  #begunAt = 0;
  #heardAt = Date.now();
  #failures = 0;
  #timer = 0; // of the next try, or of the silence that is too long

  // hear(name, data) is called with each event.
  constructor(url, hear) {
    this.#url = url;
    this.#hear = hear;
  }

  // When the server was last heard, by this machine's clock.
  get heardAt() {
    return this.#heardAt;
  }

  // Starts, or starts again if nothing was heard for a while: after sleep a connection may be dead and not know it.
  wake() {
    if (this.#reading && Date.now() - Math.max(this.#begunAt, this.#heardAt) < SILENCE_MS) return;
    this.rest();
    this.#failures = 0;
    this.#open();
  }

  rest() {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    this.#reading = null;
  }

  async #open() {
    const reading = new AbortController();
    this.#reading = reading;
    this.#begunAt = Date.now();
    this.#watch(reading);
    let pause_s = 0;
    try {
      pause_s = await this.#read(reading.signal);
    } catch {
      // The server is away, or the line is; nobody can tell which.
    }
    if (this.#reading !== reading) return; // it rests, or was restarted
    this.#failures += 1;
    clearTimeout(this.#timer);
    this.#reading = null;
    this.#timer = setTimeout(() => this.#open(), Math.max(1000 * pause_s, this.#pause()));
  }

  // Pages that lost the same server do not all come back in the same moment.
  #pause() {
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 1.6 ** (this.#failures - 1));
    return pause * (0.5 + Math.random() / 2);
  }

  #watch(reading) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => reading.abort(), SILENCE_MS);
  }

  // Until there is no more; says for how many seconds the server wants to be left alone.
  async #read(signal) {
    // Like HTMX's: a page that asks by itself does not mean that somebody is there.
    const headers = { Accept: "text/event-stream", "HX-Request": "true" };
    const answer = await fetch(this.#url, { headers, signal, cache: "no-store", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 404) {
      location.reload(); // signed out, or the stream is not there any more: the page itself says which
      return LONGEST_PAUSE_MS / 1000;
    }
    if (!answer.ok) return Number(answer.headers.get("Retry-After")) || 0;
    let text = "";
    for (const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
      const { value, done } = await reader.read();
      if (done || signal.aborted) return 0;
      this.#heardAt = Date.now();
      if (Date.now() - this.#begunAt > LASTING_MS) this.#failures = 0;
      this.#watch(this.#reading);
      const events = (text + value).split("\n\n");
      text = events.pop();
      events.forEach((event) => this.#tell(event));
    }
  }

  #tell(event) {
    const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
    this.#hear(fields.event, JSON.parse(fields.data));
  }
}
