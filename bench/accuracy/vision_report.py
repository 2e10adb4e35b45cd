"""Writes the figures where people read them: docs/reference/accuracy.md and the model cards."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.accuracy.page_section import PAGE, PICTURES, read_sections
from bench.lib.figures import Figure
from bench.lib.product import ROOT

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
    "age_gender": ("age.svg", "Labelled and estimated ages."),
    "expression": ("expression.svg", "Labelled and estimated expressions."),
    "looking": ("looking.svg", "Looking or not, as labelled and as judged."),
}
OF_CARD = {
    "age": r"age_|senior_",
    "gender": r"gender_|child_",
    "face_detect": r"faces_|false_faces|portraits_|group_",
    "face_landmark": r"head_",
    "iris_landmark": r"looking_",
    "emotion_fa": r"happy|neutral|valence|expression_",
    "emotion_mx": r"happy|neutral|valence|expression_",
    "person_detect": r"persons_",
}
"""Which figures say how right a net is, by the beginning of their names."""
COUNTED = {
    "found": "Frontal faces at least 30 pixels wide, in composed scenes. Smaller, turned and half-hidden faces "
    "need not be found; if they are, they do not count as false. The portraits are large frontal faces.",
    "age_gender": "The portraits are large frontal faces. A photograph does not count if the number of faces "
    "found differs from the number labelled.",
    "expression": "A frame of a clip counts only if the number of faces found is the number of people present.",
    "looking": "Judged face by face from the output of `gaze_analysis`, by the rule that `scene_analysis` "
    "applies to each picture. `scene_analysis` reports looks that last: as `focus_locked` events, and as the looking "
    "intervals of visits, which are measured on [whole scenes](scenes.md). In the composed scenes, only the one "
    "person counts for whom there are photographs of turned heads. If someone looks, a frame of a clip counts only if "
    "the number of faces found is the number of people present: a look of a face that was not found is not counted as "
    "missed there.",
    "head_yaw": "One clip of one person. We have no data on the head's pitch and roll, or on the gaze direction.",
    "persons": "The network alone, which `scene_analysis` uses to find people whose face is not visible; there a "
    "body counts only once it has walked. The labels give the number of people, not their positions.",
    "motion": "Squares in front of generated backgrounds, and one clip of people who walk past a table.",
    "sound": "Synthetic sounds: noise, speech-like sounds, music and clicks.",
}
"""What a section's figures are of, and what they leave out."""
YEARS = re.compile(r"age_")
SHARES = re.compile(
    r"looking_|gender_right|senior_right|happy_|neutral_|valence_|faces_found|portraits_found|persons_found"
    r"|motion_\w+_(right|velocity_p95|seen)$|motion_empty_scene_targets|sound_yaw_\w+_found$|sound_two_at_once"
)
LIMITS = """
What the figures do not cover:

- Looking: nearly all faces in the set look at the camera. `looking_away_right` is the figure for those that do not.
  Faces that are half hidden or cut by the picture's edge, and cheeks of people seen from behind, are judged worst. No
  data has a straight head with eyes that look elsewhere.
- Gaze: the gaze alone misses most looks. In a face of 40 to 100 pixels, it is 10 to 20 degrees off.
- Head direction: the yaw is based on few frames. There are no figures for pitch and roll, or for the gaze angles.
- Expression: few people, most of them neutral or happy. Surprise, anger and sadness are practically untested. Only for
  happy and neutral faces in photographs is the largest share known to be right as often as it says.
- Age: retouched portraits are estimated younger than other photographs, and the correction lies between the two. In a
  photograph of a class aged 18 to 25, with small grey faces as a camera in a shop sees them, people are estimated
  several years too old. The network, the padding of the crop, the positions of the facial points in it and the mirror
  image were chosen on the portraits ([decision 0007](../decisions/0007-vision.md)); the correction and the confidence
  are validated on people without a part in the fit ([decision 0023](../decisions/0023-ages.md)). There are no visits of
  people of known age.
- Motion and sound: synthetic scenes and signals, of the same kind as those used in development, but different ones. No
  real sound recordings were tested.
"""


def publish(measured: Mapping[str, Sequence[Figure]], caveat: str) -> None:
    """Write the page, and into every card the figures that are its own."""
    parts = [
        "# Accuracy\n\nMeasured by `just accuracy-vision --write` on labelled pictures, scenes and sounds that are not "
        "part of the repository: on grey JPEG of quality 80, fitted into 640 x 480, unless stated otherwise. A "
        "figure without a target is only reported.\n",
        caveat + "\n",
    ]
    for name, figures in measured.items():
        parts.append(f"## {TITLES[name]}\n")
        if name in DRAWN:
            file, meaning = DRAWN[name]
            parts.append(f"![{meaning}](../{PICTURES.relative_to(ROOT / 'docs')}/{file})\n")
        parts.append(COUNTED[name] + "\n")
        parts.append(_table(figures))
    parts.append(read_sections())
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
