// Women to the left and men to the right of one axis; the unknown stand apart. All bars have one scale.
import { drawChart } from "../dashboard/chart.js";
import { legend, tip } from "../dashboard/elements.js";
import { BARE_AXIS, FONT, GRID, NOT_KNOWN, colour } from "../dashboard/theme.js";
import { count } from "../dashboard/words.js";
import { followSegments, namesLabel } from "./segments.js";

const UNKNOWN = "?";
const NUMBER_PX = 38; // room for a count behind a bar
const NAMES_PX = 56;
const LEFT = "female";
const RIGHT = "male";
const LOOK = { [LEFT]: colour(LEFT), [RIGHT]: colour(RIGHT), [UNKNOWN]: NOT_KNOWN };
const BOTH = "passing-by"; // the colour of women and men who are told only together

export function drawPyramid(figure, data) {
  const columns = data.genders
    .map(([key, name], index) => ({ key, name, counts: data.counts.map((row) => row[index]) }))
    .filter(({ key, counts }, _, all) => key !== UNKNOWN || all.length === 1 || counts.some(Boolean));
  drawChart(figure, (width_px) => pyramidOption(data, columns, width_px), followSegments(figure));
  const entries = columns.map(({ key, name }) => ({ mark: isOfBoth(key) ? BOTH : key === UNKNOWN ? "unknown" : sideOf(key), name }));
  figure.querySelector(".drawing").append(legend(entries));
}

// Genders that are told together, such as `?|female`, stand where one of them does.
function sideOf(key) {
  const genders = key.split("|");
  if (genders.includes(RIGHT)) return RIGHT;
  return genders.includes(LEFT) ? LEFT : UNKNOWN;
}

const isOfBoth = (key) => [LEFT, RIGHT].every((one) => key.split("|").includes(one));

function pyramidOption({ ages }, columns, width_px) {
  const on = (side) => columns.find(({ key }) => sideOf(key) === side);
  const most = (side) => Math.max(0, ...(on(side)?.counts ?? []));
  const [left, right, apart] = [LEFT, RIGHT, UNKNOWN].map(most);
  const label = namesLabel(ages, width_px);
  const unit_px = Math.max(1, width_px - (label.width ?? NAMES_PX) - columns.length * NUMBER_PX) / Math.max(1, left + right + apart);
  const room = NUMBER_PX / unit_px;
  const begins = right ? right + room : 0; // where the unknown begin
  const series = columns.map((column) => bars(column, ages, sideOf(column.key) === LEFT ? -1 : 1));
  if (apart && begins) {
    const spacing = on(RIGHT).counts.map((value) => begins - value);
    series.splice(-1, 0, { ...BARS, data: spacing, silent: true, itemStyle: { color: "transparent" } });
  }
  const max = (on(UNKNOWN) ? begins + apart : right) + (on(RIGHT) || on(UNKNOWN) ? room : 0);
  return {
    grid: { ...GRID, top: 0, bottom: 0 },
    xAxis: { type: "value", show: false, min: on(LEFT) ? -left - room : 0, max: max || 0 },
    yAxis: { ...NAMES, data: ages.map(([, name]) => name), axisLabel: label },
    tooltip: { trigger: "item", formatter: ({ data }) => data?.tip && tip(data.tip, [{ mark: "none", name: "", values: [data.count] }]) },
    series,
  };
}

function bars({ key, name, counts }, ages, sign) {
  const data = counts.map((value, index) => {
    const [age, ageName] = ages[index];
    return { value: sign * value, key: `${age}.${key}`, count: count(value), tip: `${ageName}, ${name}` };
  });
  const label = { ...FONT, show: true, position: sign < 0 ? "left" : "right", formatter: ({ data: { count } }) => count };
  return { ...BARS, name, data, label, itemStyle: { color: isOfBoth(key) ? colour(BOTH) : LOOK[sideOf(key)] } };
}

const NAMES = { type: "category", inverse: true, ...BARE_AXIS };
const BARS = { type: "bar", stack: "people", barWidth: "70%", barMaxWidth: 22, emphasis: { disabled: true } };
