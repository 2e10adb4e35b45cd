// The way to the gateway: an access token of the console, jobs with one picture each, the end of the session.
import { Trouble } from "./trouble.js";

const SERVICE = "/services/scene_analysis/1";
const RENEW_LEFT_MS = 120_000;
const RENEW_PAUSE_MS = 10_000;
// A gateway may have read the stream's tokens just before ours was made, and then knows it after so long at the latest.
const TOKEN_KNOWN_MS = 25_000;
const AWAY_WAIT_MS = 2_000;

export class Gateway {
  #tokenUrl;
  #csrf;
  #token = null;
  #renewing = null;
  #triedAt = -Infinity;

  constructor({ tokenUrl, csrf }) {
    this.#tokenUrl = tokenUrl;
    this.#csrf = csrf;
  }

  get timeLeftMs() {
    return this.#token ? Math.max(0, this.#token.endsAt - performance.now()) : 0;
  }

  // A new token, unless the one there is has time left. While a trial runs, a failure to renew may heal by itself.
  async prepare() {
    if (this.timeLeftMs > RENEW_LEFT_MS) return;
    if (this.timeLeftMs > 0 && performance.now() - this.#triedAt < RENEW_PAUSE_MS) return;
    this.#triedAt = performance.now();
    this.#renewing ??= this.#fetchToken().finally(() => (this.#renewing = null));
    try {
      await this.#renewing;
    } catch (trouble) {
      if (!this.timeLeftMs) throw trouble;
    }
  }

  async #fetchToken() {
    const asked = performance.now();
    let answer;
    try {
      const headers = { "X-CSRFToken": this.#csrf };
      answer = await fetch(this.#tokenUrl, { method: "POST", headers, redirect: "manual" });
    } catch {
      throw new Trouble("no_token");
    }
    if (answer.type === "opaqueredirect" || answer.status === 403) throw new Trouble("signed_out");
    if (!answer.ok) throw new Trouble("no_token");
    const given = await answer.json();
    const authorization = "Basic " + btoa(`${given.client_id}:${given.access_token}`);
    this.#token = { url: given.url, authorization, madeAt: asked, endsAt: asked + given.expires_in_s * 1000 };
  }

  forgetToken() {
    this.#token = null;
  }

  // What the service says of a picture; or a Trouble.
  async look({ jpeg, takenAt, session, signal }) {
    const meta = { image: "attachment://picture", async: false, store: false, timestamp: takenAt, state: { session_id: session } };
    const body = new FormData();
    body.append("meta", JSON.stringify(meta));
    body.append("attachment://picture", jpeg, "picture.jpg");
    const token = this.#token;
    let answer;
    try {
      const headers = { Authorization: token.authorization };
      const options = { method: "POST", headers, body, signal, credentials: "omit", cache: "no-store" };
      answer = await fetch(`${token.url}${SERVICE}/jobs`, options);
      if (answer.ok) return await answer.json();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Trouble("unreachable", { waitMs: AWAY_WAIT_MS });
    }
    throw await readTrouble(answer, token);
  }

  // Nobody waits for it: it is also sent while the page is being closed. A session that is not ended ends by itself.
  endSession(session) {
    if (!this.#token) return;
    const headers = { Authorization: this.#token.authorization };
    const options = { method: "DELETE", headers, keepalive: true, credentials: "omit" };
    fetch(`${this.#token.url}${SERVICE}/sessions/${session}`, options).catch(() => {});
  }
}

async function readTrouble(answer, token) {
  const problem = await answer.json().catch(() => ({}));
  const retryMs = 1000 * (Number(answer.headers.get("Retry-After")) || 1);
  if (answer.status === 401) {
    const isYoung = performance.now() - token.madeAt < TOKEN_KNOWN_MS;
    return isYoung ? new Trouble("not_known_yet", { waitMs: 1000 }) : new Trouble("bad_credentials");
  }
  if (answer.status === 429) return new Trouble("rate_limited", { waitMs: retryMs });
  if (answer.status === 503) return new Trouble("overloaded", { detail: problem.detail, waitMs: retryMs });
  if (answer.status >= 500) return new Trouble("failed", { waitMs: AWAY_WAIT_MS });
  return new Trouble(problem.code ?? "other", { detail: problem.detail ?? `HTTP ${answer.status}` });
}
