// Draws the chart of a comparison: a line for each row.
import { drawWaiting } from "../dashboard/chart.js";
import "../dashboard/print.js";
import { drawRows } from "./row_chart.js";

const source = document.querySelector("#rows-data");

if (source) {
  drawRows(document.querySelector('figure.chart[data-chart="rows"]'), JSON.parse(source.textContent));
  drawWaiting();
}
