// Check my camera: a person taps, the two totals are sent at the end. They stay in the browser until the server has them.
const RETRY_MS = 3_000;
const KEYS = { p: "passed", l: "stopped" };

const page = document.getElementById("check");
const find = (selector) => page.querySelector(selector);
const video = find("video");
const kept = `check:${page.dataset.stream}`;
let check = null; // { id, startedAt, taps: [] } while the person counts
let ticking = 0;

function act(name) {
  return find(`[data-act="${name}"]`);
}

function count(kind) {
  return check ? check.taps.filter((tap) => tap === kind).length : 0;
}

function tell(trouble) {
  find("[data-trouble]").hidden = !trouble;
  find("[data-trouble]").textContent = trouble;
}

function show() {
  for (const place of page.querySelectorAll("[data-count]")) place.textContent = count(place.dataset.count);
  for (const button of page.querySelectorAll("[data-tap]")) button.disabled = !check;
  act("undo").disabled = !check?.taps.length;
  act("end").disabled = !check;
  act("begin").disabled = Boolean(check);
}

function tick() {
  const left = Number(page.dataset.usualS) - (performance.now() - check.startedAt) / 1000;
  const seconds = Math.max(0, Math.ceil(left));
  find("[data-clock]").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  if (left <= 0) end();
}

function tap(kind) {
  if (!check) return;
  check.taps.push(kind);
  show();
}

async function send(url, fields) {
  const answer = await fetch(url, { method: "POST", redirect: "manual", headers: { "X-CSRFToken": page.dataset.csrf }, body: new URLSearchParams(fields) });
  if (answer.type === "opaqueredirect" || answer.status === 403) throw new Error(gettext("You are signed out. Open this page again and sign in."));
  if (answer.status === 400 || answer.status === 404) return null; // nothing that can be sent again
  if (!answer.ok) throw new Error(gettext("The console did not take it. Try again in a moment."));
  return answer.json();
}

async function begin() {
  tell("");
  act("begin").disabled = true;
  const startedAt = performance.now();
  try {
    const begun = await send(page.dataset.beginUrl, {});
    if (!begun) throw new Error(gettext("This stream is no longer there."));
    check = { id: begun.check, startedAt, taps: [] };
    ticking = setInterval(tick, 250);
    find("[data-said]").textContent = gettext("Counting. Press P for each person who passes, L for each who stops and looks.");
  } catch (error) {
    tell(error.message === "Failed to fetch" ? gettext("The console can't be reached.") : error.message);
  }
  show();
}

function end() {
  clearInterval(ticking);
  const lasted = Math.min(Number(page.dataset.longestS), (performance.now() - check.startedAt) / 1000);
  const told = { passed: count("passed"), stopped: count("stopped"), lasted_s: Math.max(1, lasted).toFixed(3) };
  localStorage.setItem(kept, JSON.stringify({ id: check.id, told }));
  check = null;
  show();
  deliver();
}

async function deliver() {
  const { id, told } = JSON.parse(localStorage.getItem(kept));
  find("[data-said]").textContent = interpolate(gettext("You counted %(passed)s and %(stopped)s. Sending."), told, true);
  try {
    await send(page.dataset.endUrl.replace(/0\/end\/$/, `${id}/end/`), told);
    localStorage.removeItem(kept);
    location.reload();
  } catch (error) {
    tell(`${gettext("Your count is kept in this browser and sent as soon as that works.")} ${error.message}`);
    setTimeout(deliver, RETRY_MS);
  }
}

async function showCamera() {
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
    video.hidden = false;
    await video.play();
  } catch {
    tell(gettext("No camera can be shown here. You can count without one."));
  }
}

act("begin").addEventListener("click", begin);
act("end").addEventListener("click", end);
act("camera").addEventListener("click", showCamera);
act("undo").addEventListener("click", () => {
  check.taps.pop();
  show();
});
for (const button of page.querySelectorAll("[data-tap]")) button.addEventListener("click", () => tap(button.dataset.tap));
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || !check) return;
  const key = event.key.toLowerCase();
  if (key in KEYS) tap(KEYS[key]);
  else if (key === "u" && check.taps.length) act("undo").click();
});
if (localStorage.getItem(kept)) deliver();
