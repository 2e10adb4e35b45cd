// How many people stay for how long: a bar for each band of seconds.
import { drawChart } from "../dashboard/chart.js";
import { BARE_AXIS, FONT, GRID, colour } from "../dashboard/theme.js";
import { count } from "../dashboard/words.js";
import { followSegments } from "./segments.js";

const WRITTEN_PX = 104; // room for a count and a share behind the longest bar

export function drawStays(figure, { bands }) {
  drawChart(figure, () => staysOption(bands), followSegments(figure));
}

function staysOption(bands) {
  const data = bands.map(([key, , value]) => ({ key, value }));
  const written = ({ dataIndex }) => {
    const [, , value, share] = bands[dataIndex];
    return `{count|${count(value)}}{share|   ${share}}`;
  };
  const rich = { count: { ...FONT, fontWeight: 600 }, share: FONT };
  const names = { type: "category", inverse: true, ...BARE_AXIS, axisLabel: { ...FONT, interval: 0 } };
  const label = { show: true, position: "right", formatter: written, rich };
  const look = { barWidth: "64%", barMaxWidth: 26, emphasis: { disabled: true }, itemStyle: { color: colour("passing-by") } };
  return {
    grid: { ...GRID, top: 0, right: WRITTEN_PX },
    xAxis: { type: "value", show: false, max: "dataMax" },
    yAxis: { ...names, data: bands.map(([, name]) => name) },
    series: [{ type: "bar", ...look, data, label }],
  };
}
