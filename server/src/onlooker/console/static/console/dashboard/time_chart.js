// Numbers bucket by bucket: people as bars, means and shares as lines. What was not watched is hatched.
import { changeLines, hasChanges } from "./changes.js";
import { drawChart } from "./chart.js";
import { legend, tip } from "./elements.js";
import { STRIP_ROOM_PX, gapBands, isPart, missing, partStrips } from "./gaps.js";
import { fewMarks, isBars, lineRow, lineSeries, markOf } from "./lines.js";
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
const VALUES = {
  type: "value",
  splitNumber: 4,
  axisLabel: { ...FONT, formatter: (value) => count(value) },
  splitLine: { lineStyle: { color: colour("chart-grid") } },
};
const NAMED_PX = 22; // above the drawing, for the names of its axes

// `chart` has the lines, and the buckets of today that have not begun.
export function drawTime(figure, { points, chart }) {
  const slots = points.length + chart.ahead.length;
  const makeOption = (width_px) => timeOption(points, chart, (width_px - AXIS_PX) / slots);
  drawChart(figure, makeOption, (drawing) => zoomByClick(figure, drawing, points));
  figure.querySelector(".drawing").append(legend(meanings(points, chart)));
  offerWayBack(figure);
}

// The two counts of the usual chart, or the one that was chosen: all have the marks of people passing by.
function barsOf(points, { bars, lines }) {
  const [passing_by, interested] = bars;
  if (!bars.length) return lines.filter(isBars).map((line) => ({ mark: "passing-by", series: line.metric, ...line }));
  const values = (metric) => points.map((point) => point[metric]);
  return [
    { mark: "passing-by", series: "Passing by", name: passing_by, values: values("passing_by") },
    { mark: "interested", series: "Interested", name: interested, values: values("interested") },
  ];
}

const linesOf = ({ lines }) => lines.filter((line) => !isBars(line));

function meanings(points, chart) {
  const entries = barsOf(points, chart).map(({ mark, name }) => ({ mark, name }));
  entries.push(...linesOf(chart).map((line) => ({ mark: markOf(line), name: line.name })));
  const missed = points.map(missing);
  if (missed.includes(1)) entries.push({ mark: "unwatched", name: gettext("Not watched") });
  if (missed.some(isPart)) entries.push({ mark: "unwatched part", name: gettext("Partly not watched (width: share of the time)") });
  if (chart.lines.some(({ few }) => few.length)) entries.push({ mark: "few", name: gettext("Fewer than 10 people") });
  if (hasChanges(points)) entries.push({ mark: "change", name: gettext("Camera or version changed") });
  if (hasNotes(points)) entries.push({ mark: "noted", name: gettext("Note") });
  return entries;
}

function timeOption(points, chart, band_px) {
  const { ahead, axes, lines } = chart;
  const slots = [...points, ...ahead];
  const buckets = { type: "category", data: slots.map(({ key }) => key) };
  const isClose = band_px < CLOSE_PX;
  const isNamed = axes.left || axes.right;
  const labels = axisLabels(slots, band_px);
  const [outer, inner] = barsOf(points, chart);
  const under = ([found]) => (found ? slotTip(slots[found.dataIndex], found.dataIndex, points, chart) : "");
  const series = [{ ...gapBands(points, band_px), xAxisIndex: 2, yAxisIndex: 1 }, partStrips(points)];
  if (outer) series.push({ ...bars(outer.mark, isClose ? null : OUTER), name: outer.series, data: outer.values });
  if (inner) {
    series.push({ ...bars(inner.mark, isClose ? null : INNER), name: inner.series, data: inner.values, xAxisIndex: 1 });
  }
  const few = { few: [...new Set(lines.filter(({ role }) => role === "main").flatMap((line) => line.few))] };
  return {
    grid: { ...GRID, top: isNamed ? NAMED_PX : GRID.top, bottom: 4 },
    // The same buckets three times: bars of one axis would stand beside each other.
    xAxis: [
      { ...buckets, ...SHOWN, axisLabel: points.map(missing).some(isPart) ? { ...labels, margin: STRIP_ROOM_PX } : labels },
      hidden(buckets),
      hidden(buckets),
    ],
    yAxis: [
      valueAxis(axes.left, lines.some(({ axis, unit }) => axis === "left" && unit) ? 0 : 1),
      hidden({ type: "value", min: 0, max: 1, inverse: true }),
      ...(axes.right ? [{ ...valueAxis(axes.right, 0, "right"), position: "right", splitLine: { show: false } }] : []),
    ],
    tooltip: { trigger: "axis", axisPointer: POINTER, formatter: under },
    series: [
      ...series,
      fewMarks(few),
      ...linesOf(chart).flatMap((line) => lineSeries(line, band_px)),
      changeLines(points),
      noteMarks(points),
    ],
  };
}

// From zero on, as bars are. People are whole.
function valueAxis(name, minInterval, align = "left") {
  const nameTextStyle = { ...FONT, align, padding: [0, 0, 2, 0] };
  return { ...VALUES, minInterval, min: 0, ...(name ? { name, nameLocation: "end", nameGap: 8, nameTextStyle } : {}) };
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

function slotTip({ label, words = "" }, index, points, chart) {
  const counted = barsOf(points, chart)
    .map(({ mark, name, values }) => ({ mark, name, value: values[index] }))
    .filter(({ value }) => value !== null && value !== undefined)
    .map((row) => ({ ...row, values: [count(row.value)] }));
  const said = linesOf(chart).map((line) => lineRow(line, index));
  return tip(label, [...counted, ...said.filter(Boolean)], words);
}
