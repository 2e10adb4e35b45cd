// Times that were not watched. A bucket of which all is missing is a hatched band, with the reason. One of which part is
// missing has a strip at its foot, below the axis: its hatched part is the share of the time. No number is read off either.
import { FONT, UNWATCHED, colour } from "./theme.js";
import { GAPS, capital } from "./words.js";

const WATCHED = 0.99; // from here on a bucket counts as watched: a frame may be late
const SHORT_MS = 60_000; // less says nothing, and would be a tall band in an hour that has just begun
const LINE_PX = 18; // what a line of words needs
const LETTER_PX = 8;
const LETTERS = 30;

// How much of a bucket is missing, from 0 to 1; nothing where nobody knows.
export function missing({ gap, watched, key, to }) {
  if (gap === "closed") return 0; // nobody was to be watched for
  if (gap) return 1;
  if (watched === null || watched >= WATCHED) return 0;
  const share = 1 - watched;
  return share * (new Date(to) - new Date(key)) < SHORT_MS ? 0 : share;
}

export function gapBands(points, band_px) {
  const labels = gapLabels(points, band_px);
  const data = points.map((point, index) => (missing(point) === 1 ? { value: 1, label: labels.get(index) } : null));
  const look = { itemStyle: { color: UNWATCHED }, barWidth: "100%", emphasis: { disabled: true } };
  return { ...look, type: "bar", name: "Not watched", data };
}

const STRIP_PX = 8;
const BELOW_PX = 2;
const INSET_PX = 1;
const HATCHED_FROM_PX = 8; // narrower, lines would not be seen as lines

// How far labels stand away from the axis, so that strips have room.
export const STRIP_ROOM_PX = STRIP_PX + BELOW_PX + 5;

export const isPart = (share) => share > 0 && share < 1;

export function partStrips(points) {
  const shares = points.map(missing);
  const data = shares.flatMap((share, index) => (isPart(share) ? [[index, 0]] : []));
  const renderItem = (params, api) => {
    const [band_px] = api.size([1, 0]);
    const index = api.value(0);
    const [middle] = api.coord([index, 0]);
    const width = Math.max(1, band_px - 2 * INSET_PX);
    const x = middle - width / 2;
    const y = params.coordSys.y + params.coordSys.height + BELOW_PX;
    const hatched = width * shares[index];
    const fill = band_px < HATCHED_FROM_PX ? colour("chart-hatch") : UNWATCHED;
    const part = { x: x + width - hatched, y, width: hatched, height: STRIP_PX };
    return {
      type: "group",
      children: [
        { type: "rect", shape: part, style: { fill, stroke: "none" } },
        { type: "rect", shape: { x, y, width, height: STRIP_PX }, style: { fill: "none", stroke: colour("chart-hatch") } },
      ],
    };
  };
  return { type: "custom", name: "Partly watched", data, renderItem, clip: false, silent: true, tooltip: { show: false } };
}

// The reason, once for neighbours that have the same one.
function gapLabels(points, band_px) {
  const reasons = points.map(reasonOf);
  const labels = new Map();
  for (let first = 0, next; first < points.length; first = next) {
    for (next = first + 1; next < points.length && reasons[next] === reasons[first]; ) next++;
    if (!reasons[first]) continue;
    const middle = (first + next - 1) / 2;
    const label = reasonLabel(reasons[first], (next - first) * band_px, (middle % 1) * band_px);
    labels.set(Math.floor(middle), label);
  }
  return labels;
}

// As the table says it, unless that is long.
function reasonOf({ gap, words }) {
  if (!gap) return "";
  return words.length <= LETTERS && !words.includes(";") ? capital(words) : (GAPS[gap] ?? gap);
}

// Along the band, else upright, else only in the tip and in the table.
function reasonLabel(words, length_px, shift_px) {
  const isUpright = length_px < LETTER_PX * words.length + 12;
  const place = { position: "inside", rotate: isUpright ? 90 : 0, offset: isUpright ? [0, shift_px] : [shift_px, 0] };
  const look = { backgroundColor: colour("chart-ground"), padding: [3, 6], borderRadius: 3 };
  return { ...FONT, ...look, ...place, show: length_px >= LINE_PX, formatter: words };
}
