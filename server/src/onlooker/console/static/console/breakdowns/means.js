// Means as points with their intervals: ages and genders as rows, hours from left to right.
import { drawChart } from "../dashboard/chart.js";
import { legend, tip } from "../dashboard/elements.js";
import { BARE_AXIS, FONT, GRID, colour } from "../dashboard/theme.js";
import { count, decimal } from "../dashboard/words.js";
import { followSegments, namesLabel } from "./segments.js";

const POINT_PX = 5;
const CAP_PX = 4;
const APART_PX = 6; // genders that share a row
const NARROW_PX = 500;

export function drawMeans(figure, data) {
  drawChart(figure, (width_px) => meansOption(data, width_px), followSegments(figure));
  const genders = new Map(data.rows.map(({ mark, part }) => [mark, part]));
  if (data.rows.some(({ offset }) => offset)) {
    figure.querySelector(".drawing").append(legend([...genders].map(([mark, name]) => ({ mark, name }))));
  }
}

function meansOption(data, width_px) {
  const places = [...new Set(data.rows.map(({ place }) => place))];
  const label = { ...namesLabel(data.rows.map(({ key }) => [key.split(".")[0]]), width_px), interval: labelEvery(data, width_px) };
  const names = { type: "category", data: places, ...BARE_AXIS, axisLabel: label };
  const seconds = {
    type: "value",
    min: 0,
    splitNumber: 4,
    axisLabel: { ...FONT, formatter: (value) => `${count(value)} s` },
    splitLine: { lineStyle: { color: colour("chart-grid") } },
  };
  const rows = data.rows.filter(({ value }) => value !== null);
  const points = rows.map((row) => {
    const [low, high] = row.interval ?? [row.value, row.value];
    return { ...row, number: row.value, value: [places.indexOf(row.place), row.value, low, high] };
  });
  return {
    grid: { ...GRID, top: 8, right: 12, bottom: 4 },
    xAxis: data.isUpright ? names : seconds,
    yAxis: data.isUpright ? seconds : { ...names, inverse: true },
    tooltip: { trigger: "item", formatter: ({ data: row }) => rowTip(row, data.name) },
    series: [{ type: "custom", data: points, ...encode(data), renderItem: (params, api) => point(points, data, params, api) }],
  };
}

const labelEvery = ({ isUpright }, width_px) => (isUpright ? (width_px < NARROW_PX ? 5 : 2) : 0);
// All three numbers count for how long the axis is.
const encode = ({ isUpright }) => ({ encode: isUpright ? { x: 0, y: [1, 2, 3] } : { y: 0, x: [1, 2, 3] } });

function point(points, { isUpright }, { dataIndex }, api) {
  const { mark, offset, interval } = points[dataIndex];
  const [place, value, low, high] = [0, 1, 2, 3].map((number) => api.value(number));
  const at = (seconds) => {
    const [x, y] = api.coord(isUpright ? [place, seconds] : [seconds, place]);
    return isUpright ? [x + offset * APART_PX, y] : [x, y + offset * APART_PX];
  };
  const [x, y] = at(value);
  const fill = colour(mark);
  const circle = { type: "circle", shape: { cx: x, cy: y, r: POINT_PX }, style: { fill } };
  if (!interval) return circle;
  const [x1, y1] = at(low);
  const [x2, y2] = at(high);
  const line = (from, to) => ({ type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: fill, lineWidth: 2 } });
  const [dx, dy] = isUpright ? [CAP_PX, 0] : [0, CAP_PX];
  const cap = (cx, cy) => line([cx - dx, cy - dy], [cx + dx, cy + dy]);
  return { type: "group", children: [line([x1, y1], [x2, y2]), cap(x1, y1), cap(x2, y2), circle] };
}

function rowTip({ name, number, interval, shownInterval, people }, metric) {
  const rows = [{ mark: "none", name: metric, values: [`${decimal(number)} s`] }];
  if (interval) rows.push({ mark: "none", name: gettext("95 % interval"), values: [shownInterval] });
  rows.push({ mark: "none", name: gettext("Interested"), values: [count(people)] });
  return tip(name, rows);
}
