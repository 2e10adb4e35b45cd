// What drawings of parts have in common: their links and their names.
import { FONT } from "../dashboard/theme.js";

const [TOGETHER_PX, NARROW_TOGETHER_PX] = [112, 80];
const NARROW_PX = 500;

// What is clicked in a drawing is the link of the same segment in the table beside it, as a keyboard follows it.
const linkOf = (figure, key) => figure.querySelector(`a[data-segment="${CSS.escape(key)}"]`);

export function followSegments(figure) {
  return (chart) => chart.on("click", ({ data }) => data?.key && linkOf(figure, data.key)?.click());
}

// Names of parts that are told only together are long, and stand on several lines.
export function namesLabel(parts, width_px) {
  const width = width_px < NARROW_PX ? NARROW_TOGETHER_PX : TOGETHER_PX;
  const wrapped = { width, overflow: "break", lineHeight: 14 };
  return { ...FONT, interval: 0, ...(parts.some(([key]) => key.includes("|")) ? wrapped : {}) };
}
