// The parts of a breakdown: their counts from the data, their names and shares as the table beside the chart says them.
import { capital, count } from "./words.js";

export const UNKNOWN = "?";

// Unknown comes last.
export function readParts(figure, counts) {
  const rows = figure.querySelectorAll(".as-table tbody tr");
  const parts = Object.entries(counts).map(([key, value], index) => {
    const [name, , share] = [...rows[index].cells].map((cell) => cell.textContent.trim());
    return { key, value, name: capital(name), values: [count(value), share] };
  });
  return [...parts.filter(({ key }) => key !== UNKNOWN), ...parts.filter(({ key }) => key === UNKNOWN)];
}

export const total = (parts) => parts.reduce((sum, { value }) => sum + value, 0);
