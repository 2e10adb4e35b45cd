"""What held when: each change that documents follow, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from onlooker.console.languages.hours_text import write_hours
from onlooker.console.notices.facts import DETAILS, SETTINGS
from onlooker.console.notices.models import LegalBasis, NoticeVersion
from onlooker.streams.models import ComputePlace, Stream

VERSIONS_SHOWN = 200
SETTING_NAMES = {
    "enabled": _("Enabled"),
    "reads_age": _("Age"),
    "reads_gender": _("Gender"),
    "reads_expression": _("Expression"),
    # Translators: followed by a colon and "server" or "device".
    "compute": _("Computed on the"),
    "retention_days": _("Days that visits are kept"),
    "reads_faces": _("Faces"),
    # Translators: followed by a colon and a number of people.
    "groups_of": _("Groups of at least"),
    "hours": _("Opening hours"),
}
DETAIL_NAMES = {
    "controller": _("Controller"),
    "address": _("Address"),
    "contact": _("Contact"),
    "officer": _("Data protection officer"),
    "recipients": _("Recipients"),
    "place": _("Place"),
    "purpose_en": _("Purpose in English"),
    "purpose_fr": _("Purpose in French"),
    "purpose_de": _("Purpose in German"),
    "purpose_es": _("Purpose in Spanish"),
    "legal_basis": _("Legal basis"),
}
NAMES: Mapping[str, Mapping[str, str | Promise]] = {SETTINGS: SETTING_NAMES, DETAILS: DETAIL_NAMES}
VALUE_NAMES: Mapping[str, Mapping[str, str | Promise]] = {
    "compute": {
        ComputePlace.SERVER: pgettext_lazy("computed on the", "server"),
        ComputePlace.DEVICE: pgettext_lazy("computed on the", "device"),
    },
    "legal_basis": {
        LegalBasis.INTERESTS: pgettext_lazy("legal basis", "interests"),
        LegalBasis.TASK: pgettext_lazy("legal basis", "task"),
        LegalBasis.CONSENT: pgettext_lazy("legal basis", "consent"),
    },
}
"""What columns of keys say."""


@dataclass(frozen=True)
class FactChange:
    """One setting or detail that changed."""

    name: str
    before: str
    """Empty for the first version, and for a detail that was not entered."""
    after: str


@dataclass(frozen=True)
class ShownVersion:
    """A row of the history."""

    id: int
    at: datetime
    is_first: bool
    """What held before is not known."""
    changes: tuple[FactChange, ...]


def read_history(stream: Stream) -> list[ShownVersion]:
    """The newest first, as many as a page shows."""
    newest = NoticeVersion.objects.filter(stream=stream).order_by("-id")[: VERSIONS_SHOWN + 1]
    shown = list(_describe(list(newest)[::-1]))
    return shown[::-1][:VERSIONS_SHOWN]


def _describe(versions: list[NoticeVersion]) -> Iterator[ShownVersion]:
    """From the oldest to the newest."""
    before: dict[str, Mapping[str, Any]] = {}
    for version in versions:
        earlier = before.get(version.subject)
        changes = tuple(_changes(NAMES.get(version.subject, {}), earlier or {}, version.held))
        is_first = earlier is None and version.subject == SETTINGS
        yield ShownVersion(version.id, version.at, is_first, changes)
        before[version.subject] = version.held


def _changes(
    names: Mapping[str, str | Promise], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[FactChange]:
    for column, name in names.items():
        was, now = _word(column, before.get(column)), _word(column, after.get(column))
        if was != now:
            yield FactChange(str(name), was, now)


def _word(column: str, value: object) -> str:
    """Empty for what was not entered, or not kept by the release of that time."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return pgettext("setting", "on") if value else pgettext("setting", "off")
    if column == "hours":
        return write_hours(str(value))
    return str(VALUE_NAMES.get(column, {}).get(str(value), value))
