// Where the camera's view or a version changed: a thin line at the start of the bucket, with words where there is room.
import { FONT, colour } from "./theme.js";

const LETTER_PX = 7;
const GAP_PX = 4;

export const hasChanges = (points) => points.some(({ changes }) => changes.length);

export function changeLines(points) {
  const changed = points.flatMap(({ changes }, index) => (changes.length ? [[index, 0]] : []));
  const renderItem = (params, api) => {
    const [band_px] = api.size([1, 0]);
    const index = api.value(0);
    const [middle] = api.coord([index, 0]);
    const next = changed.find(([other]) => other > index)?.[0] ?? points.length;
    const words = points[index].changes.join(", ");
    const { y, height } = params.coordSys;
    const x = middle - band_px / 2;
    const line = {
      type: "line",
      shape: { x1: x, x2: x, y1: y, y2: y + height },
      style: { stroke: colour("chart-ink"), lineWidth: 1, lineDash: [3, 3] },
    };
    const hasRoom = words.length * LETTER_PX + 2 * GAP_PX <= (next - index) * band_px;
    const text = { ...FONT, text: words, x: x + GAP_PX, y: y + 2, fill: colour("chart-ink") };
    return { type: "group", children: hasRoom ? [line, { type: "text", style: text }] : [line] };
  };
  return { type: "custom", name: "Changed", data: changed, renderItem, silent: true, tooltip: { show: false }, z: 5 };
}
