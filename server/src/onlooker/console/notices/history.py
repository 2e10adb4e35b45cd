"""What held when: each change that documents follow, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from onlooker.console.notices.facts import DETAILS, SETTINGS
from onlooker.console.notices.models import NoticeVersion
from onlooker.streams.models import Stream

VERSIONS_SHOWN = 200
SETTING_NAMES = {
    "enabled": "Enabled",
    "reads_age": "Age",
    "reads_gender": "Gender",
    "reads_expression": "Expression",
    "compute": "Computed on the",
    "retention_days": "Days that visits are kept",
    "reads_faces": "Faces",
    "groups_of": "Groups of at least",
    "hours": "Opening hours",
}
DETAIL_NAMES = {
    "controller": "Controller",
    "address": "Address",
    "contact": "Contact",
    "officer": "Data protection officer",
    "recipients": "Recipients",
    "place": "Place",
    "purpose_en": "Purpose in English",
    "purpose_fr": "Purpose in French",
    "purpose_de": "Purpose in German",
    "legal_basis": "Legal basis",
}
NAMES = {SETTINGS: SETTING_NAMES, DETAILS: DETAIL_NAMES}


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


def _changes(names: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FactChange]:
    for column, name in names.items():
        if before.get(column) != after.get(column) and (before or after.get(column) != ""):
            yield FactChange(name, _word(before.get(column)), _word(after.get(column)))


def _word(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
