"""What dimensions and their parts are called on pages."""

from collections.abc import Sequence

from django.utils.dates import WEEKDAYS as WEEKDAY_NAMES
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.console.breakdowns.cell_numbers import in_reading_order
from onlooker.console.languages.locale_text import write_list
from onlooker.metrics.definitions import UNKNOWN
from onlooker.metrics.dimensions import DIMENSIONS, WEEKDAYS

_IN_A_LIST = {UNKNOWN: pgettext_lazy("in a list", "unknown"), "male": pgettext_lazy("in a list", "men")}
"""After others in a list of parts that are told together."""
EN_DASH = "\N{EN DASH}"
MINUTES_FROM_S = 60
DIMENSION_NAMES = {
    "gender": _lazy("Gender"),
    "age": _lazy("Age"),
    "category": _lazy("Category"),
    "emotion": _lazy("Emotion"),
    "stop_band": _lazy("Stood still"),
    "attention_band": _lazy("Looked"),
    "presence_band": _lazy("In view"),
    "weekday": _lazy("Weekday"),
    "hour_of_day": _lazy("Hour"),
}
_NAMES = {
    UNKNOWN: _lazy("Unknown"),
    "female": _lazy("Women"),
    "male": _lazy("Men"),
    "senior_female": _lazy("Senior women"),
    "senior_male": _lazy("Senior men"),
    "young_female": _lazy("Young women"),
    "young_male": _lazy("Young men"),
    "neutral": _lazy("Neutral"),
    "happiness": _lazy("Happiness"),
    "surprise": _lazy("Surprise"),
    "anger": _lazy("Anger"),
    "sadness": _lazy("Sadness"),
}


def name_part(dimension: str, part: str) -> str:
    """Such as Women, Monday, 09:00; bands with a dash and the unit of time."""
    if dimension == "weekday":
        return str(WEEKDAY_NAMES[WEEKDAYS.index(part)])
    if dimension == "hour_of_day":
        return f"{part}:00"
    if dimension.endswith("_band"):
        return _name_band(part)
    return str(_NAMES[part]) if part in _NAMES else part.replace("-", EN_DASH)


def name_group(dimension: str, group: Sequence[str]) -> str:
    """Such as Women and men: parts that are told together."""
    if dimension == "age" and len(group) == len(DIMENSIONS["age"].parts):
        return _("All ages")
    first, *others = in_reading_order(dimension, group)
    return write_list(
        [name_part(dimension, first), *(str(_IN_A_LIST.get(part, name_part(dimension, part))) for part in others)]
    )


def _name_band(band: str) -> str:
    """Minutes where both ends are whole ones."""
    ends = [int(end) for end in band.rstrip("+").split("-")]
    in_minutes = ends[0] >= MINUTES_FROM_S
    shown = [end // MINUTES_FROM_S if in_minutes else end for end in ends]
    if len(shown) == 1:
        return _("{minutes} min or more").format(minutes=shown[0])
    return f"{shown[0]}{EN_DASH}{shown[1]} {'min' if in_minutes else 's'}"
