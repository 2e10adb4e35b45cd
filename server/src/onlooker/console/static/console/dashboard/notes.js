// What people noted of days: a strip over all buckets of a note, a line where one begins, and its words where there is
// room. They stand below the words of changes, which are drawn likewise.
import { FONT, colour } from "./theme.js";

const LETTER_PX = 7;
const GAP_PX = 4;
const STRIP_PX = 4;
const WORDS_PX = 18;
const ON_GROUND = { backgroundColor: colour("chart-ground"), padding: [1, 2] }; // bars may stand behind the words

export const hasNotes = (points) => points.some(({ notes }) => notes.length);

export function noteMarks(points) {
  const noted = points.flatMap(({ notes }, index) => (notes.length ? [[index, 0]] : []));
  const begun = points.map(({ notes }, index) => notes.filter((text) => !points[index - 1]?.notes.includes(text)));
  const renderItem = (params, api) => {
    const [band_px] = api.size([1, 0]);
    const index = api.value(0);
    const [middle] = api.coord([index, 0]);
    const { y, height } = params.coordSys;
    const x = middle - band_px / 2;
    const strip = { type: "rect", shape: { x, y, width: band_px, height: STRIP_PX }, style: { fill: colour("noted") } };
    if (!begun[index].length) return strip;
    const line = {
      type: "line",
      shape: { x1: x, x2: x, y1: y, y2: y + height },
      style: { stroke: colour("noted"), lineWidth: 1 },
    };
    const next = begun.findIndex((texts, other) => other > index && texts.length);
    const room_px = ((next < 0 ? points.length : next) - index) * band_px;
    const words = begun[index].join("; ");
    const text = { ...FONT, text: words, x: x + GAP_PX, y: y + WORDS_PX, fill: colour("noted"), ...ON_GROUND };
    const hasRoom = words.length * LETTER_PX + 2 * GAP_PX <= room_px;
    return { type: "group", children: hasRoom ? [strip, line, { type: "text", style: text }] : [strip, line] };
  };
  return { type: "custom", name: "Noted", data: noted, renderItem, silent: true, tooltip: { show: false }, z: 5 };
}
