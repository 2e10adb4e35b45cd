// Draws the charts of the report, and draws them again whenever newer numbers replace it.
import { drawAge, drawEmotion } from "./bars.js";
import { drawWaiting, endReplaced } from "./chart.js";
import "./chart_control.js";
import "./open_tables.js";
import "./other_dates.js";
import "./print.js";
import { drawCategory, drawGender } from "./rings.js";
import { drawTime } from "./time_chart.js";
import { drawWeek } from "./week.js";

const DRAW = {
  time: drawTime,
  gender: drawGender,
  category: drawCategory,
  age: drawAge,
  emotion: drawEmotion,
  week: drawWeek,
};

function drawReport() {
  const source = document.querySelector("#report-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  for (const figure of document.querySelectorAll("#report figure.chart")) {
    if (figure.dataset.drawn) continue;
    if (figure.querySelector(".drawing")) DRAW[figure.dataset.chart](figure, data);
    else figure.dataset.drawn = "empty"; // it says why in words
  }
  drawWaiting();
}

document.addEventListener("htmx:afterSwap", () => {
  endReplaced();
  drawReport();
});

drawReport();
