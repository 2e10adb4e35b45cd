// Who, and how long: draws the charts of the section, and follows what is selected in them or in their tables.
import { drawWaiting } from "../dashboard/chart.js";
import "../dashboard/chart_control.js";
import "../dashboard/print.js";
import { drawHeat } from "./heat.js";
import { drawMeans } from "./means.js";
import { drawPyramid } from "./pyramid.js";
import { drawStays } from "./stays.js";

const DRAW = { pyramid: drawPyramid, means: drawMeans, stays: drawStays, heat: drawHeat };

function drawSection() {
  const figures = [...document.querySelectorAll("#who figure.chart:not([data-drawn])")];
  for (const figure of figures) {
    if (figure.querySelector(".drawing")) DRAW[figure.dataset.chart](figure, readNumbers(figure));
    else figure.dataset.drawn = "empty"; // it says why in words
  }
  if (figures.length) drawWaiting();
}

// A chart that was fetched alone brings them along.
function readNumbers(figure) {
  const own = figure.querySelector("script");
  return own ? JSON.parse(own.textContent) : JSON.parse(document.querySelector("#who-data").textContent)[figure.dataset.chart];
}

// For all links together: the week has 200, and HTMX would look at each. A filter is for the headline numbers and for the
// section, which are fetched side by side. On a page of its own the section has no target, and the browser follows its links.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(":is(#who[hx-target], .filtered) a[href^='?']");
  if (!link || link.hasAttribute("hx-get") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const query = link.getAttribute("href");
  for (const part of document.querySelectorAll("#headlines, #who[hx-target]")) {
    const path = part.id === "who" ? part.dataset.address : "";
    htmx.ajax("GET", path + query, { source: part }).catch(() => {});
  }
});

// Tables that somebody opened stay open, and what had the focus keeps it.
let open = [];
let focused = "";

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.closest("#who")) return;
  open = [...detail.target.querySelectorAll("details[open]")].map(({ id }) => id);
  focused = detail.target.contains(document.activeElement) ? document.activeElement.id : "";
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  [open, focused] = [[], ""];
  drawSection();
});

drawSection();
