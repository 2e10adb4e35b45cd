// Paper has its own width: charts are drawn for it before a page is printed, and for the screen again after.

// The stylesheet says how large a drawing is on paper: nothing can be measured there.
function printSize(plot) {
  const style = getComputedStyle(plot);
  return ["--print-width", "--print-height"].map((name) => Number.parseFloat(style.getPropertyValue(name)));
}

const plots = () => document.querySelectorAll("figure.chart .plot");

addEventListener("beforeprint", () => plots().forEach((plot) => plot.fit(...printSize(plot))));
addEventListener("afterprint", () => plots().forEach((plot) => plot.fit()));

// <button type="button" data-print>
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
