// Names and numbers as people read them, in the page's language. Sentences come from the catalogue that base.html loads.

const LANGUAGE = document.documentElement.lang || "en-gb";

export const GAPS = {
  not_created: gettext("Not created yet"),
  offline: gettext("Offline"),
  disabled: gettext("Disabled"),
  quota: gettext("Monthly limit reached"),
  refused: gettext("Refused"),
  black: gettext("Picture black"),
  covered: gettext("Lens covered"),
  dark: gettext("Too dark"),
  overexposed: gettext("Overexposed"),
  blurred: gettext("Blurred"),
  frozen: gettext("Picture frozen"),
  moved: gettext("Camera moved"),
  closed: gettext("Closed"),
};

const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

function weekdays(length) {
  const names = new Intl.DateTimeFormat(LANGUAGE, { weekday: length, timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, day) => capital(names.format(MONDAY + day * DAY_MS)));
}

// From Monday on.
export const DAYS = weekdays("long");
export const SHORT_DAYS = weekdays("short");

const counts = new Intl.NumberFormat(LANGUAGE);
const tenths = new Intl.NumberFormat(LANGUAGE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const means = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });

export const count = (number) => counts.format(number);
export const decimal = (number) => tenths.format(number);
export const mean = (number) => means.format(number);
export const hour = (number) => `${String(number).padStart(2, "0")}:00`;
export const moment = (at, parts) => new Intl.DateTimeFormat(LANGUAGE, parts).format(at);
export const say = (words, values) => interpolate(words, values, true);

export function capital(words) {
  return words.charAt(0).toLocaleUpperCase(LANGUAGE) + words.slice(1);
}
