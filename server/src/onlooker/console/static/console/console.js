// What pages need beside HTMX. Each part is asked for by an attribute; console.scss and base.html show how they look.
"use strict";

// <button type="button" data-copy="#login">: copies that element's text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  if (!source) return;
  try {
    await navigator.clipboard.writeText((source.value ?? source.textContent).trim());
    tell(button, gettext("Copied"));
  } catch {
    // No permission, or a page without HTTPS: the person's own keys still can.
    getSelection().selectAllChildren(source);
    tell(button, gettext("Press Ctrl+C"));
  }
});

// A button says for two seconds what came of it; the same is read out, since a changed label is not.
function tell(button, words) {
  button.dataset.label ??= button.textContent;
  button.dataset.name ??= button.getAttribute("aria-label") ?? "";
  button.textContent = words;
  button.removeAttribute("aria-label");
  document.querySelector("#spoken").textContent = words;
  clearTimeout(button.timer);
  button.timer = setTimeout(() => {
    button.textContent = button.dataset.label;
    if (button.dataset.name) button.setAttribute("aria-label", button.dataset.name);
    document.querySelector("#spoken").textContent = "";
  }, 2000);
}

// <article data-replace-url="/streams/">: what a POST answered has this address, so that a reload is a GET.
addEventListener("DOMContentLoaded", () => {
  const shown = document.querySelector("[data-replace-url]");
  if (shown) history.replaceState(null, "", shown.dataset.replaceUrl);
});

// A form that comes back with faults shows the first one, which may be far down on a telephone.
addEventListener("DOMContentLoaded", () => {
  const fault = document.querySelector("main form .errorlist:not(.nonfield)");
  fault?.parentElement.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  fault?.scrollIntoView({ block: "center" });
});

// A form is sent once, however often its button is clicked; people who come back to it may send it again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  // Later: a button that is disabled now would not be sent along.
  setTimeout(() => form.querySelectorAll("button[type=submit]").forEach((button) => (button.disabled = true)));
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.querySelectorAll("button[type=submit]").forEach((button) => (button.disabled = false));
  }
});

// After signing out elsewhere, the whole sign-in page is shown, not a sign-in page inside a panel.
document.addEventListener("htmx:beforeSwap", (event) => {
  const answered = new URL(event.detail.xhr.responseURL || location.href);
  if (!answered.pathname.startsWith("/accounts/login/")) return;
  event.detail.shouldSwap = false;
  location.reload();
});

// What the page shows was deleted in the meantime, or may no longer be seen.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status === 404) location.reload();
});

// A hidden page requests nothing.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.requestConfig.verb === "get") event.preventDefault();
});

// <select data-browser-time-zone>: starts with the browser's time zone.
addEventListener("DOMContentLoaded", () => {
  const choice = document.querySelector("select[data-browser-time-zone]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (choice && choice.value === "UTC" && [...choice.options].some((option) => option.value === zone)) choice.value = zone;
});
