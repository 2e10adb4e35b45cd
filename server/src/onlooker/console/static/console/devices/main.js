// Draws a day of a device's health: one small chart for each thing that it reports.
import { drawWaiting } from "../dashboard/chart.js";
import "../dashboard/print.js";
import { drawHealth } from "./health_chart.js";

const source = document.querySelector("#health-data");

if (source) {
  const { points, charts } = JSON.parse(source.textContent);
  for (const figure of document.querySelectorAll("figure.chart[data-chart]")) {
    if (figure.querySelector(".drawing")) drawHealth(figure, points, charts[figure.dataset.chart]);
    else figure.dataset.drawn = "empty"; // it says why in words
  }
  drawWaiting();
}
