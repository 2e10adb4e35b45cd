// Whoever goes through the report by keyboard stays where they are when it is renewed. HTMX itself keeps to ids, and
// links in tables and lists of figures have none.

const places = () => [...document.querySelectorAll("#report :is(a[href], button, summary)")];

export function keepFocus() {
  let place = -1;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const isRenewed = detail.target.id === "report" && detail.requestConfig.elt === detail.target;
    place = isRenewed ? places().indexOf(document.activeElement) : -1;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (place >= 0) places()[place]?.focus({ preventScroll: true });
    place = -1;
  });
}
