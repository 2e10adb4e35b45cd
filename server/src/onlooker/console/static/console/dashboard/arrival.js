// The page of a stream without frames: says what arrives as it happens, and then opens the stream's dashboard.
import { Follower } from "./events.js";

const READ_MS = 2_500; // as long as a line takes to read
const EMPTY_MS = 20_000; // nobody is in front of the camera: the dashboard waits for them as well
const ARRIVED = ["live", "silent"]; // badges of streams that have had frames

const panel = document.querySelector("#arrival");
const follower = new Follower(panel.dataset.events, hear);
let step = "waiting";
let timer = 0;
let isDue = false; // the dashboard is to be opened
let isPasswordKept = !document.querySelector("#password"); // it can't be shown again

function hear(name, view) {
  if (name !== "view" || !ARRIVED.includes(view.sign)) return;
  if (step === "waiting") {
    show("frames");
    document.body.dispatchEvent(new Event("frame-received")); // the summary of the stream's state hears it
    leaveAfter(view.in_view === null ? READ_MS : EMPTY_MS);
  }
  if (step === "frames" && view.in_view) {
    show("person");
    leaveAfter(READ_MS);
  }
}

function show(next) {
  step = next;
  panel.classList.replace("warning", "notice");
  for (const line of panel.querySelectorAll("[data-step]")) line.hidden = line.dataset.step !== step;
  panel.querySelector(".onward").hidden = false;
}

function leaveAfter(pause) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    isDue = true;
    leave();
  }, pause);
}

function leave() {
  if (isDue && isPasswordKept) location.assign(panel.querySelector(".onward a").href);
}

function keepPassword() {
  isPasswordKept = true;
  if (isDue) leaveAfter(READ_MS);
}

function wake() {
  if (!document.hidden) follower.wake();
}

document.addEventListener("copy", keepPassword);
document.addEventListener("click", (event) => event.target.closest("[data-copy='#password']") && keepPassword());
document.addEventListener("visibilitychange", () => (document.hidden ? follower.rest() : wake()));
addEventListener("pagehide", () => follower.rest());
addEventListener("pageshow", wake);
addEventListener("online", wake);
wake();
