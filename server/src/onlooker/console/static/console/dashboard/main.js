// Draws the charts of the report, and draws them again whenever newer numbers replace it.
import { drawAge, drawEmotion } from "./bars.js";
import { drawWaiting } from "./chart.js";
import "./chart_control.js";
import "./page_address.js";
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
  const figures = [...document.querySelectorAll("#report figure.chart:not([data-drawn])")];
  let all;
  for (const figure of figures) {
    const own = figure.querySelector("script"); // a chart that was fetched alone brings its numbers along
    const numbers = own ? readJson(own) : (all ??= readJson(document.querySelector("#report-data")));
    if (figure.querySelector(".drawing")) DRAW[figure.dataset.chart](figure, numbers);
    else figure.dataset.drawn = "empty"; // it says why in words
  }
  if (figures.length) drawWaiting();
}

function readJson(script) {
  return JSON.parse(script.textContent);
}

document.addEventListener("htmx:afterSwap", drawReport);

drawReport();
