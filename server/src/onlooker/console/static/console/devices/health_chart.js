// A day in quarters of an hour: amounts as bars that stand on one another, readings as bands from the least to the most.
// A quarter of an hour without a report stays empty.
import { drawChart } from "../dashboard/chart.js";
import { legend, tip } from "../dashboard/elements.js";
import { BARE_AXIS, FONT, GRID, NOT_KNOWN, colour } from "../dashboard/theme.js";

const AXIS_PX = 48; // about what the numbers beside the drawing take
const HOUR_PX = 44;
const EVERY_HOURS = [1, 2, 3, 6, 12, 24];
const LEAST_PX = 3; // a reading that stayed the same is still seen
const OTHER = "unknown"; // the mark of what has no colour of its own

const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
const fill = (mark) => (mark === OTHER ? NOT_KNOWN : colour(mark));
const clock = (key) => key.slice(11, 16);

export function drawHealth(figure, points, chart) {
  drawChart(figure, (width_px) => healthOption(points, chart, width_px));
  if (chart.series.length > 1) figure.querySelector(".drawing").append(legend(chart.series.map(ofTheDay)));
}

function ofTheDay({ mark, name, values }) {
  const all = values.reduce((sum, value) => sum + (value ?? 0), 0);
  return { mark, name, values: [number.format(all)] };
}

function healthOption(points, chart, width_px) {
  const series = chart.is_range ? chart.series.map(rangeBand) : chart.series.map(stackedBars);
  return {
    grid: { ...GRID, bottom: 4 },
    xAxis: {
      type: "category",
      data: points,
      ...BARE_AXIS,
      axisLine: { show: true, onZero: true, lineStyle: { color: colour("chart-line") } },
      axisLabel: hourLabels(points, (width_px - AXIS_PX) / points.length),
    },
    yAxis: {
      type: "value",
      scale: chart.is_range && !chart.from_zero,
      splitNumber: 3,
      axisLabel: { ...FONT, formatter: (value) => number.format(value) },
      splitLine: { lineStyle: { color: colour("chart-grid") } },
    },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow", label: { show: false }, shadowStyle: { color: colour("chart-hover"), opacity: 1 } },
      formatter: (under) => pointTip(points, chart, points.indexOf(under[0].axisValue)),
    },
    series,
  };
}

// At full hours, as many as have room. They stand at the bottom, also where readings are below zero.
function hourLabels(points, band_px) {
  const hour_px = 4 * band_px;
  const every = EVERY_HOURS.find((hours) => hours * hour_px >= HOUR_PX) ?? 24;
  const isShown = (index) => clock(points[index]).endsWith(":00") && Number(clock(points[index]).slice(0, 2)) % every === 0;
  return { ...FONT, hideOverlap: true, interval: isShown, formatter: (key) => clock(key) };
}

const stackedBars = ({ mark, name, values }) => ({
  type: "bar",
  stack: "all",
  name,
  data: values,
  barWidth: "80%",
  itemStyle: { color: fill(mark) },
  emphasis: { disabled: true },
});

// Values are pairs: the least and the most of a quarter of an hour.
function rangeBand({ mark, name, values }) {
  const data = values.flatMap((pair, index) => (pair ? [[index, ...pair]] : []));
  const renderItem = (params, api) => {
    const [band_px] = api.size([1, 0]);
    const [middle, bottom] = api.coord([api.value(0), api.value(1)]);
    const [, top] = api.coord([api.value(0), api.value(2)]);
    const height = Math.max(LEAST_PX, bottom - top);
    const width = Math.max(1, 0.8 * band_px);
    const shape = { x: middle - width / 2, y: (top + bottom - height) / 2, width, height };
    return { type: "rect", shape, style: { fill: fill(mark) } };
  };
  return { type: "custom", name, data, renderItem, encode: { x: 0, y: [1, 2] } };
}

function pointTip(points, { series, is_range, unit }, index) {
  const known = series.filter(({ values }) => values[index] !== null);
  const rows = known.map(({ mark, name, values }) => ({ mark, name, values: [reading(values[index], is_range, unit)] }));
  return tip(clock(points[index]), rows, rows.length ? "" : gettext("No report"));
}

function reading(value, isRange, unit) {
  const [low, high] = (isRange ? value : [value, value]).map((end) => number.format(end));
  const shown = low === high ? low : interpolate(gettext("%(low)s to %(high)s"), { low, high }, true);
  return `${shown} ${unit}`.trim();
}
