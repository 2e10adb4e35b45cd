// Any number by hour of the week. Cells of too few people are crossed out; where nothing was watched, the ground shows.
import { drawChart } from "../dashboard/chart.js";
import { element, key, tip } from "../dashboard/elements.js";
import { BARE_AXIS, FONT, GRID, UNWATCHED, colour } from "../dashboard/theme.js";
import { hour, mean } from "../dashboard/words.js";
import { followSegments } from "./segments.js";

const STEPS = 5;
const NARROW_PX = 500;
const HOURS_A_DAY = 24;
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const EDGE = { borderColor: colour("chart-ground"), borderWidth: 1 };
const QUIET = { emphasis: { disabled: true } };

export function drawHeat(figure, data) {
  const cells = data.values.flatMap((day, row) => day.map((value, at) => ({ row, at, value, shown: data.shown[row][at] })));
  const known = cells.filter(({ value }) => value !== null);
  const values = known.map(({ value }) => value);
  const ends = { least: data.isRate ? 0 : Math.min(...values), most: Math.max(...values) };
  drawChart(figure, (width_px) => heatOption(data, known, ends, width_px), followSegments(figure));
  figure.querySelector(".drawing").append(scale(data, ends, known.length));
}

// Of counts 0 is nobody, and any more is the first step; means and shares go from the least to the most.
function step(value, { least, most }, isRate) {
  const share = most > least ? (value - least) / (most - least) : 1;
  return isRate ? Math.ceil(STEPS * (most ? value / most : 0)) : Math.max(1, Math.ceil(STEPS * share));
}

function heatOption(data, known, ends, width_px) {
  const place = (number) => [number % HOURS_A_DAY, Math.floor(number / HOURS_A_DAY)];
  const points = known.map(({ row, at, value, shown }) => ({
    value: [at, row, value],
    key: `${WEEKDAYS[row]}.${String(at).padStart(2, "0")}`,
    shown,
    itemStyle: { color: colour(`heat-${step(value, ends, data.isRate)}`) },
  }));
  const covers = (numbers, look) => numbers.map((number) => ({ value: [...place(number), 0], itemStyle: look }));
  const names = data.days.map((name) => name.slice(0, 3));
  const every = width_px < NARROW_PX ? 5 : 2;
  const axis = { type: "category", ...BARE_AXIS };
  return {
    grid: { ...GRID, top: 0, bottom: 8, show: true, backgroundColor: data.isRate ? UNWATCHED : "transparent", borderWidth: 0 },
    xAxis: { ...axis, data: Array.from({ length: HOURS_A_DAY }, (_, at) => hour(at)), axisLabel: { ...FONT, interval: every } },
    yAxis: { ...axis, data: names, inverse: true, axisLabel: { ...FONT, interval: 0 } },
    tooltip: { trigger: "item", formatter: ({ data: cell }) => cell.key && cellTip(cell, data) },
    series: [
      { type: "heatmap", data: points, itemStyle: EDGE, ...QUIET },
      { type: "heatmap", name: "Not asked for", silent: true, data: covers(data.outside, { ...EDGE, color: colour("chart-ground") }), ...QUIET },
      { type: "heatmap", name: "Too few", silent: true, data: covers(data.few, { ...EDGE, color: colour("chart-grid") }), ...QUIET },
    ],
  };
}

function cellTip({ value: [at, row], shown }, { days, unit, isRate }) {
  const said = isRate ? interpolate(gettext("%(number)s an hour"), { number: shown }, true) : `${shown} ${unit}`;
  return tip(`${days[row]}, ${hour(at)}–${hour(at + 1)}`, [{ mark: "none", name: said }]);
}

function scale({ unit, isRate, few, outside }, { least, most }, known) {
  const written = (value) => (unit === "%" ? mean(100 * value) : mean(value));
  const first = isRate && most ? 0 : 1;
  const marks = Array.from({ length: STEPS + 1 - first }, (_, number) => element("span", `mark heat-${number + first}`));
  const end = isRate ? interpolate(gettext("%(number)s people an hour"), { number: written(most) }, true) : `${written(most)} ${unit}`;
  const row = element("p", "scale", key(isRate ? "0" : written(least), ...marks, end));
  if (few.length) row.append(key(element("span", "mark too-few"), gettext("fewer than 10 people")));
  if (isRate && known + outside.length < 7 * HOURS_A_DAY) row.append(key(element("span", "mark unwatched"), gettext("not watched")));
  return row;
}
