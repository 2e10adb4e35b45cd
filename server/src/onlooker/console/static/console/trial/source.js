// Where pictures come from: the browser's camera, or a video file that stays in the browser.
import { Trouble } from "./trouble.js";

export const LARGEST = { width: 640, height: 480 };

const CAMERA_TROUBLES = {
  NotAllowedError: "camera_refused",
  SecurityError: "camera_refused",
  NotFoundError: "camera_absent",
  OverconstrainedError: "camera_absent",
  NotReadableError: "camera_busy",
  AbortError: "camera_busy",
};

export async function openCamera(video, { onEnd, isWanted }) {
  if (!navigator.mediaDevices?.getUserMedia) throw new Trouble(isSecureContext ? "camera_absent" : "not_https");
  let stream;
  try {
    const size = { width: { ideal: LARGEST.width }, height: { ideal: LARGEST.height } };
    stream = await navigator.mediaDevices.getUserMedia({ audio: false, video: { ...size, frameRate: { ideal: 15 } } });
  } catch (error) {
    throw new Trouble(CAMERA_TROUBLES[error.name] ?? "camera_busy");
  }
  if (!isWanted()) {
    stream.getTracks().forEach((track) => track.stop()); // stopped while the browser still asked
    return;
  }
  stream.getVideoTracks()[0].addEventListener("ended", () => onEnd(new Trouble("camera_gone")));
  video.srcObject = stream;
  await play(video, "camera_busy");
}

export async function openFile(video, file, { onEnd }) {
  video.src = URL.createObjectURL(file);
  video.onended = () => onEnd(new Trouble("file_over"));
  await play(video, "file_unreadable");
  if (!video.videoWidth) throw new Trouble("file_unreadable"); // a file that has sound only
}

async function play(video, name) {
  try {
    await video.play();
  } catch {
    throw new Trouble(name);
  }
}

export function closeSource(video) {
  video.onended = null;
  video.pause();
  video.srcObject?.getTracks().forEach((track) => track.stop());
  video.srcObject = null;
  if (video.src) URL.revokeObjectURL(video.src);
  video.removeAttribute("src");
  video.load();
}

// Takes the present picture, no larger than what the service needs: as JPEG to send, and as a bitmap to draw.
// Close the bitmap once it is drawn: at ten a second, unclosed ones fill the memory faster than it is tidied.
export class Shutter {
  #encoder = new Worker(new URL("encoder.js", import.meta.url));
  #waiting = new Map();
  #taken = 0;
  #fault = null;

  constructor() {
    this.#encoder.onmessage = ({ data: { number, fault, ...picture } }) => {
      const { resolve, reject } = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (fault) reject(new Error(fault));
      else resolve(picture);
    };
    this.#encoder.onerror = ({ message }) => {
      this.#fault = new Error(message || gettext("The browser can't load the JPEG encoder."));
      this.#waiting.forEach(({ reject }) => reject(this.#fault));
    };
  }

  async take(video) {
    const scale = Math.min(1, LARGEST.width / video.videoWidth, LARGEST.height / video.videoHeight);
    const [resizeWidth, resizeHeight] = [video.videoWidth, video.videoHeight].map((size) => Math.round(size * scale));
    const bitmap = await createImageBitmap(video, { resizeWidth, resizeHeight });
    if (this.#fault) throw this.#fault;
    const number = (this.#taken += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#encoder.postMessage({ number, bitmap }, [bitmap]);
    });
  }

  close() {
    this.#encoder.terminate();
  }
}
