"""The two kinds of stream: what each means, how one becomes an enterprise stream, when a month is nearly used up."""

import enum

from onlooker.settings import Settings
from onlooker.streams.video_time import as_duration

WARNED_FROM = 0.8
"""The share of a developer stream's month from which on people are warned."""


class Way(enum.StrEnum):
    """What an account must do for an enterprise stream."""

    CHOICE = "choice"
    """Choose it; it is preselected."""
    CARD = "card"
    """Enter a payment card."""
    STAFF = "staff"
    """Ask staff."""


def way_to_enterprise(settings: Settings, *, is_staff: bool) -> Way:
    """Staff pays like everybody where there is billing, and may grant a stream of its own on the staff's pages."""
    if settings.stripe_secret_key:
        return Way.CARD
    if is_staff or settings.enterprise_without_billing == "everybody":
        return Way.CHOICE
    return Way.STAFF


def describe_kinds(settings: Settings) -> dict[str, str]:
    """One sentence each, by kind."""
    month = as_duration(settings.developer_quota_s)
    return {
        "developer": f"Developer: for non-commercial use only, and stops after {month} of video each month",
        "enterprise": "Enterprise: no monthly limit" + (", needs a payment card" if settings.stripe_secret_key else ""),
    }


def is_nearly_used_up(used_s: float, quota_s: float | None) -> bool:
    """Whether the month is worth a warning; not once it is used up, and never where there is no limit."""
    return quota_s is not None and WARNED_FROM * quota_s <= used_s < quota_s
