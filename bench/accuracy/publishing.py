"""Writes the figures where people read them: docs/reference/accuracy.md and the model cards."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.accuracy.figures import Figure
from bench.product import ROOT

PAGE = ROOT / "docs/reference/accuracy.md"
PICTURES = ROOT / "docs/pictures/accuracy"
CARDS = ROOT / "models/cards"

TITLES = {
    "found": "Faces found",
    "age_gender": "Age and gender",
    "expression": "Expression",
    "looking": "Looking at the camera",
    "head_yaw": "Head direction",
    "persons": "Persons",
    "motion": "Motion",
    "sound": "Sound",
}
DRAWN = {
    "age_gender": ("age.svg", "Ages as labelled and as read, of people who had no part in the fit."),
    "expression": ("expression.svg", "Expressions as labelled and as read."),
    "looking": ("looking.svg", "Looking or not, as labelled and as judged."),
}
OF_CARD = {
    "age": r"age_|senior_",
    "gender": r"gender_|child_",
    "face_detect": r"faces_|false_faces|portraits_|group_",
    "face_landmark": r"head_",
    "iris_landmark": r"looking_",
    "emotion_fa": r"happy|neutral",
    "emotion_mx": r"happy|neutral",
    "person_detect": r"persons_",
}
"""Which figures say how right a net is, by the beginning of their names."""
LIMITS = """
What the figures do not say:

- Looking: nearly all faces of the set look at the camera. `looking_away_right` says how those fare that do not. Faces
  that are half hidden or cut by the picture's edge, and cheeks of people seen from behind, are judged worst. No data
  has a head that is straight with eyes that look elsewhere.
- Expression: few people, most of them neutral or happy. Surprise, anger and sadness are practically untested.
- Age: official portraits of adults. People over 70 are read too young, people under 40 too old. No labelled face was
  between 10 and 20 years old.
- Motion and sound: scenes and signals that the recipe makes up itself, of the same kind as those used in development,
  but others. No real recordings of sound were tried.
"""


def publish(measured: Mapping[str, Sequence[Figure]], caveat: str) -> None:
    """Write the page, and into every card the figures that are its own."""
    parts = [
        "# Accuracy\n\nMeasured by `just accuracy-vision --write` on labelled pictures, scenes and sounds that are not "
        "part of the repository: on grey JPEG of quality 80, fitted into 640 x 480, unless a line says otherwise.\n",
        caveat + "\n",
    ]
    for name, figures in measured.items():
        parts.append(f"## {TITLES[name]}\n")
        if name in DRAWN:
            file, meaning = DRAWN[name]
            parts.append(f"![{meaning}](../{PICTURES.relative_to(ROOT / 'docs')}/{file})\n")
        parts.append(_table(figures))
    parts.append(f"## Limits\n{LIMITS}")
    PAGE.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    everything = [figure for figures in measured.values() for figure in figures]
    for card, beginning in OF_CARD.items():
        _write_card(CARDS / f"{card}.md", [figure for figure in everything if re.match(beginning, figure.name)])


def _write_card(path: Path, figures: Sequence[Figure]) -> None:
    intro = "Measured with the whole service around the net, by `just accuracy-vision --write`.\n\n"
    text = path.read_text(encoding="utf-8")
    between = f"<!-- measured -->\n{intro}{_table(figures)}<!-- /measured -->"
    path.write_text(re.sub(r"(?s)<!-- measured -->.*<!-- /measured -->", lambda _: between, text), encoding="utf-8")


def _table(figures: Sequence[Figure]) -> str:
    rows = [f"| `{f.name}` | {f.value:.3g} | {f.target} | {f.verdict} | {f.note} |" for f in figures]
    return "\n".join(["| figure | value | target | | of |", "|---|---|---|---|---|", *rows]) + "\n"
