// How charts look. Colours are variables of the stylesheet, so light, dark and paper need no new drawing.

export const colour = (name) => `var(--${name})`;

// By name, not `inherit`: ECharts measures labels with it.
const fontFamily = getComputedStyle(document.body).fontFamily;

export const FONT = { fontFamily, fontSize: 12, color: colour("chart-ink") };

export const BARE_AXIS = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } };

// The drawing has no margins except for its own labels.
export const GRID = { left: 0, right: 0, top: 8, bottom: 0, outerBoundsMode: "same", outerBoundsContain: "axisLabel" };

// Slanted lines, seen in colour and in grey alike. The pattern is a node as ECharts' own SVG renderer makes them.
function hatch(line, ground) {
  const node = (tag, attrs, children = []) => ({ tag, key: tag, attrs, children });
  const lines = { d: "M-2 2L2 -2M-2 10L10 -2M6 10L10 6", stroke: line, "stroke-width": 1.5, fill: "none" };
  const parts = [node("rect", { width: 8, height: 8, fill: ground }), node("path", lines)];
  return { svgElement: node("g", {}, parts), svgWidth: 8, svgHeight: 8 };
}

export const UNWATCHED = hatch(colour("chart-hatch"), "none");
export const NOT_KNOWN = hatch(colour("unknown"), colour("unknown-ground"));
