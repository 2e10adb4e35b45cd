"""The conformity sheet of each model that a stream computes with: what it was measured at, and where it fails.

Figures come from the model cards and the pages of measured accuracy. `docs/generate.py` writes them into
`model_sheets.json`; none is typed here. Like those pages, sheets are in English.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from onlooker.console.notices.facts import ComputedFacts


@dataclass(frozen=True)
class SheetTable:
    """A table of a page, as it was measured."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class ModelSheet:
    """What is known of one net."""

    name: str
    about: str
    source: list[str]
    licence: str
    outputs: SheetTable
    """All that it computes: names, shape, kind (box, score, point or estimate) and meaning."""
    figures: SheetTable
    groups: list[SheetTable]
    """By age, gender and ethnic group; none where that was not measured."""
    groups_basis: str
    conditions: list[SheetTable]
    """How it fares as pictures get worse."""
    limits: list[str]
    """What its card warns of."""
    untested: list[str]
    """What the figures do not cover."""


@cache
def read_sheets() -> dict[str, ModelSheet]:
    text = files("onlooker.console.notices").joinpath("model_sheets.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, ModelSheet])


def models_in_use(computed: ComputedFacts) -> tuple[str, ...]:
    """By their names; a net whose switch is off does not run."""
    runs = {
        "person_detect": True,
        "face_detect": computed.reads_faces,
        "face_landmark": computed.reads_faces,
        "iris_landmark": computed.reads_faces,
        "age": computed.estimates_age,
        "gender": computed.estimates_gender,
        "emotion_fa": computed.estimates_expression,
        "emotion_mx": computed.estimates_expression,
    }
    return tuple(name for name, is_so in runs.items() if is_so)


def sheets_of(computed: ComputedFacts) -> list[ModelSheet]:
    known = read_sheets()
    return [known[name] for name in models_in_use(computed)]
