"""What the management API says of an organisation, its streams, sites, people, keys and webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onlooker_client.manage.record_fields import Record

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class OrganisationFacts(Record):
    """The organisation that the key belongs to."""

    id: int
    name: str
    requires_second_factor: bool = False
    created_at: datetime | None = None
    streams: int = 0
    sites: int = 0
    members: int = 0


@dataclass(frozen=True)
class Addresses(Record):
    """Where the parts of the product are."""

    gateway_url: str
    data_url: str
    console_url: str = ""


@dataclass(frozen=True)
class Stream(Record):
    """A view of one camera; what it counts belongs to it, whichever device sends."""

    client_id: str
    """Its Login."""
    name: str
    kind: str = ""
    enabled: bool = True
    site: int | None = None
    tags: tuple[str, ...] = ()
    time_zone: str = ""
    hours: str = ""
    """Opening hours; empty: those of its site, or always."""
    place: str = ""
    compute: str = ""
    reads_faces: bool | None = None
    reads_age: bool | None = None
    reads_gender: bool | None = None
    reads_expression: bool | None = None
    retention_days: int | None = None
    audit_days: int | None = None
    groups_of: int | None = None
    grid: bool | None = None
    silence_alert_minutes: int | None = None
    blind_alert_minutes: int | None = None
    unusual_alert: bool | None = None
    notice_given_at: datetime | None = None
    created_at: datetime | None = None
    last_frame_at: datetime | None = None


@dataclass(frozen=True)
class NewStream(Record):
    """A stream that was just created, with its Password."""

    stream: Stream
    access_token: str = field(repr=False)
    """Not shown again."""


@dataclass(frozen=True)
class NewPassword(Record):
    """The next Password of a stream."""

    access_token: str = field(repr=False)
    """Not shown again."""
    old_ends_at: datetime | None = None


@dataclass(frozen=True)
class Tag(Record):
    """A word that streams have in common."""

    id: int
    name: str
    streams: int = 0


@dataclass(frozen=True)
class StreamChange(Record):
    """What a change of many streams does to one."""

    client_id: str
    name: str = ""
    settings: Settings = field(default_factory=dict)
    """By name: `{"before": ..., "after": ...}`."""
    added_tags: tuple[str, ...] = ()
    removed_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class BulkChange(Record):
    """What a change of many streams does, or would do."""

    preview: bool
    """Nothing was changed."""
    selected: int
    changed: int
    deletes_visits: int = 0
    """How many streams lose older visits by a shorter retention."""
    erases_singles: int = 0
    """How many streams lose what is known of people one by one, by larger groups."""
    items: tuple[StreamChange, ...] = ()


@dataclass(frozen=True)
class Site(Record):
    """A place where streams stand."""

    id: int
    name: str
    address: str = ""
    time_zone: str = ""
    hours: str = ""
    streams: int = 0
    device_settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Note(Record):
    """What somebody wrote about days of each stream's own clock."""

    id: int
    text: str = field(repr=False)
    """May name people: it is in no log by accident."""
    first_day: str = ""
    last_day: str = ""
    stream: str | None = None
    """The client_id of the one stream that it is about."""
    site: int | None = None
    """None, and no stream: it is about the whole organisation."""
    created_at: datetime | None = None


@dataclass(frozen=True)
class Member(Record):
    """A person in the organisation."""

    id: int
    email: str
    role: str = ""
    """owner, manager, analyst or viewer."""
    sites: tuple[int, ...] = ()
    """Of a viewer; none: not limited."""
    created_at: datetime | None = None


@dataclass(frozen=True)
class Invitation(Record):
    """Of a person who has not answered yet."""

    id: str
    email: str
    role: str = ""
    sites: tuple[int, ...] = ()
    invited_at: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Invited(Record):
    """What became of addresses that were invited."""

    invited: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """By the mail server."""


@dataclass(frozen=True)
class Key(Record):
    """A key for programs; its text is shown once."""

    id: int
    name: str
    beginning: str = ""
    scopes: tuple[str, ...] = ()
    role: str = ""
    reaches_all: bool | None = None
    sites: tuple[int, ...] = ()
    streams: tuple[str, ...] = ()
    created_at: datetime | None = None
    expires_at: datetime | None = None
    used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True)
class NewKey(Record):
    """A key that was just created."""

    key: Key
    text: str = field(repr=False)
    """Not shown again."""


@dataclass(frozen=True)
class Webhook(Record):
    """An address that events are sent to."""

    id: int
    url: str
    name: str = ""
    events: tuple[str, ...] = ()
    """None: all."""
    created_at: datetime | None = None
    disabled_at: datetime | None = None
    disabled_why: str = ""


@dataclass(frozen=True)
class NewWebhook(Record):
    """A webhook that was just created, with the secret that its messages are signed with."""

    webhook: Webhook
    secret: str = field(repr=False)
    """Not shown again."""


@dataclass(frozen=True)
class NewSecret(Record):
    """The next secret of a webhook; for a day the one before signs, too."""

    secret: str = field(repr=False)


@dataclass(frozen=True)
class WebhookDelivery(Record):
    """One message to a webhook, and what became of it."""

    id: int
    event: str
    message_id: str = ""
    created_at: datetime | None = None
    tries: int = 0
    next_try_at: datetime | None = None
    delivered_at: datetime | None = None
    failed_at: datetime | None = None
    last_status: int | None = None
    last_reason: str = ""
