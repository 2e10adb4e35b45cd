"""What documents are written from: the settings of a stream and what its owner entered, now or at an earlier moment."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec
from django.http import Http404

from onlooker.console.notices.languages import base_language
from onlooker.console.notices.models import NoticeDetails, NoticeVersion
from onlooker.streams.models import ComputePlace, Stream

SETTINGS, DETAILS = Stream._meta.db_table, NoticeDetails._meta.db_table
"""The subjects of versions."""

Held = TypeVar("Held")


@dataclass(frozen=True)
class ComputedFacts:
    """What a stream computes and how long it is kept: the one place that sentences about settings depend on.

    A setting that documents shall follow is a member here, named like its column, with a default (older versions lack
    it); `computed_facts` reads it, a migration names it to the trigger (`keep_columns` of 0001), and
    `history.SETTING_NAMES` says what it is called. Tests fail until all of them agree.
    """

    enabled: bool
    reads_age: bool
    reads_gender: bool
    reads_expression: bool
    compute: str
    retention_days: int
    reads_faces: bool = True
    groups_of: int = 1
    hours: str = ""

    @property
    def estimates_age(self) -> bool:
        return self.reads_faces and self.reads_age

    @property
    def estimates_gender(self) -> bool:
        return self.reads_faces and self.reads_gender

    @property
    def estimates_expression(self) -> bool:
        return self.reads_faces and self.reads_expression

    @property
    def is_on_device(self) -> bool:
        return self.compute == ComputePlace.DEVICE

    @property
    def categorises(self) -> bool:
        """Whether people are put into categories by their faces."""
        return self.estimates_age or self.estimates_gender

    @property
    def estimates_attributes(self) -> bool:
        """Whether anything is estimated about people from their faces."""
        return self.categorises or self.estimates_expression


@dataclass(frozen=True)
class ControllerFacts:
    """What the owner entered; empty where nothing was. Members are named like the columns."""

    controller: str = ""
    address: str = ""
    contact: str = ""
    officer: str = ""
    recipients: str = ""
    place: str = ""
    purpose_en: str = ""
    purpose_fr: str = ""
    purpose_de: str = ""
    purpose_es: str = ""
    legal_basis: str = ""

    @property
    def purpose(self) -> str:
        """In the active language."""
        return self._purposes[base_language()]

    @property
    def any_purpose(self) -> str:
        """In the active language if it was entered in it, else in another one."""
        return self.purpose or next(filter(None, self._purposes.values()), "")

    @property
    def _purposes(self) -> dict[str, str]:
        return {"en": self.purpose_en, "fr": self.purpose_fr, "de": self.purpose_de, "es": self.purpose_es}


@dataclass(frozen=True)
class NoticeFacts:
    """Both, and since when they have held, in the stream's time zone."""

    computed: ComputedFacts
    controller: ControllerFacts
    since: datetime


def computed_facts(stream: Stream) -> ComputedFacts:
    return ComputedFacts(
        enabled=stream.enabled,
        reads_age=stream.reads_age,
        reads_gender=stream.reads_gender,
        reads_expression=stream.reads_expression,
        compute=stream.compute,
        retention_days=stream.retention_days,
        reads_faces=stream.reads_faces,
        groups_of=stream.groups_of,
        hours=stream.hours,
    )


def controller_facts(details: NoticeDetails | None) -> ControllerFacts:
    if details is None:
        return ControllerFacts()
    return ControllerFacts(
        controller=details.controller,
        address=details.address,
        contact=details.contact,
        officer=details.officer,
        recipients=details.recipients,
        place=details.place,
        purpose_en=details.purpose_en,
        purpose_fr=details.purpose_fr,
        purpose_de=details.purpose_de,
        purpose_es=details.purpose_es,
        legal_basis=details.legal_basis,
    )


def current_facts(stream: Stream, details: NoticeDetails | None) -> NoticeFacts:
    newest = NoticeVersion.objects.filter(stream=stream).order_by("-id").first()
    since = newest.at if newest is not None else stream.created_at
    return NoticeFacts(computed_facts(stream), controller_facts(details), _local(since, stream))


def earlier_facts(stream: Stream, version_id: int) -> NoticeFacts:
    """As they held from a version of this stream on, until the next; Http404 where it has no such version."""
    until = NoticeVersion.objects.filter(stream=stream, id__lte=version_id).order_by("-id")
    newest = until.first()
    settings = until.filter(subject=SETTINGS).first()
    if newest is None or newest.id != version_id or settings is None:
        raise Http404
    details = until.filter(subject=DETAILS).first()
    controller = decode_held(details.held, ControllerFacts) if details is not None else ControllerFacts()
    return NoticeFacts(decode_held(settings.held, ComputedFacts), controller, _local(newest.at, stream))


def _local(at: datetime, stream: Stream) -> datetime:
    return at.astimezone(ZoneInfo(stream.time_zone))


def decode_held(held: Any, kind: type[Held]) -> Held:
    """Members that a version lacks have their default; columns that are gone since are left out."""
    return msgspec.convert(held, kind)


def find_details(stream: Stream) -> NoticeDetails | None:
    return NoticeDetails.objects.filter(stream=stream).first()
