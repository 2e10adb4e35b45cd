// Who, and how long: draws the charts of the section, and follows what is selected in them or in their tables.
import { drawWaiting, endReplaced } from "../dashboard/chart.js";
import "../dashboard/chart_control.js";
import "../dashboard/print.js";
import { drawHeat } from "./heat.js";
import { drawMeans } from "./means.js";
import { drawPyramid } from "./pyramid.js";
import { drawStays } from "./stays.js";

const DRAW = { pyramid: drawPyramid, means: drawMeans, stays: drawStays, heat: drawHeat };

function drawSection() {
  const source = document.querySelector("#who-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  for (const figure of document.querySelectorAll("#who figure.chart")) {
    if (figure.dataset.drawn) continue;
    if (figure.querySelector(".drawing")) DRAW[figure.dataset.chart](figure, data[figure.dataset.chart]);
    else figure.dataset.drawn = "empty"; // it says why in words
  }
  drawWaiting();
}

// For all links together: the week has 200, and HTMX would look at each. On a page of its own the section has no target,
// and its links are followed by the browser.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(":is(#who, .filtered)[hx-target] a[href^='?']");
  if (!link || link.hasAttribute("hx-get") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  htmx.ajax("GET", link.getAttribute("href"), { source: link.closest("[hx-target]") }).catch(() => {});
});

// A choice is asked for with the section alone. What the rest of the page asks for later keeps it.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const { elt, parameters, verb } = detail;
  const url = new URL(detail.path, location);
  if (verb !== "get" || url.pathname !== location.pathname || elt.closest("#who")) return;
  for (const { name, value } of document.querySelectorAll("#who .chart-control select")) {
    if ((parameters[name] ?? url.searchParams.get(name) ?? "") === value) continue;
    delete parameters[name];
    url.searchParams.delete(name);
    if (value) parameters[name] = value;
    detail.path = url.pathname + url.search;
  }
});

// Tables that somebody opened stay open, and what had the focus keeps it.
let open = [];
let focused = "";

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "who") return;
  open = [...detail.target.querySelectorAll("details[open]")].map(({ id }) => id);
  focused = detail.target.contains(document.activeElement) ? document.activeElement.id : "";
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id === "who") {
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
  endReplaced();
  drawSection();
});

drawSection();
