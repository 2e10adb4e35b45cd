// Lying bars: the interested by age and by expression, with counts and shares at their ends.
import { drawChart } from "./chart.js";
import { UNKNOWN, readParts } from "./parts.js";
import { BARE_AXIS, FONT, GRID, NOT_KNOWN, colour } from "./theme.js";

const WRITTEN_PX = 96; // room for a count and a share behind the longest bar

export const drawAge = (figure, { age }) => drawBars(figure, age);
export const drawEmotion = (figure, { emotion }) => drawBars(figure, emotion);

function drawBars(figure, counts) {
  const parts = readParts(figure, counts);
  drawChart(figure, () => barsOption(parts));
}

function barsOption(parts) {
  const data = parts.map(({ key, value }) => {
    const color = key === UNKNOWN ? NOT_KNOWN : colour("passing-by");
    return { value, itemStyle: { color } };
  });
  const written = ({ dataIndex }) => {
    const [count, share] = parts[dataIndex].values;
    return `{count|${count}}{share|   ${share}}`;
  };
  const rich = { count: { ...FONT, fontWeight: 600 }, share: FONT };
  return {
    grid: { ...GRID, top: 0, right: WRITTEN_PX },
    xAxis: { type: "value", show: false, max: "dataMax" },
    yAxis: { ...NAMES, data: parts.map(({ name }) => name) },
    series: [{ ...BARS, data, label: { show: true, position: "right", formatter: written, rich } }],
  };
}

const NAMES = { type: "category", inverse: true, ...BARE_AXIS, axisLabel: { ...FONT, interval: 0 } };
const BARS = { type: "bar", barWidth: "64%", barMaxWidth: 26, emphasis: { disabled: true } };
