// Puts a chart into its figure, keeps it as large as its place, and says when it is drawn.
import { init } from "../vendor/echarts.js";
import { element } from "./elements.js";
import { FONT, colour } from "./theme.js";

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

// `makeOption(width_px)` says what is drawn at this width; `figure.drawnOption` is what was, for whoever checks it.
export function drawChart(figure, makeOption) {
  const plot = makePlot(figure);
  let chart;

  plot.fit = (width_px = plot.clientWidth, height_px = plot.clientHeight) => {
    if (!width_px || !height_px) return; // not shown yet, and ECharts would complain
    if (chart && chart.getWidth() === width_px && chart.getHeight() === height_px) return;
    figure.dataset.drawn = "no";
    chart ??= begin(figure, plot);
    chart.resize({ width: width_px, height: height_px });
    figure.drawnOption = complete(makeOption(width_px));
    chart.setOption(figure.drawnOption, { notMerge: true });
    chart.getZr().flush(); // now, not with the next frame: nobody sees an empty chart, and paper would
  };
  plot.fit();
  observer.observe(plot);
  drawn.add(figure);
}

// Lets go of charts whose figures are no longer in the page.
export function endReplaced() {
  for (const figure of drawn) {
    if (figure.isConnected) continue;
    observer.unobserve(figure.querySelector(".plot"));
    figure.chart?.dispose();
    drawn.delete(figure);
  }
}

// A plain sentence in place of a chart with nothing in it.
export function sayNothing(figure, words) {
  figure.querySelector(".drawing").replaceChildren(element("p", "nothing", words));
  figure.dataset.drawn = "empty";
}

function makePlot(figure) {
  const plot = element("div", "plot");
  const heading = figure.querySelector("h3").textContent;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${heading}: the table below has the same numbers`);
  figure.querySelector(".drawing").replaceChildren(plot);
  return plot;
}

function begin(figure, plot) {
  const chart = init(plot, null, { renderer: "svg", width: 1, height: 1 });
  chart.on("finished", () => (figure.dataset.drawn = "yes"));
  figure.chart = chart;
  return chart;
}

function complete(option) {
  const tooltip = option.tooltip && { ...TIP, ...option.tooltip };
  return { animation: false, textStyle: FONT, ...option, tooltip };
}
