// Small elements around a drawing: what its colours mean, and what lies under the pointer.

export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

// A list of what colours stand for. `mark` is the name of a colour in _charts.scss; `values` are written behind it.
export function legend(entries) {
  const rows = entries.map(({ mark, name, values = [] }) => {
    const written = values.map((value) => element("span", "value", value));
    return element("li", "", element("span", `mark ${mark}`), element("span", "", name), ...written);
  });
  return element("ul", "legend", ...rows);
}

// Marks with their words, which stay on one line.
export const key = (...parts) => element("span", "key", ...parts);

// As an element, not as text: ECharts would write styles into HTML, which our policy forbids.
export function tip(title, rows, note = "") {
  const last = note ? [element("span", "note", note)] : [];
  return element("div", "tip", element("strong", "", title), legend(rows), ...last);
}
