// The control below the time chart: what is chosen is shown at once, and what is not chosen is not in the address.

const FORM = ".chart-control";

document.addEventListener("change", ({ target }) => {
  if (target.matches(`${FORM} :is(select, [type=checkbox]):not([hx-get])`)) target.form.requestSubmit();
});

document.addEventListener("formdata", ({ target, formData }) => {
  if (!target.matches(FORM)) return;
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});
