// Puts a chart into its figure, keeps it as large as its place, and says when it is drawn.
import { init } from "../vendor/echarts.js";
import { element } from "./elements.js";
import { FONT, colour } from "./theme.js";
import { say } from "./words.js";

const TIP = {
  confine: true,
  transitionDuration: 0,
  padding: 0,
  borderWidth: 0,
  backgroundColor: colour("tip-ground"),
  textStyle: { ...FONT, color: colour("tip-ink") },
};

const drawn = new Set();
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) target.fit?.();
});

const waiting = [];

// `makeOption(width_px)` says what is drawn at this width; `figure.drawnOption` is what was drawn, for tests.
// `begun` is called with the chart once there is one.
export function drawChart(figure, makeOption, begun) {
  const plot = makePlot(figure);
  let chart;

  plot.fit = (width_px = plot.clientWidth, height_px = plot.clientHeight) => {
    if (!width_px || !height_px) return; // not shown yet, and ECharts would complain
    if (chart && chart.getWidth() === width_px && chart.getHeight() === height_px) return;
    figure.dataset.drawn = "no";
    if (!chart) {
      chart = figure.chart = init(plot, null, { renderer: "svg", width: 1, height: 1 });
      begun?.(chart);
    }
    chart.resize({ width: width_px, height: height_px });
    figure.drawnOption = complete(makeOption(width_px));
    chart.setOption(figure.drawnOption, { notMerge: true });
    chart.getZr().flush(); // now, not with the next frame: nobody sees an empty chart, and paper would
    figure.dataset.drawn = "yes";
  };
  waiting.push(plot);
  drawn.add(figure);
}

// All that wait: to read a size after something was drawn takes a layout of the whole page, so sizes are read first.
export function drawWaiting() {
  const plots = waiting.splice(0);
  const sizes = plots.map((plot) => [plot.clientWidth, plot.clientHeight]);
  plots.forEach((plot, index) => plot.fit(...sizes[index]));
  for (const plot of plots) observer.observe(plot);
}

// Ends what is about to be replaced. HTMX looks at each element that it removes, and drawings and rows have thousands
// that mean nothing to it. After all other listeners: some look at what was there.
addEventListener("htmx:beforeSwap", ({ detail: { shouldSwap, target } }) => {
  if (!shouldSwap) return;
  for (const figure of drawn) {
    if (!target.contains(figure)) continue;
    observer.unobserve(figure.querySelector(".plot"));
    figure.chart?.dispose();
    drawn.delete(figure);
  }
  for (const filled of target.querySelectorAll(".drawing, .as-table tbody")) filled.replaceChildren();
});

// A plain sentence in place of a chart with nothing in it.
export function sayNothing(figure, words) {
  figure.querySelector(".drawing").replaceChildren(element("p", "nothing", words));
  figure.dataset.drawn = "empty";
}

function makePlot(figure) {
  const plot = element("div", "plot");
  const heading = figure.querySelector("h3").textContent;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", say(gettext("%(heading)s: the table below has the same numbers"), { heading }));
  figure.querySelector(".drawing").replaceChildren(plot);
  return plot;
}

function complete(option) {
  const tooltip = option.tooltip && { ...TIP, ...option.tooltip };
  return { animation: false, textStyle: FONT, ...option, tooltip };
}
