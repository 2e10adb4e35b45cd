// The lines of the time chart: a number of another kind than the bars, one beside it, and the ghost of an earlier time.
import { FONT, colour } from "./theme.js";
import { count, decimal } from "./words.js";

const SYMBOL_PX = 9; // where points would stand closer, there is only the line
const FEW_PX = 4;
const LETTER_PX = 7;
const FEW = gettext("too few");
const LOOK = {
  main: { mark: "passing-by", symbol: "circle", width: 2 },
  beside: { mark: "beside", symbol: "diamond", width: 2 },
  ghost: { mark: "ghost", symbol: "none", width: 2, dash: [5, 4] },
};

// As a person reads it: `5.6 s`, `13.4 %`, `1,467`.
export function written(value, unit) {
  if (unit === "%") return `${decimal(100 * value)} %`;
  return unit ? `${decimal(value)} ${unit}` : count(value);
}

export const markOf = ({ role }) => `line ${LOOK[role].mark}`;

// Counts of the bucket itself are bars, everything else is a line.
export const isBars = ({ role, unit }) => role === "main" && !unit;

export function lineSeries(line, band_px) {
  const { mark, symbol, width, dash } = LOOK[line.role];
  const isAlone = (index) => isMissing(line.values[index - 1]) && isMissing(line.values[index + 1]);
  const known = line.values.filter((value) => !isMissing(value)).length;
  const hasRoom = symbol !== "none" && known * SYMBOL_PX <= line.values.length * band_px;
  const isShown = (index) => hasRoom || isAlone(index);
  const data = line.values.map((value, index) => {
    if (isMissing(value)) return null;
    const shown = symbol === "none" ? "circle" : symbol;
    return { value: line.unit === "%" ? 100 * value : value, symbol: isShown(index) ? shown : "none" };
  });
  const look = { type: "line", data, connectNulls: false, showAllSymbol: true, symbolSize: symbol === "diamond" ? 9 : 7 };
  const quiet = { emphasis: { disabled: true }, yAxisIndex: line.axis === "right" ? 2 : 0 };
  const style = { color: colour(mark), width, type: dash ?? "solid" };
  const own = { ...look, ...quiet, name: line.name, lineStyle: style, itemStyle: { color: colour(mark) }, z: 4 };
  if (line.role !== "ghost") return [own];
  // Bars may stand behind it.
  const halo = { ...own, name: "", silent: true, lineStyle: { color: colour("chart-ground"), width: width + 3 }, z: 3 };
  return [{ ...halo, data: data.map((item) => item && { ...item, symbol: "none" }) }, own];
}

const isMissing = (value) => value === null || value === undefined;

// Means of too few people are no points: a strip on the axis says so, in words where there is room.
export function fewMarks({ few }) {
  const runs = [];
  for (const index of few) {
    const last = runs.at(-1);
    if (last && last.end === index) last.end += 1;
    else runs.push({ first: index, end: index + 1 });
  }
  const data = runs.map(({ first }) => [first, 0]);
  const renderItem = (params, api) => {
    const { first, end } = runs[params.dataIndex];
    const [band_px] = api.size([1, 0]);
    const width = (end - first) * band_px;
    const x = api.coord([first, 0])[0] - band_px / 2;
    const y = params.coordSys.y + params.coordSys.height;
    const shape = { x: x + 1, y: y - FEW_PX, width: Math.max(1, width - 2), height: FEW_PX };
    const strip = { type: "rect", shape, style: { fill: colour("chart-line") } };
    if (FEW.length * LETTER_PX + 4 > width) return strip;
    const words = { ...FONT, text: FEW, x: x + width / 2, y: y - FEW_PX - 4, fill: colour("chart-ink") };
    const text = { type: "text", style: { ...words, align: "center", verticalAlign: "bottom" } };
    return { type: "group", children: [strip, text] };
  };
  return { type: "custom", name: "Too few", data, renderItem, silent: true, tooltip: { show: false }, z: 2 };
}

// What a line says of a bucket; nothing where it says nothing.
export function lineRow(line, index) {
  const value = line.values[index];
  if (!isMissing(value)) return { mark: markOf(line), name: line.name, values: [written(value, line.unit)] };
  return line.few.includes(index) ? { mark: markOf(line), name: line.name, values: [FEW] } : null;
}
