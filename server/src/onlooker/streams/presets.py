"""Presets: what a new stream computes of people, how it tells it and for how long it keeps it, chosen in one step."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from onlooker.sentences import Sentence, gettext_noop
from onlooker.streams.options import READING_NOTICE

RETENTION_DAYS = 90
GROUPS_OF = 5
"""The fewest people of whom anything is told together."""

HIGH_RISK_NOTICE = Sentence(
    "Biometric categorisation may also count as high-risk (Annex III 1(b)); emotion recognition does (Annex III 1(c))."
)
# Translators: two sentences after each other.
NOTICE_SENTENCE = Sentence("{reading} {high_risk}", reading=READING_NOTICE, high_risk=HIGH_RISK_NOTICE)
NOTICE_TICK = Sentence("People in front of the camera are told")
NOTICE_MISSING: str = Sentence("Tell the people in front of the camera first, then tick this. Or choose Counts only.")
EXPRESSION_FORBIDDEN: str = Sentence(
    "Inferring emotions at work and in education is forbidden (EU AI Act, art. 5(1)(f)). Choose another preset, or "
    "switch expression off."
)


class Preset(enum.StrEnum):
    """What a person chooses from."""

    COUNTS = "counts"
    AUDIENCE = "audience"
    EVERYTHING = "everything"
    OWN = "own"


class CameraPlace(enum.StrEnum):
    """Where a camera is, as far as the law asks. A closed list: it is stored."""

    UNKNOWN = ""
    """Of streams that are older than the question."""
    PUBLIC = "public"
    WORKPLACE = "workplace"
    SCHOOL = "school"

    @property
    def forbids_expression(self) -> bool:
        return self in (CameraPlace.WORKPLACE, CameraPlace.SCHOOL)


@dataclass(frozen=True)
class PresetChoice:
    """A preset as it is offered."""

    title: str
    meaning: str
    settings: Mapping[str, bool | int]
    """Of the stream; empty for one's own."""
    needs_notice: bool = False


_COUNTED = {
    "reads_faces": False,
    "reads_age": False,
    "reads_gender": False,
    "reads_expression": False,
    "retention_days": RETENTION_DAYS,
}
_AUDIENCE = {
    "reads_faces": True,
    "reads_age": True,
    "reads_gender": True,
    "reads_expression": False,
    "retention_days": RETENTION_DAYS,
    "groups_of": GROUPS_OF,
}

PRESETS: dict[Preset, PresetChoice] = {
    Preset.COUNTS: PresetChoice(
        gettext_noop("Counts only"),
        gettext_noop("How many people pass by and how many stop. No face is looked for. Kept for 90 days."),
        _COUNTED,
    ),
    Preset.AUDIENCE: PresetChoice(
        gettext_noop("Audience"),
        gettext_noop("Also who looks, and their age and gender, in groups of at least 5 people. Kept for 90 days."),
        _AUDIENCE,
        needs_notice=True,
    ),
    Preset.EVERYTHING: PresetChoice(
        gettext_noop("Everything"),
        gettext_noop("Also their expression, in the same groups. Forbidden at work and in schools. Kept for 90 days."),
        {**_AUDIENCE, "reads_expression": True},
        needs_notice=True,
    ),
    Preset.OWN: PresetChoice(
        gettext_noop("Your own"),
        gettext_noop("You choose in the settings. At first age and gender, kept for a year."),
        {},
    ),
}
USUAL = Preset.AUDIENCE


def preset_settings(preset: Preset) -> dict[str, bool | int]:
    """What the preset sets of a stream."""
    return dict(PRESETS[preset].settings)


def check_preset(preset: Preset, place: CameraPlace, *, is_notice_given: bool) -> str:
    """Why it can't be chosen: a sentence; empty where it can."""
    if place.forbids_expression and PRESETS[preset].settings.get("reads_expression"):
        return EXPRESSION_FORBIDDEN
    return NOTICE_MISSING if PRESETS[preset].needs_notice and not is_notice_given else ""


def preset_of(stream: object) -> Preset:
    """Which preset a stream's settings are those of; one's own, where they are of none."""
    for preset, choice in PRESETS.items():
        if choice.settings and all(getattr(stream, name) == value for name, value in choice.settings.items()):
            return preset
    return Preset.OWN
