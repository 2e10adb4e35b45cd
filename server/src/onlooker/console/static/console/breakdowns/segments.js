// What is clicked in a drawing is the link of the same segment in the table beside it, as a keyboard follows it.
const linkOf = (figure, key) => figure.querySelector(`a[data-segment="${CSS.escape(key)}"]`);

export function followSegments(figure) {
  return (chart) => chart.on("click", ({ data }) => data?.key && linkOf(figure, data.key)?.click());
}
