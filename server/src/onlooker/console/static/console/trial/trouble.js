// What can go wrong, by the name of the words for it; try.html has the words, with the remedy.
export class Trouble extends Error {
  // `waitMs`: it passes, so wait that long and go on; without it the trial ends.
  constructor(name, { detail = "", waitMs = null } = {}) {
    super(name);
    this.name = name;
    this.detail = detail;
    this.waitMs = waitMs;
  }
}

export function showTrouble(root, trouble) {
  const box = root.querySelector(".trouble");
  const words = root.querySelector(`template[data-trouble="${trouble.name}"]`) ?? root.querySelector('template[data-trouble="other"]');
  const shown = `${words.dataset.trouble} ${trouble.detail}`;
  if (box.dataset.shown === shown) return; // it would be read out again
  box.dataset.shown = shown;
  box.replaceChildren(words.content.cloneNode(true));
  const detail = box.querySelector("[data-detail]");
  if (detail) detail.textContent = trouble.detail;
  box.hidden = false;
}

export function hideTrouble(root) {
  const box = root.querySelector(".trouble");
  box.hidden = true;
  box.replaceChildren();
  delete box.dataset.shown;
}
