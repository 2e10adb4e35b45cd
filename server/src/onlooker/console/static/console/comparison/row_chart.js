// A line for each row of a comparison. A line is interrupted where no time is compared; a point alone is a dot.
import { drawChart } from "../dashboard/chart.js";
import { legend, tip } from "../dashboard/elements.js";
import { BARE_AXIS, FONT, GRID, colour } from "../dashboard/theme.js";
import { axisLabels } from "../dashboard/time_axis.js";

const AXIS_PX = 48; // about what the numbers beside the drawing take
const DOTS_FROM_PX = 24; // points that stand closer are a line alone
const DOT_PX = 3;
const COLOURS = 5; // rows after these have the same colours, and broken lines

const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });

export function drawRows(figure, { points, rows, unit }) {
  drawChart(figure, (width_px) => rowsOption(points, rows, unit, (width_px - AXIS_PX) / points.length));
  figure.querySelector(".drawing").append(legend(rows.map(({ mark, name }) => ({ mark, name }))));
}

function rowsOption(points, rows, unit, band_px) {
  return {
    grid: { ...GRID, bottom: 4 },
    xAxis: {
      type: "category",
      data: points.map(({ key }) => key),
      ...BARE_AXIS,
      axisLine: { show: true, lineStyle: { color: colour("chart-line") } },
      axisLabel: axisLabels(points, band_px),
    },
    yAxis: {
      type: "value",
      min: 0,
      splitNumber: 4,
      axisLabel: { ...FONT, formatter: (value) => `${number.format(value)}${unit && ` ${unit}`}` },
      splitLine: { lineStyle: { color: colour("chart-grid") } },
    },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "line", label: { show: false }, lineStyle: { color: colour("chart-line") } },
      formatter: (under) => pointTip(points, rows, under[0].dataIndex),
    },
    series: rows.map((row, place) => rowLine(row, place, band_px)),
  };
}

// As one shape: ECharts' own lines are not in our bundle.
function rowLine({ mark, name, values }, place, band_px) {
  const data = values.map((value, index) => [index, value ?? "-"]);
  const renderItem = ({ dataIndexInside }, api) => {
    if (dataIndexInside) return null;
    const at = (index) => api.coord([index, values[index]]);
    const lineDash = place >= COLOURS ? [6, 4] : null;
    const style = { stroke: colour(mark), fill: "none", lineWidth: 2, lineDash };
    const line = { type: "path", shape: { pathData: pathOf(values, at) }, style };
    const dots = values.flatMap((value, index) => (isDot(values, index, band_px) ? [dot(at(index), mark)] : []));
    return { type: "group", children: [line, ...dots] };
  };
  return { type: "custom", name, data, renderItem, encode: { x: 0, y: 1 } };
}

function pathOf(values, at) {
  const parts = values.map((value, index) => {
    if (value === null) return "";
    const [x, y] = at(index);
    return `${index && values[index - 1] !== null ? "L" : "M"}${x} ${y}`;
  });
  return parts.join("") || "M0 0";
}

function isDot(values, index, band_px) {
  if (values[index] === null) return false;
  const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
  return isAlone || band_px >= DOTS_FROM_PX;
}

const dot = ([cx, cy], mark) => ({ type: "circle", shape: { cx, cy, r: DOT_PX }, style: { fill: colour(mark) } });

function pointTip(points, rows, index) {
  const known = rows.filter(({ values }) => values[index] !== null);
  const shown = known.map(({ mark, name, shown }) => ({ mark, name, values: [shown[index]] }));
  return tip(points[index].label, shown, shown.length ? "" : gettext("Nothing to compare"));
}
