// Hour of day by weekday. Where no hour was watched there is no cell, and the hatched ground shows; where the period has
// no such hour, that is covered.
import { drawChart, sayNothing } from "./chart.js";
import { element, key, tip } from "./elements.js";
import { BARE_AXIS, FONT, GRID, UNWATCHED, colour } from "./theme.js";
import { DAYS, SHORT_DAYS, hour, mean, say } from "./words.js";

const STEPS = 5;
const NARROW_PX = 500;
const EDGE = { borderColor: colour("chart-ground"), borderWidth: 1 };
const COVER = {
  type: "heatmap",
  name: "Not in this period",
  itemStyle: { ...EDGE, color: colour("chart-ground") },
  emphasis: { disabled: true },
  tooltip: { show: false },
};
const HOURS = Array.from({ length: 24 }, (_, number) => number);

export function drawWeek(figure, { week, points }) {
  const all = week.flatMap((hours, day) => hours.map((value, at) => ({ day, at, value })));
  const cells = all.filter(({ value }) => value !== null);
  if (!cells.length) return sayNothing(figure, gettext("No hour in this period was watched."));
  const most = Math.max(...cells.map(({ value }) => value));
  const isAsked = askedHours(points, figure.closest("#report").dataset.from);
  const outside = all.filter(({ day, at, value }) => value === null && !isAsked.has(24 * day + at));
  drawChart(figure, (width_px) => weekOption(cells, outside, most, width_px));
  figure.querySelector(".drawing").append(scale(most, cells.length + outside.length === all.length));
}

// The hours of the week of which the period has half or more, as the server counts them; by number, from Monday on.
function askedHours(points, from) {
  const asked = new Set();
  points.forEach(({ key, to }, index) => {
    const begins = index ? key : from;
    const day = (new Date(`${begins.slice(0, 10)}T00:00Z`).getUTCDay() + 6) % 7;
    const isCut = to.slice(0, 10) === begins.slice(0, 10); // else it lasts until midnight
    const end = isCut ? Number(to.slice(11, 13)) + (to.slice(14, 16) >= "30") : 24;
    const first = Number(begins.slice(11, 13)) + (begins.slice(14, 16) > "30");
    for (let at = first; at < end; at++) asked.add(24 * day + at);
  });
  return asked;
}

// 0 for nobody, then equal steps up to the most; divided first, so that the most is exactly the last.
const step = (value, most) => Math.ceil(STEPS * (value / most || 0));

function weekOption(cells, outside, most, width_px) {
  const look = (value) => ({ color: colour(`heat-${step(value, most)}`) });
  const data = cells.map(({ day, at, value }) => ({ value: [at, day, value], itemStyle: look(value) }));
  const covers = outside.map(({ day, at }) => [at, day, 0]);
  const every = width_px < NARROW_PX ? 5 : 2;
  return {
    grid: { ...GRID, top: 0, bottom: 8, show: true, backgroundColor: UNWATCHED, borderWidth: 0 },
    xAxis: { type: "category", data: HOURS.map(hour), ...BARE_AXIS, axisLabel: { ...FONT, interval: every } },
    yAxis: { type: "category", data: SHORT_DAYS, inverse: true, ...BARE_AXIS, axisLabel: { ...FONT, interval: 0 } },
    tooltip: { trigger: "item", formatter: ({ value }) => cellTip(value) },
    series: [
      { type: "heatmap", data, itemStyle: EDGE, emphasis: { disabled: true } },
      { ...COVER, data: covers },
    ],
  };
}

function cellTip([at, day, value]) {
  const when = { day: DAYS[day], begins: hour(at), ends: hour(at + 1) };
  const people = ngettext("%(people)s person an hour", "%(people)s people an hour", value);
  const name = say(people, { people: mean(value) });
  return tip(say(gettext("%(day)s, %(begins)s to %(ends)s"), when), [{ mark: "none", name }]);
}

function scale(most, isWhole) {
  const marks = Array.from({ length: most ? STEPS + 1 : 1 }, (_, number) => element("span", `mark heat-${number}`));
  const highest = most ? say(gettext("%(people)s people an hour"), { people: mean(most) }) : "";
  const row = element("p", "scale", key("0", ...marks, highest));
  if (!isWhole) row.append(key(element("span", "mark unwatched"), gettext("no hour watched")));
  return row;
}
