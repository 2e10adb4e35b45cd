// The page that tries a stream out. Nothing is opened and nothing is sent before a button is pressed.
import { Gateway } from "./gateway.js";
import { describePeople, drawScene, readPeople, wipe } from "./scene.js";
import { Sender } from "./sender.js";
import { closeSource, openCamera, openFile } from "./source.js";
import { Trouble, hideTrouble, showTrouble } from "./trouble.js";

const FIGURES_MS = 500;
const SPOKEN_MS = 5000;

class Trial {
  #root;
  #video;
  #canvas;
  #gateway;
  #sender = null;
  #run = 0;
  #words = [];
  #spoken = "";
  #spokenAt = -Infinity;
  #figuresAt = -Infinity;

  constructor(root) {
    this.#root = root;
    this.#video = root.querySelector("video");
    this.#canvas = root.querySelector("canvas");
    this.#gateway = new Gateway({ tokenUrl: root.dataset.tokenUrl, csrf: root.dataset.csrf });
    const picker = root.querySelector("input[type=file]");
    this.#button("camera").addEventListener("click", () => this.#start((told) => openCamera(this.#video, told)));
    this.#button("file").addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      const [file] = picker.files;
      picker.value = ""; // so that the same file can be picked again
      if (file) this.#start((told) => openFile(this.#video, file, told));
    });
    root.querySelector("[data-stop]").addEventListener("click", () => this.#stop());
    addEventListener("pagehide", () => this.#leave());
  }

  #button(name) {
    return this.#root.querySelector(`[data-start="${name}"]`);
  }

  async #start(open) {
    const run = (this.#run += 1);
    const isWanted = () => run === this.#run;
    const end = (trouble) => isWanted() && this.#stop(trouble);
    this.#show(true);
    try {
      await open({ onEnd: end, isWanted });
      if (isWanted()) await this.#gateway.prepare();
    } catch (trouble) {
      end(trouble instanceof Trouble ? trouble : new Trouble("other", { detail: String(trouble) }));
      return;
    }
    if (!isWanted()) return; // stopped, or left, before it began
    const told = { onAnswer: (frame) => this.#draw(frame), onTrouble: (trouble) => this.#tell(trouble), onEnd: end };
    this.#sender = new Sender(this.#video, this.#gateway, told);
    this.#sender.start();
  }

  async #stop(trouble = null) {
    this.#run += 1;
    const sender = this.#sender;
    this.#sender = null;
    closeSource(this.#video);
    wipe(this.#canvas);
    this.#show(false);
    this.#list([]);
    if (trouble?.name === "bad_credentials") this.#gateway.forgetToken();
    if (trouble) this.#tell(trouble);
    await sender?.stop();
  }

  // The page goes; it may come back from where browsers keep pages, and then stands still.
  #leave() {
    this.#sender?.leave();
    this.#sender = null;
    this.#stop();
  }

  #show(isRunning) {
    hideTrouble(this.#root);
    this.#root.classList.toggle("running", isRunning);
    this.#button("camera").disabled = this.#button("file").disabled = isRunning;
    const stop = this.#root.querySelector("[data-stop]");
    const hadFocus = document.activeElement === stop;
    stop.disabled = !isRunning;
    if (hadFocus && !isRunning) this.#button("camera").focus();
  }

  #tell(trouble) {
    showTrouble(this.#root, trouble);
  }

  #draw({ frameId, answer, picture, takenMs }) {
    if (!this.#sender) return;
    hideTrouble(this.#root);
    const people = readPeople(answer);
    drawScene(this.#canvas, people, picture.bitmap);
    const { answered, skipped, overtaken, pace } = this.#sender;
    const { width, height, faces, bodies } = people;
    // For tests and the curious: what is drawn, and of which picture.
    this.#canvas.drawn = { frame_id: frameId, taken_ms: takenMs, picture: picture.jpeg, width, height, faces, bodies };
    Object.assign(this.#canvas.drawn, { answered, skipped, overtaken, fps: pace.fps });
    Object.assign(this.#canvas.drawn, { encode_ms: pace.encodeMs, round_trip_ms: pace.tripMs });
    this.#list(describePeople(people));
    this.#write(pace);
  }

  // The list follows the picture; what is read out changes seldom enough to be listened to.
  #list(words) {
    const now = performance.now();
    if (words.join("\n") !== this.#words.join("\n")) {
      this.#words = words;
      const items = words.map((line) => Object.assign(document.createElement("li"), { textContent: line }));
      this.#root.querySelector(".people").replaceChildren(...items);
      this.#root.querySelector(".nobody").hidden = words.length > 0;
    }
    const spoken = words.length ? words.join(". ") : gettext("Nobody in view");
    if (!this.#sender || spoken === this.#spoken || now - this.#spokenAt < SPOKEN_MS) return;
    [this.#spoken, this.#spokenAt] = [spoken, now];
    document.querySelector("#spoken").textContent = spoken;
  }

  #write(pace) {
    if (performance.now() - this.#figuresAt < FIGURES_MS) return;
    this.#figuresAt = performance.now();
    const leftS = Math.floor(this.#gateway.timeLeftMs / 1000);
    const decimal = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false });
    const figures = {
      fps: decimal.format(pace.fps),
      round_trip: pace.tripMs === null ? "–" : `${Math.round(pace.tripMs)} ms`,
      skipped: String(this.#sender.skipped),
      counted: `${decimal.format(this.#sender.countedS)} s`,
      time_left: `${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, "0")}`,
    };
    for (const [name, text] of Object.entries(figures))
      this.#root.querySelector(`[data-figure="${name}"]`).textContent = text;
  }
}

new Trial(document.querySelector("#trial"));
