"""Which devices a list shows: by words, site, agent version, condition and state of the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from onlooker.console.devices.health_words import RESTING, SILENT_AFTER
from onlooker.devices.configuration import with_configuration_state
from onlooker.devices.models import Device

LONGEST_WORDS = 100
LONGEST_VALUE = 40
_VERSIONS = ("status__version", "stream__agent_condition__version")
"""Where agents say what they are: to the console, and to the gateway."""
NO_VERSION = "none"
"""In an address: the agent did not say which it is, or there is no version of a configuration."""


@dataclass(frozen=True)
class DeviceFilter:
    """What is asked of the list, as the address has it."""

    words: str = ""
    site_id: int | None = None
    version: str = ""
    condition: str = ""
    configuration: str = ""
    shows_revoked: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves any live device out."""
        return bool(self.words or self.version or self.condition or self.configuration) or self.site_id is not None

    def address(self, **changes: Any) -> str:
        """The query of the same list, changed."""
        other = replace(self, **changes)
        said = {
            "search": other.words,
            "site": "" if other.site_id is None else str(other.site_id),
            "version": other.version,
            "condition": other.condition,
            "configuration": other.configuration,
            "revoked": "1" if other.shows_revoked else "",
        }
        return urlencode({name: value for name, value in said.items() if value})


def parse_filter(asked: Mapping[str, str]) -> DeviceFilter:
    """What is not understood is not asked."""
    return DeviceFilter(
        words=asked.get("search", "")[:LONGEST_WORDS].strip(),
        site_id=parse_number(asked.get("site", "")),
        version=asked.get("version", "")[:LONGEST_VALUE],
        condition=asked.get("condition", "")[:LONGEST_VALUE],
        configuration=asked.get("configuration", "")[:LONGEST_VALUE],
        shows_revoked="revoked" in asked,
    )


def parse_number(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    return int(text) if is_number else None


def with_judgement(devices: QuerySet[Device], now: datetime | None = None) -> QuerySet[Any]:
    """Each with `agent_version`, `device_condition` (as health_words.condition_of) and `configuration_state`."""
    silent_before = (now or timezone.now()) - SILENT_AFTER
    condition = Case(
        When(status__isnull=True, then=Value("never")),
        When(status__reported_at__lt=silent_before, then=Value("silent")),
        When(status__state__in=RESTING, then=F("status__state")),
        When(~Q(status__condition__in=("", "fine")), then=F("status__condition")),
        When(status__state="running", then=Value("fine")),
        default=F("status__state"),
        output_field=CharField(),
    )
    said = [NullIf(column, Value(""), output_field=CharField()) for column in _VERSIONS]
    version = Coalesce(*said, "version", output_field=CharField())
    rows: QuerySet[Any] = with_configuration_state(devices).annotate(agent_version=version, device_condition=condition)
    return rows


def choose_devices(devices: QuerySet[Device], asked: DeviceFilter) -> QuerySet[Any]:
    """Those that are asked for, with their judgement."""
    rows: QuerySet[Any] = devices if asked.shows_revoked else devices.filter(revoked_at=None)
    if asked.site_id is not None:
        rows = rows.filter(stream__site=asked.site_id)
    if asked.words:
        rows = rows.filter(Q(stream__name__icontains=asked.words) | Q(name__icontains=asked.words))
    rows = with_judgement(rows)
    if asked.version:
        rows = rows.filter(agent_version="" if asked.version == NO_VERSION else asked.version)
    if asked.condition:
        rows = rows.filter(device_condition=asked.condition)
    if asked.configuration == NO_VERSION:
        rows = rows.filter(configuration_state=None)
    elif asked.configuration:
        rows = rows.filter(configuration_state=asked.configuration)
    return rows
