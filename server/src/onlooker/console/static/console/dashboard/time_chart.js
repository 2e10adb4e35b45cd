// Passing by and interested, bucket by bucket. What was not watched hangs from the top as hatched bands.
import { changeLines, hasChanges } from "./changes.js";
import { drawChart } from "./chart.js";
import { legend, tip } from "./elements.js";
import { gapBands, missing } from "./gaps.js";
import { hasNotes, noteMarks } from "./notes.js";
import { BARE_AXIS, FONT, GRID, colour } from "./theme.js";
import { axisLabels } from "./time_axis.js";
import { count } from "./words.js";
import { offerWayBack, zoomByClick } from "./zoom.js";

const CLOSE_PX = 10; // bars that stand closer have no room for one inside the other
const OUTER = { barWidth: "70%", barMaxWidth: 72 };
const INNER = { barWidth: "40%", barMaxWidth: 41 };
const AXIS_PX = 40; // about what the numbers beside the bars take

const SHOWN = { ...BARE_AXIS, axisLine: { show: true, lineStyle: { color: colour("chart-line") } } };
const POINTER = { type: "shadow", label: { show: false }, shadowStyle: { color: colour("chart-hover"), opacity: 1 } };
const COUNTS = {
  type: "value",
  minInterval: 1,
  splitNumber: 4,
  axisLabel: { ...FONT, formatter: (value) => count(value) },
  splitLine: { lineStyle: { color: colour("chart-grid") } },
};

export function drawTime(figure, { points }) {
  const makeOption = (width_px) => timeOption(points, (width_px - AXIS_PX) / points.length);
  drawChart(figure, makeOption, (chart) => zoomByClick(figure, chart, points));
  figure.querySelector(".drawing").append(legend(meanings(points)));
  offerWayBack(figure);
}

function meanings(points) {
  const entries = [
    { mark: "passing-by", name: "Passing by" },
    { mark: "interested", name: "Interested" },
  ];
  const missed = points.map(missing);
  const isPart = missed.some((share) => share && share < 1);
  const name = isPart ? "Not watched (height: share of the time)" : "Not watched";
  if (missed.some(Boolean)) entries.push({ mark: "unwatched", name });
  if (hasChanges(points)) entries.push({ mark: "change", name: "Camera or version changed" });
  if (hasNotes(points)) entries.push({ mark: "noted", name: "Note" });
  return entries;
}

function timeOption(points, band_px) {
  const buckets = { type: "category", data: points.map(({ key }) => key) };
  const isClose = band_px < CLOSE_PX;
  const counts = (metric) => points.map((point) => point[metric]);
  return {
    grid: { ...GRID, bottom: 4 },
    // The same buckets three times: bars of one axis would stand beside each other.
    xAxis: [{ ...buckets, ...SHOWN, axisLabel: axisLabels(points, band_px) }, hidden(buckets), hidden(buckets)],
    yAxis: [COUNTS, hidden({ type: "value", min: 0, max: 1, inverse: true })],
    tooltip: { trigger: "axis", axisPointer: POINTER, formatter: (under) => pointTip(points[under[0].dataIndex]) },
    series: [
      { ...gapBands(points, band_px), xAxisIndex: 2, yAxisIndex: 1 },
      { ...bars("passing-by", isClose ? null : OUTER), name: "Passing by", data: counts("passing_by") },
      { ...bars("interested", isClose ? null : INNER), name: "Interested", data: counts("interested"), xAxisIndex: 1 },
      changeLines(points),
      noteMarks(points),
    ],
  };
}

const hidden = (axis) => ({ ...axis, show: false, axisPointer: { show: false } });

// Without a width they touch, and are one shape: a year would have hundreds.
function bars(mark, width) {
  if (width) return { type: "bar", itemStyle: { color: colour(mark) }, emphasis: { disabled: true }, ...width };
  const style = { fill: colour(mark) };
  const renderItem = ({ dataIndexInside, dataInsideLength }, api) =>
    dataIndexInside ? null : { type: "path", shape: { pathData: outline(api, dataInsideLength) }, style };
  return { type: "custom", renderItem };
}

function outline(api, length) {
  const [band_px] = api.size([1, 0]);
  const counted = Array.from({ length }, (_, index) => index).filter((index) => api.value(1, index) > 0);
  const bar = (index) => {
    const [middle, top] = api.coord([index, api.value(1, index)]);
    const [, bottom] = api.coord([index, 0]);
    return `M${middle - band_px / 2} ${bottom}V${top}h${band_px}V${bottom}Z`;
  };
  return counted.map(bar).join("") || "M0 0";
}

function pointTip({ label, passing_by, interested, words }) {
  const rows = [
    { mark: "passing-by", name: "Passing by", value: passing_by },
    { mark: "interested", name: "Interested", value: interested },
  ];
  const counted = rows.filter(({ value }) => value !== null);
  return tip(label, counted.map((row) => ({ ...row, values: [count(row.value)] })), words);
}
