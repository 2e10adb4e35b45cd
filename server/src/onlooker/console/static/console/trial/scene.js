// What the service said of a picture: drawn over it, and in words.
const COLOURS = { face: "#4da3ff", unseen: "#c9ced8", gaze: "#3ddc84", body: "#ffab40" };
const MOODS = {
  emotion_neutral: pgettext("mood", "calm"),
  emotion_happiness: pgettext("mood", "happy"),
  emotion_surprise: pgettext("mood", "surprised"),
  emotion_anger: pgettext("mood", "angry"),
  emotion_sadness: pgettext("mood", "sad"),
};
const WHO = { female: gettext("Woman"), male: gettext("Man") };
const GENDERS = { female: pgettext("gender", "female"), male: pgettext("gender", "male") };
const LOOKING_RADIANS = (15 * Math.PI) / 180;
const HEAD_SHARE = 0.8;

export function readPeople(answer) {
  const [height, width] = answer.input_size;
  const faces = Object.entries(answer.entities).map(([id, entity]) => readFace(id, entity, { width, height }));
  const bodies = Object.entries(answer.bodies).map(([id, body]) => ({ id, roi: body.full_body_roi }));
  return { width, height, faces, bodies };
}

function readFace(id, entity, size) {
  const moods = Object.keys(MOODS).filter((name) => entity[name] > 0);
  const strongest = moods.sort((one, other) => entity[other] - entity[one])[0];
  return {
    id,
    roi: entity.face_roi,
    eyes: entity.face_eye,
    gaze: entity.gaze,
    age: isAgeKnown(entity) ? Math.round(entity.age) : null,
    gender: entity.gender in WHO ? entity.gender : null,
    mood: strongest ? MOODS[strongest] : null,
    isSeen: entity.face_confidence > 0,
    isLooking: looksAtCamera(entity, size),
  };
}

// Of who is not visible now the last known age stays, with confidence 0; an unknown one is 0 as well.
function isAgeKnown(entity) {
  return entity.age > 0 || entity.age_confidence > 0;
}

// The rule of the service's documentation: the head, a fifth of the way to the gaze, against the line to the camera.
function looksAtCamera(entity, { width, height }) {
  if (!entity.head_confidence) return false;
  const [left, top, faceWidth, faceHeight] = entity.face_roi;
  const [yaw, pitch] = [0, 1].map((axis) => HEAD_SHARE * entity.head[axis] + (1 - HEAD_SHARE) * entity.gaze[axis]);
  const cameraYaw = Math.atan((width / 2 - left - faceWidth / 2) / width);
  const cameraPitch = Math.atan((top + faceHeight / 2 - height / 2) / width);
  return Math.hypot(yaw - cameraYaw, pitch - cameraPitch) <= LOOKING_RADIANS;
}

export function describeFace(face) {
  const words = [WHO[face.gender] ?? gettext("Person")];
  // Translators: of a person's age.
  if (face.age !== null) words.push(interpolate(gettext("about %(age)s"), { age: face.age }, true));
  if (face.isSeen && face.mood) words.push(face.mood);
  words.push(describeLook(face));
  return words.join(", ");
}

function describeLook(face) {
  if (!face.isSeen) return gettext("face not visible now");
  return face.isLooking ? gettext("looks at the camera") : gettext("looks elsewhere");
}

export function describePeople({ faces, bodies }) {
  return [...faces.map(describeFace), ...bodies.map(() => gettext("Somebody whose face was not seen"))];
}

// The picture that was sent, with what was found in it: the live one is ahead by a round trip, and no box would fit.
// The canvas has as many pixels as the screen shows of it, whatever the size of what was sent.
export function drawScene(canvas, people, picture) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = new Pen(canvas.getContext("2d"), { scale: width / people.width, ratio });
  pen.place(picture);
  for (const { roi } of people.bodies) pen.box(roi, COLOURS.body, { dashed: true });
  for (const face of people.faces) {
    pen.box(face.roi, face.isSeen ? COLOURS.face : COLOURS.unseen, { dashed: !face.isSeen });
    if (face.isSeen) face.eyes.forEach((eye) => pen.rod(eye, face.gaze, 1.5 * face.roi[2]));
    pen.label(face.roi, labelOf(face));
  }
}

export function wipe(canvas) {
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
}

function labelOf(face) {
  const age = face.age === null ? "" : String(face.age);
  const parts = [GENDERS[face.gender] ?? "", age, face.isSeen ? face.mood : ""];
  return parts.filter(Boolean).join(" · ");
}

// Every line has a dark one beneath it, so that it is seen on light ground and on dark.
class Pen {
  #context;
  #scale;
  #ratio;

  constructor(context, { scale, ratio }) {
    this.#context = context;
    this.#scale = scale;
    this.#ratio = ratio;
  }

  place(picture) {
    const { canvas } = this.#context;
    this.#context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  }

  box(roi, colour, { dashed = false } = {}) {
    const [x, y, width, height] = roi.map((value) => value * this.#scale);
    this.#context.setLineDash(dashed ? [8 * this.#ratio, 6 * this.#ratio] : []);
    this.#stroke(colour, () => this.#context.rect(x, y, width, height));
    this.#context.setLineDash([]);
  }

  // As the camera sees it: yaw grows towards the right of the picture, pitch upwards.
  rod([x, y], [yaw, pitch], length) {
    const [left, top] = [x * this.#scale, y * this.#scale];
    const reach = length * this.#scale;
    this.#stroke(COLOURS.gaze, () => {
      this.#context.moveTo(left, top);
      this.#context.lineTo(left + reach * Math.sin(yaw), top - reach * Math.sin(pitch));
    });
    this.#context.beginPath();
    this.#context.arc(left, top, 3 * this.#ratio, 0, 2 * Math.PI);
    this.#context.fillStyle = COLOURS.gaze;
    this.#context.fill();
  }

  label([x, y, , height], text) {
    if (!text) return;
    const size = 14 * this.#ratio;
    this.#context.font = `600 ${size}px system-ui, sans-serif`;
    const width = this.#context.measureText(text).width + size;
    const left = Math.max(0, Math.min(x * this.#scale, this.#context.canvas.width - width));
    const top = Math.min((y + height) * this.#scale + 4 * this.#ratio, this.#context.canvas.height - 1.5 * size);
    this.#context.fillStyle = "rgb(0 0 0 / 75%)";
    this.#context.fillRect(left, top, width, 1.5 * size);
    this.#context.fillStyle = "#fff";
    this.#context.fillText(text, left + size / 2, top + 1.1 * size);
  }

  #stroke(colour, trace) {
    for (const [style, width] of [["rgb(0 0 0 / 60%)", 4], [colour, 2]]) {
      this.#context.beginPath();
      trace();
      this.#context.strokeStyle = style;
      this.#context.lineWidth = width * this.#ratio;
      this.#context.stroke();
    }
  }
}
