// Keyboard focus stays where it is in the report when it is refreshed. HTMX itself needs ids, and
// links in tables and lists of figures have none.

const places = () => [...document.querySelectorAll("#report :is(a[href], button, summary)")];

export function keepFocus() {
  let place = -1;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const isRefreshed = detail.target.id === "report" && detail.requestConfig.elt === detail.target;
    place = isRefreshed ? places().indexOf(document.activeElement) : -1;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (place >= 0) places()[place]?.focus({ preventScroll: true });
    place = -1;
  });
}
