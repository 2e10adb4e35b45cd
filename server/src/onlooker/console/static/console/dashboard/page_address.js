// The page's address has everything that is chosen. It changes when a part of the page is asked for, not when it comes:
// what is asked for meanwhile, and what refreshes itself, has the new choice. Links and forms follow it.

// Where links and forms choose something; all others keep it.
const CHOSEN_IN = {
  metric: "#time-chart, .charted",
  beside: "#time-chart",
  ghost: "#time-chart",
  ghost_date: "#time-chart",
  filter: "#headlines, #who",
  mean: "#who-chart-means",
  across: "#who-chart-means",
  stay: "#who-chart-stays",
  heat: "#who-chart-heat",
};
// What each part of the page is replaced for.
const PARTS = {
  "time-chart": ["metric", "beside", "ghost", "ghost_date"],
  headlines: ["filter"],
  who: ["filter"],
  "who-chart-means": ["mean", "across"],
  "who-chart-stays": ["stay"],
  "who-chart-heat": ["heat"],
};
const GIVE_UP_MS = 20_000;
const asking = new Map(); // requests by what they replace

// The last of several answers is the one that is wanted, whichever comes first.
document.addEventListener("htmx:confirm", ({ detail }) => asking.get(detail.target.id)?.abort());
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { requestConfig, shouldSwap, target, xhr } = detail;
  if (!shouldSwap) return;
  if (target.id === "report") {
    const inside = isRefresh(detail) ? ["report", "time-chart", "headlines"] : [...asking.keys()];
    for (const id of inside) if (asking.get(id) !== xhr) asking.get(id)?.abort();
  }
  if (target.id !== "who" || isOfNow(requestConfig.path)) return;
  detail.shouldSwap = false; // something else was chosen for one of its charts meanwhile
  setTimeout(() => askAgain(target, requestConfig.path.split("?")[0])); // when this request has ended
});

function askAgain(target, path) {
  htmx.ajax("GET", path + location.search, { source: target, target, swap: "outerHTML" }).catch(() => {});
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  const { elt, target } = detail;
  const names = PARTS[target.id];
  if (elt.id === "report") detail.path = location.pathname + location.search; // without what is behind a #
  if (elt.matches("a[href*='?']")) detail.path = asItLeadsNow(elt, detail.path);
  if (!names) return;
  const { pathname, searchParams } = new URL(detail.path, location);
  for (const [name, value] of detail.formData) searchParams.set(name, value);
  const wanted = new URLSearchParams(location.search);
  for (const name of names) if (isChosenBy(elt, name)) copy(name, searchParams, wanted);
  detail.parameters = new FormData();
  detail.path = `${pathname}?${writeQuery(wanted)}`;
  detail.timeout = GIVE_UP_MS;
  go(wanted);
});

document.addEventListener("htmx:beforeSend", ({ detail: { target, xhr } }) => {
  if (!PARTS[target.id] && target.id !== "report") return;
  asking.set(target.id, xhr);
  xhr.addEventListener("loadend", () => asking.get(target.id) === xhr && asking.delete(target.id));
});

// Without an answer the page would show something else than its address says.
for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, ({ detail: { requestConfig, target } }) => {
    if (PARTS[target.id] && requestConfig.elt.id !== "who-loader") location.reload();
  });
}

// What came has links of the address that it was asked with, and so had what is left of the page.
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  const isAnother = detail.target.id === "report" && !isRefresh(detail);
  if (isAnother || !isOfNow(detail.requestConfig?.path ?? "")) follow(Object.keys(CHOSEN_IN));
});

function isRefresh({ requestConfig, target }) {
  return requestConfig.elt === target;
}

// However it is written.
function isOfNow(path) {
  return String(new URLSearchParams(path.split("?")[1])) === String(new URLSearchParams(location.search));
}

// HTMX read the address of a link when the link came.
function asItLeadsNow(link, path) {
  return `${path.split("?")[0]}?${link.getAttribute("href").split("?")[1]}`;
}

// What a form hides was chosen before, and what loads by itself chooses nothing.
function isChosenBy(element, name) {
  if (!element.closest(CHOSEN_IN[name])) return false;
  const field = element.elements?.[name];
  return !element.matches("form") || (field && field.type !== "hidden");
}

function copy(name, from, to) {
  if (from.has(name)) to.set(name, from.get(name));
  else to.delete(name);
}

// As the server writes filters, for people to read.
export function writeQuery(parameters) {
  return String(parameters).replaceAll("%3A", ":").replaceAll("%2C", ",");
}

function go(wanted) {
  const before = new URLSearchParams(location.search);
  if (String(wanted) === String(before)) return;
  history.replaceState({ htmx: true }, ""); // so that HTMX answers when somebody goes back
  history.pushState({ htmx: true }, "", location.pathname + (wanted.size ? `?${writeQuery(wanted)}` : ""));
  follow(Object.keys(CHOSEN_IN).filter((name) => wanted.get(name) !== before.get(name)));
}

function follow(names) {
  const content = document.querySelector("#content");
  const chosen = new URLSearchParams(location.search);
  for (const name of names) {
    const elsewhere = `:not(:is(${CHOSEN_IN[name]}), :is(${CHOSEN_IN[name]}) *)`;
    for (const link of content.querySelectorAll(`a:is([href^='?'], #share)${elsewhere}`)) followWithLink(link, name, chosen);
    for (const form of content.querySelectorAll(`form[method=get]${elsewhere}`)) followWithForm(form, name, chosen);
  }
  const here = location.pathname + location.search;
  for (const input of content.querySelectorAll("input[name=next]")) input.value = here;
  for (const link of content.querySelectorAll("a[href*='?next=']")) {
    link.setAttribute("href", `${link.getAttribute("href").split("?")[0]}?next=${encodeURIComponent(here)}`);
  }
}

function followWithLink(link, name, chosen) {
  const [path, query] = link.getAttribute("href").split("?");
  const parameters = new URLSearchParams(query);
  if (parameters.get(name) === chosen.get(name)) return;
  copy(name, chosen, parameters);
  link.setAttribute("href", `${path}?${writeQuery(parameters)}`);
}

function followWithForm(form, name, chosen) {
  form.querySelector(`input[type=hidden][name=${name}]`)?.remove();
  if (!chosen.has(name) || form.elements[name]) return;
  form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value: chosen.get(name) }));
}
