// Names and numbers as people read them.

export const GAPS = {
  not_created: "Not created yet",
  offline: "Offline",
  disabled: "Disabled",
  quota: "Monthly limit reached",
  refused: "Refused",
  black: "Picture black",
  covered: "Lens covered",
  dark: "Too dark",
  overexposed: "Overexposed",
  blurred: "Blurred",
  frozen: "Picture frozen",
  moved: "Camera moved",
  closed: "Closed",
};

export const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const counts = new Intl.NumberFormat("en-GB");
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const means = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

export const count = (number) => counts.format(number);
export const decimal = (number) => tenths.format(number);
export const mean = (number) => means.format(number);
export const hour = (number) => `${String(number).padStart(2, "0")}:00`;
export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
