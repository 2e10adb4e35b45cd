"""What a person may choose for a stream: its name, its time zone, and what is read of people."""

import unicodedata
from functools import cache
from zoneinfo import available_timezones

LONGEST_NAME = 100
READING_NOTICE = (
    "If age, gender or expression is read, tell the people in front of the camera (EU AI Act, art. 50(3): biometric "
    "categorisation and emotion recognition); reading expression at work and in schools is forbidden (art. 5(1)(f))."
)
_AREAS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_NO_PLACE = {"Factory", "localtime", "posixrules"}
_CONTROL = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Characters that turn the direction of the text around them: a name must not change the page it is shown on."""


def check_name(name: str) -> str:
    """The name as it is kept; ValueError, with a sentence, where it can't be one."""
    kept = unicodedata.normalize("NFC", name).strip()
    if not any(character.isprintable() and not character.isspace() for character in kept):
        raise ValueError("A stream needs a name, such as where its camera hangs.")
    if len(kept) > LONGEST_NAME:
        raise ValueError(f"A name has at most {LONGEST_NAME} characters.")
    if any(unicodedata.category(one) in _CONTROL or unicodedata.bidirectional(one) in _TURNING for one in kept):
        raise ValueError("A name is one line without control characters.")
    return kept


def is_same_name(typed: str, name: str) -> bool:
    """Whether somebody typed this name; a page shows many spaces as one, so they count as one."""
    return _as_shown(typed) == _as_shown(name)


def _as_shown(name: str) -> list[str]:
    return unicodedata.normalize("NFC", name).split()


def check_time_zone(name: str) -> str:
    """ValueError, with a sentence, where there is no such zone."""
    if name not in _known_time_zones():
        raise ValueError(f"{name[:60]!r} is not a time zone. Take a name such as Europe/Paris.")
    return name


@cache
def _known_time_zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_PLACE | {"UTC"})


@cache
def time_zones_by_area() -> dict[str, list[str]]:
    """What is offered: places, and UTC first. Names kept for the sake of old programs are known, but not offered."""
    places = sorted(name for name in _known_time_zones() if name.partition("/")[0] in _AREAS and "/" in name)
    areas = {area: [name for name in places if name.startswith(f"{area}/")] for area in _AREAS}
    return {"Everywhere": ["UTC"]} | {area: names for area, names in areas.items() if names}
