// The documentation's site: its search, and buttons that copy commands. Pages can be read without it.
"use strict";

const MOST_RESULTS = 30;
const MOST_OF_A_PAGE = 3;
const EXCERPT = 180;
// People with a question look for a guide before a record of why something was decided.
const WEIGHTS = { Project: 0.4, Reference: 0.8 };
// But a setting, a route or an error code is looked up.
const WEIGHTS_OF_NAMES = { Project: 0.4, Reference: 3 };
const root = document.body.dataset.root;

// Pages of search.json with each section's words in lower case; fetched when somebody searches.
let loading;
function loadIndex() {
  loading ??= fetch(`${root}/search.json`).then(async (answer) => {
    if (!answer.ok) throw new Error(`search.json: ${answer.status}`);
    const pages = await answer.json();
    return pages.flatMap((page) =>
      page.sections.map(([anchor, heading, text], position) => ({
        page,
        anchor: position ? anchor : "",
        heading,
        text,
        titleWords: page.title.toLowerCase(),
        headingWords: heading.toLowerCase(),
        words: text.toLowerCase(),
      })),
    );
  });
  return loading;
}

// A term is found where a word begins with it; one of two letters or fewer must be the whole word.
function readTerm(text) {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const source = `(?<![\\p{L}\\p{N}_])${escaped}${text.length > 2 ? "" : "(?![\\p{L}\\p{N}_])"}`;
  return { text, source, pattern: new RegExp(source, "gu") };
}

function times(words, term) {
  return words.match(term.pattern)?.length ?? 0;
}

// Every term must be there; headings count more than text, and often more than once.
function score(section, terms) {
  let sum = 0;
  for (const term of terms) {
    const value =
      6 * Math.min(1, times(section.headingWords, term)) +
      (section.anchor ? 1 : 5) * Math.min(1, times(section.titleWords, term)) +
      times(section.words, term) ** 0.25;
    if (!value) return 0;
    sum += value;
  }
  const whole = terms.map((term) => term.text).join(" ");
  if (terms.length > 1 && section.headingWords.includes(whole)) sum += 6;
  if (terms.length > 1 && section.words.includes(whole)) sum += 3;
  const weights = /[_/]/.test(whole) ? WEIGHTS_OF_NAMES : WEIGHTS;
  return sum * (weights[section.page.group] ?? 1);
}

// Of each page the best few sections, so that a long page leaves room for others.
function search(sections, query) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean).map(readTerm);
  if (!terms.length) return { terms, hits: [] };
  const hits = sections.map((section) => ({ section, value: score(section, terms) })).filter((hit) => hit.value > 0);
  hits.sort((one, other) => other.value - one.value);
  const shown = new Map();
  return {
    terms,
    hits: hits.filter(({ section }) => {
      shown.set(section.page, (shown.get(section.page) ?? 0) + 1);
      return shown.get(section.page) <= MOST_OF_A_PAGE;
    }),
  };
}

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The words around the first term, with every term marked.
function excerpt(section, terms) {
  const places = terms.map((term) => section.words.search(term.pattern)).filter((place) => place >= 0);
  const at = places.length ? Math.min(...places) : 0;
  const from = at > EXCERPT / 3 ? section.text.lastIndexOf(" ", at - EXCERPT / 3) + 1 : 0;
  const isCut = from + EXCERPT < section.text.length;
  const shown = section.text.slice(from, isCut ? section.text.lastIndexOf(" ", from + EXCERPT) : undefined);
  const made = element("p");
  if (from) made.append("… ");
  const marked = new RegExp(`(${terms.map((term) => term.source).join("|")})`, "giu");
  shown.split(marked).forEach((part, place) => made.append(place % 2 ? element("mark", part) : part));
  if (isCut) made.append(" …");
  return made;
}

function show({ terms, hits }) {
  const list = document.querySelector("#results");
  const said = document.querySelector("#found");
  list.replaceChildren();
  if (!terms.length) said.textContent = "Type what you look for.";
  else if (!hits.length) said.textContent = "Nothing found. Try fewer or other words.";
  else if (hits.length > MOST_RESULTS) said.textContent = `${hits.length} sections found; the first ${MOST_RESULTS}:`;
  else said.textContent = hits.length === 1 ? "1 section found." : `${hits.length} sections found.`;
  for (const { section } of hits.slice(0, MOST_RESULTS)) {
    const item = element("li");
    const address = `${root}/${section.page.address}${section.anchor ? `#${section.anchor}` : ""}`;
    item.append(element("a", section.heading, { href: address }), " ");
    const above = section.anchor ? [section.page.group, section.page.title] : [section.page.group];
    item.append(element("small", above.filter(Boolean).join(" › ")), excerpt(section, terms));
    list.append(item);
  }
}

const field = document.querySelector('[role="search"] input');

async function searchFor(query) {
  try {
    const sections = await loadIndex();
    if (query === field.value) show(search(sections, query));
  } catch {
    loading = undefined;
    document.querySelector("#found").textContent = "The search could not be loaded. Try again.";
  }
}

if (document.querySelector("#results")) {
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.focus();
  if (field.value) searchFor(field.value);
  field.addEventListener("input", () => {
    const query = field.value;
    history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    searchFor(query);
  });
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    searchFor(field.value);
  });
}

// "/" leads to the search, as on many sites.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input")) return;
  event.preventDefault();
  field.focus();
});

for (const block of document.querySelectorAll(".prose pre")) {
  const around = element("div", "", { class: "copied" });
  const button = element("button", "Copy", { type: "button" });
  block.replaceWith(around);
  around.append(block, button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent.trimEnd());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Press Ctrl+C";
    }
    document.querySelector("#spoken").textContent = button.textContent;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

// Where the page is in the list of all pages; the list alone scrolls.
const pages = document.querySelector(".contents");
const current = pages.querySelector('[aria-current="page"]');
if (current) pages.scrollTop = current.getBoundingClientRect().top - pages.getBoundingClientRect().top - 120;
