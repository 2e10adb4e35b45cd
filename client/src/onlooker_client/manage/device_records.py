"""What the management API says of devices: templates, enrolment codes, boxes, their configuration and health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onlooker_client.manage.record_fields import Record

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Template(Record):
    """What a device that enrols begins with."""

    id: int
    name: str
    source: str = ""
    settings: Settings = field(default_factory=dict)
    """Of the stream that it creates."""
    device_settings: Settings = field(default_factory=dict)
    notice_given_at: datetime | None = None
    created_at: datetime | None = None


@dataclass(frozen=True)
class EnrolmentCode(Record):
    """Lets so many devices enrol until it expires; its text is shown once."""

    id: int
    beginning: str = ""
    state: str = ""
    """open, used, expired or ended."""
    template: int | None = None
    site: int | None = None
    stream: str | None = None
    """The stream that its device takes over; none: each device creates one."""
    devices_at_most: int = 1
    devices: int = 0
    expires_at: datetime | None = None
    created_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True)
class NewCode(Record):
    """A code that was just created."""

    enrolment_code: EnrolmentCode
    code: str = field(repr=False)
    """Not shown again."""


@dataclass(frozen=True)
class ConfigurationState(Record):
    """Which configuration a device has, and what it made of it."""

    version: int | None = None
    etag: str = ""
    state: str = ""
    """new, trying, applied, refused or rolled_back."""
    reason: str = ""


@dataclass(frozen=True)
class Device(Record):
    """A box with an agent."""

    device_id: str
    stream: str = ""
    """Login of the stream that it sends for."""
    stream_name: str = ""
    site: int | None = None
    name: str = ""
    machine: str = ""
    version: str = ""
    enrolled_at: datetime | None = None
    seen_at: datetime | None = None
    revoked_at: datetime | None = None
    settings: Settings = field(default_factory=dict)
    """Its own, over those of its site and template."""
    configuration: ConfigurationState | None = None
    condition: str = ""


@dataclass(frozen=True)
class ConfigurationVersion(Record):
    """One of the newest configurations of a device."""

    version: int
    etag: str = ""
    settings: Settings = field(default_factory=dict)
    level: str = ""
    """What changed: enrolment, template, site, device or stream."""
    created_at: datetime | None = None
    by: str = ""
    state: str = ""
    reason: str = ""
    applied_at: datetime | None = None


@dataclass(frozen=True)
class DeviceConfiguration(Record):
    """What a device is told, and what it was told before."""

    version: int
    etag: str = ""
    settings: Settings = field(default_factory=dict)
    versions: tuple[ConfigurationVersion, ...] = ()


@dataclass(frozen=True)
class DeviceChange(Record):
    """What a change of many devices does to one."""

    device_id: str
    stream: str = ""
    settings: Settings = field(default_factory=dict)
    """By name: `{"before": ..., "after": ...}`."""


@dataclass(frozen=True)
class BulkConfiguration(Record):
    """What a change of many devices does, or would do."""

    preview: bool
    """Nothing was changed."""
    selected: int
    changed: int
    items: tuple[DeviceChange, ...] = ()
