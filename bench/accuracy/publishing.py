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
    "age_gender": ("age.svg", "Ages as labelled and as read, each with years added that were fitted on other people."),
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
COUNTED = {
    "found": "Front faces that are at least 30 pixels wide, in drawn scenes. Smaller, turned and half hidden faces "
    "need not be found, and where they are, that is no false face. The portraits are large faces from the front.",
    "age_gender": "The portraits are large faces from the front. A photograph in which more or fewer faces are found "
    "than are labelled does not count.",
    "expression": "A frame of a clip counts only if as many faces are found as people are there.",
    "looking": "Judged face by face from what `gaze_analysis` reports, by the rule that `scene_analysis` applies to "
    "each picture. `scene_analysis` tells of looks that last: as `focus_locked` events, and as the looking intervals "
    "of visits, which are measured on [whole scenes](scenes.md). Of the drawn scenes only the one person counts whose "
    "turned heads were photographed. Where somebody looks, a frame of a clip counts only if as many faces are found as "
    "people are there: a look that goes with a face that was not found is not counted as missed there.",
    "head_yaw": "One clip of one person. No data at hand has the head's pitch and roll, or the direction of the gaze.",
    "persons": "The net alone, with which `scene_analysis` finds people whose face is not seen; there a body counts "
    "only once it has walked. The labels say how many people are there, not where.",
    "motion": "Squares before backgrounds that the recipe makes up, and one clip of people who walk past a table.",
    "sound": "Sounds that the recipe makes up: noise, something like speech, music and clicks.",
}
"""What a section's figures are of, and what they leave out."""
YEARS = re.compile(r"age_")
SHARES = re.compile(
    r"looking_|gender_right|senior_right|happy_|neutral_|faces_found|portraits_found|persons_found"
    r"|motion_\w+_(right|velocity_p95|seen)$|motion_empty_scene_targets|sound_yaw_\w+_found$|sound_two_at_once"
)
LIMITS = """
What the figures do not say:

- Looking: nearly all faces of the set look at the camera. `looking_away_right` says how those fare that do not. Faces
  that are half hidden or cut by the picture's edge, and cheeks of people seen from behind, are judged worst. No data
  has a head that is straight with eyes that look elsewhere.
- Gaze: by the gaze alone most looks are missed. The eyes of a face of 40 to 100 pixels are read 10 to 20 degrees wrong.
- Head direction: its yaw rests on few frames. Its pitch and roll, and the angles of the gaze, have no figure.
- Expression: few people, most of them neutral or happy. Surprise, anger and sadness are practically untested.
- Age: official portraits of adults. People over 70 are read too young, people under 40 too old. In a photograph of a
  class of 18 to 25, small grey faces as a camera in a shop sees them, people are read about ten years too old. No
  labelled face was between 10 and 20 years old. The net, the padding of the cut and the places of the face's points in
  it, the mirror image and the age at which the correction begins were chosen on these same pictures; only the years
  that are added and the confidence are held out ([decision 0007](../decisions/0007-vision.md)).
- Motion and sound: scenes and signals that the recipe makes up itself, of the same kind as those used in development,
  but others. No real recordings of sound were tried.
"""


def publish(measured: Mapping[str, Sequence[Figure]], caveat: str) -> None:
    """Write the page, and into every card the figures that are its own."""
    parts = [
        "# Accuracy\n\nMeasured by `just accuracy-vision --write` on labelled pictures, scenes and sounds that are not "
        "part of the repository: on grey JPEG of quality 80, fitted into 640 x 480, unless a line says otherwise. "
        "A figure without a target is only told.\n",
        caveat + "\n",
    ]
    for name, figures in measured.items():
        parts.append(f"## {TITLES[name]}\n")
        if name in DRAWN:
            file, meaning = DRAWN[name]
            parts.append(f"![{meaning}](../{PICTURES.relative_to(ROOT / 'docs')}/{file})\n")
        parts.append(COUNTED[name] + "\n")
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
    rows = [f"| `{f.name}` | {_said(f.name, f.value)} | {_target(f)} | {f.verdict} | {f.note} |" for f in figures]
    return "\n".join(["| figure | value | target | | of |", "|---|---|---|---|---|", *rows]) + "\n"


def _said(name: str, value: float) -> str:
    """A value with its unit, where the note does not have it: a share in percent, an age in years."""
    if SHARES.match(name):
        return f"{100 * value:.3g} %"
    return f"{value:.3g} years" if YEARS.match(name) else f"{value:.3g}"


def _target(figure: Figure) -> str:
    low, high = (None if x is None else _said(figure.name, x) for x in (figure.at_least, figure.at_most))
    if low and high:
        return f"{low.removesuffix(' years')} to {high}"
    if low:
        return f"at least {low}"
    return f"at most {high}" if high else ""
