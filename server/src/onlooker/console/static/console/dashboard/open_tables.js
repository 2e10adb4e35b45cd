// Tables that somebody opened stay open when the report or a part of it is replaced, and keep their scroll position when it is refreshed.

const tables = () => [...document.querySelectorAll("#report .as-table")];

let kept = [];

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.closest("#report")) return;
  const isRefreshed = detail.requestConfig.elt === detail.target; // another period has other rows
  kept = tables()
    .filter(({ open }) => open)
    .map(({ id, scrollTop, scrollLeft }) => ({ id, place: isRefreshed ? { scrollTop, scrollLeft } : {} }));
});

document.addEventListener("htmx:afterSwap", () => {
  for (const { id, place } of kept) {
    const table = document.getElementById(id);
    if (table) Object.assign(table, { open: true }, place);
  }
  kept = [];
});
