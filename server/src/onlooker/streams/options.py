"""What a person may choose for a stream: its name, its time zone and its kind."""

import enum
import unicodedata
from functools import cache
from zoneinfo import available_timezones

from onlooker.sentences import Sentence, gettext_noop
from onlooker.settings import Settings
from onlooker.streams.business_hours import longest_opening, parse_hours
from onlooker.streams.video_time import as_duration

LONGEST_NAME = 100
LARGEST_GROUPS = 50
"""Of people: larger ones would leave most days untold."""
READING_NOTICE = Sentence(
    "If age, gender or expression is read, tell the people in front of the camera (EU AI Act, art. 50(3): biometric "
    "categorisation and emotion recognition); reading expression at work and in schools is forbidden (art. 5(1)(f))."
)
WARNED_FROM = 0.8
"""The share of a developer stream's quota from which people are warned."""

# Translators: parts of the world, as the names of time zones begin; "Indian" is the ocean.
_AREAS = (
    *(gettext_noop("Africa"), gettext_noop("America"), gettext_noop("Antarctica"), gettext_noop("Arctic")),
    *(gettext_noop("Asia"), gettext_noop("Atlantic"), gettext_noop("Australia"), gettext_noop("Europe")),
    *(gettext_noop("Indian"), gettext_noop("Pacific")),
)
_NO_PLACE = {"Factory", "localtime", "posixrules"}
_CONTROL = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Characters that change the direction of the text around them: a name must not change the page it is shown on."""


def check_name(name: str) -> str:
    """The name as it is stored. Raises ValueError, with a sentence, if it is not a valid name."""
    kept = unicodedata.normalize("NFC", name).strip()
    if not any(character.isprintable() and not character.isspace() for character in kept):
        raise ValueError(Sentence("A stream needs a name, such as where its camera hangs."))
    if len(kept) > LONGEST_NAME:
        raise ValueError(Sentence("A name has at most {longest} characters.", longest=LONGEST_NAME))
    if not is_plain_line(kept):
        raise ValueError(Sentence("A name is one line without control characters."))
    return kept


def is_plain_line(text: str) -> bool:
    """One line, without characters that change what stands around it."""
    return not any(unicodedata.category(one) in _CONTROL or unicodedata.bidirectional(one) in _TURNING for one in text)


def is_same_name(typed: str, name: str) -> bool:
    """Whether somebody typed this name. Several spaces count as one, since a page shows them as one."""
    return _as_shown(typed) == _as_shown(name)


def _as_shown(name: str) -> list[str]:
    return unicodedata.normalize("NFC", name).split()


def check_time_zone(name: str) -> str:
    """Raises ValueError, with a sentence, if there is no such zone."""
    if name not in _known_time_zones():
        given = repr(name[:60])
        raise ValueError(Sentence("{name} is not a time zone. Take a name such as Europe/Paris.", name=given))
    return name


def check_alert_minutes(minutes: int, hours: str) -> str:
    """Why an e-mail after so long would never be sent, with the remedy; empty if it would, or if none is wanted."""
    week = parse_hours(hours)
    longest = longest_opening(week) if week else None
    if longest is None or minutes < longest:
        return ""
    return Sentence(
        "The longest opening lasts {longest} minutes, and the wait begins again with each: this e-mail would never be "
        "sent. Choose less than {longest}, or 0 for none.",
        longest=longest,
    )


def check_first_hours(hours: str, *, alert_minutes: int) -> str:
    """The same of a new stream, whose alert times are not asked for."""
    if not check_alert_minutes(alert_minutes, hours):
        return ""
    return Sentence(
        "An opening must last longer than {minutes} minutes, after which an e-mail says that the camera is "
        "silent. For shorter ones, create the stream without opening hours, then set both in its settings.",
        minutes=alert_minutes,
    )


@cache
def _known_time_zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_PLACE | {"UTC"})


@cache
def time_zones_by_area() -> dict[str, list[str]]:
    """What is offered: UTC, then places. Names kept for old programs are accepted, but not offered."""
    places = sorted(name for name in _known_time_zones() if name.partition("/")[0] in _AREAS and "/" in name)
    areas = {area: [name for name in places if name.startswith(f"{area}/")] for area in _AREAS}
    return {gettext_noop("Everywhere"): ["UTC"]} | {area: names for area, names in areas.items() if names}


class EnterpriseAccess(enum.StrEnum):
    """What an account must do for an enterprise stream."""

    CHOICE = "choice"
    """Choose it; it is preselected."""
    CARD = "card"
    """Enter a payment card."""
    STAFF = "staff"
    """Ask staff."""


def enterprise_access(settings: Settings, *, is_staff: bool) -> EnterpriseAccess:
    """With billing, staff pay like everybody else; they can grant themselves a stream on the staff pages."""
    if settings.stripe_secret_key:
        return EnterpriseAccess.CARD
    if is_staff or settings.enterprise_without_billing == "everybody":
        return EnterpriseAccess.CHOICE
    return EnterpriseAccess.STAFF


def describe_kinds(settings: Settings) -> dict[str, str]:
    """One sentence for each kind."""
    developer = Sentence(
        # Translators: {month} is a length of time, such as 30 h.
        "Developer: for non-commercial use only, and stops after {month} of video each month",
        month=as_duration(settings.developer_quota_s),
    )
    without_card = Sentence("Enterprise: no monthly limit")
    with_card = Sentence("Enterprise: no monthly limit, needs a payment card")
    return {"developer": developer, "enterprise": with_card if settings.stripe_secret_key else without_card}


def is_nearly_used_up(used_s: float, quota_s: float | None) -> bool:
    """Whether to warn about the quota; not once it is used up, and never if there is none."""
    return quota_s is not None and WARNED_FROM * quota_s <= used_s < quota_s
