// Rings: how the interested divide. Beside them stand names, counts and shares, in the order of the ring.
import { drawChart } from "./chart.js";
import { element, legend, tip } from "./elements.js";
import { UNKNOWN, readParts, total } from "./parts.js";
import { NOT_KNOWN, colour } from "./theme.js";
import { count } from "./words.js";

export const drawGender = (figure, { gender }) => drawRing(figure, gender);
export const drawCategory = (figure, { category }) => drawRing(figure, category);

function drawRing(figure, counts) {
  const parts = readParts(figure, counts).map((part) => ({ ...part, mark: markOf(part.key) }));
  const all = total(parts);
  drawChart(figure, () => ringOption(parts));
  const middle = element("span", "middle", element("strong", "", count(all)), ngettext("person", "people", all));
  figure.querySelector(".plot").append(middle);
  figure.querySelector(".drawing").append(legend(parts));
}

const markOf = (key) => (key === UNKNOWN ? "unknown" : key.replace("_", "-"));

function ringOption(parts) {
  const data = parts
    .filter(({ value }) => value)
    .map(({ mark, name, value, values }) => {
      const color = mark === "unknown" ? NOT_KNOWN : colour(mark);
      return { name, value, values, itemStyle: { color } };
    });
  const edge = { borderColor: colour("chart-ground"), borderWidth: data.length > 1 ? 2 : 0 };
  return {
    tooltip: { trigger: "item", formatter: ({ data: part }) => partTip(part) },
    series: [{ ...RING, data, itemStyle: edge }],
  };
}

const partTip = ({ name, values }) => tip(name, [{ mark: "none", name: "", values }]);

const RING = {
  type: "pie",
  radius: ["62%", "98%"],
  label: { show: false },
  labelLine: { show: false },
  emphasis: { disabled: true },
};
