// A click on a day leads to its hours, on a week or month to its days: it follows the link of its row in the table, as a keyboard does.
import { element } from "./elements.js";
import { writeQuery } from "./page_address.js";

export function zoomByClick(figure, chart, points) {
  const links = [...figure.querySelectorAll(".as-table tbody tr")].map((row) => row.querySelector("a[href]"));
  if (!links.some(Boolean)) return;
  const surface = chart.getZr();
  const under = ({ offsetX, offsetY }) => links[indexUnder(chart, points, [offsetX, offsetY])];
  surface.on("click", (event) => under(event)?.click());
  surface.on("mousemove", (event) => surface.setCursorStyle(under(event) ? "pointer" : "default"));
}

function indexUnder(chart, points, place) {
  if (!chart.containPixel({ gridIndex: 0 }, place)) return -1;
  const [index] = chart.convertFromPixel({ gridIndex: 0 }, place);
  return index >= 0 && index < points.length ? index : -1;
}

// Where somebody came from, and where to.
let zoom = null;

// For all rows together: a year has hundreds, and HTMX would look at each.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-chart=time] .as-table a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // to another tab, by the browser itself
  event.preventDefault();
  zoom = { from: location.search || "?", to: link.getAttribute("href") };
  htmx.ajax("GET", zoom.to, { source: link.closest("table") }).catch(() => {}); // it says what is replaced
});

// Other choices may have been made since the link was.
function periodOf(query) {
  const parameters = new URLSearchParams(query);
  return ["period", "from", "to"].map((name) => parameters.get(name)).join();
}

function backTo(query) {
  const [before, parameters] = [new URLSearchParams(query), new URLSearchParams(location.search)];
  for (const name of ["period", "from", "to", "by"]) {
    if (before.has(name)) parameters.set(name, before.get(name));
    else parameters.delete(name);
  }
  return `?${writeQuery(parameters)}`;
}

export function offerWayBack(figure) {
  if (!zoom || periodOf(zoom.to) !== periodOf(location.search)) return;
  const link = element("a", "back", gettext("Back to the whole period"));
  const swap = { "hx-target": "#report", "hx-swap": "outerHTML", "hx-push-url": "true" };
  const address = backTo(zoom.from);
  const attributes = { href: address, "hx-get": address, ...swap };
  for (const [name, value] of Object.entries(attributes)) link.setAttribute(name, value);
  figure.querySelector("figcaption").append(link);
  htmx.process(link);
  if (!zoom.isThere) link.focus({ preventScroll: true }); // what was clicked is gone, and the keyboard with it
  zoom.isThere = true;
}
