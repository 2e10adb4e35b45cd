// The button that prints a document; without scripts the browser's own menu does.
for (const button of document.querySelectorAll("[data-print]")) {
  button.addEventListener("click", () => window.print());
}
