// The dates behind "Other dates" close as a menu does: with Escape, or by a click or a step elsewhere.

const DATES = "#other-dates[open]";

document.addEventListener("keydown", ({ key }) => {
  const dates = document.querySelector(DATES);
  if (key !== "Escape" || !dates) return;
  dates.open = false;
  dates.querySelector("summary").focus();
});

for (const left of ["click", "focusin"]) {
  document.addEventListener(left, ({ target }) => {
    const dates = document.querySelector(DATES);
    if (dates && !dates.contains(target)) dates.open = false;
  });
}
