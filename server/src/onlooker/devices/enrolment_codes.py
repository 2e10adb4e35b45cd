"""Enrolment codes and templates: creating them, ending them, and deleting those that ended long ago."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from onlooker.devices.code_text import hash_code, new_code, read_code
from onlooker.devices.models import MOST_DEVICES, DeviceTemplate, EnrolmentCode
from onlooker.sentences import Sentence
from onlooker.streams.models import Organisation, Site, Stream
from onlooker.streams.options import check_name
from onlooker.streams.organisations import RefusedError

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

LONGEST_LIFE = timedelta(days=90)
REPLACEMENT_LIFE = timedelta(days=14)
KEPT = timedelta(days=90)
"""How long a code that lets nobody in any more stays listed."""
OPEN_AT_MOST = 100
"""Codes of an organisation."""
TEMPLATES_AT_MOST = 100
LONGEST_TEMPLATE_NAME = 80
SETTABLE = frozenset(
    {
        *("reads_faces", "reads_age", "reads_gender", "reads_expression", "place", "hours", "time_zone", "compute"),
        *("retention_days", "groups_of"),
    }
)
"""Columns of a stream that a template may set."""
_SOURCE = re.compile(r"\d{1,2}|usb:\d{1,2}|/dev/[\w./:-]{1,150}|(?:rtsps?|https?)://[^\s@?#]{1,180}")


@dataclass(frozen=True)
class NewCode:
    """A code and its text, which nobody can read again."""

    code: EnrolmentCode
    text: str


def open_codes(organisations: Any) -> QuerySet[EnrolmentCode]:
    """Those that still let devices in, the one that expires first on top."""
    rows = EnrolmentCode.objects.filter(organisation__in=organisations, ended_at=None, expires_at__gt=timezone.now())
    return rows.filter(devices__lt=F("devices_at_most")).order_by("expires_at", "pk")


def check_template_name(text: str) -> str:
    """Raises ValueError, with a sentence."""
    name = check_name(text)
    if len(name) > LONGEST_TEMPLATE_NAME:
        raise ValueError(Sentence("A name has at most {longest} characters.", longest=LONGEST_TEMPLATE_NAME))
    return name


def check_source(text: str) -> str:
    """A camera without a password in its address, or nothing. Raises ValueError, with a sentence."""
    source = text.strip()
    if source and not _SOURCE.fullmatch(source):
        raise ValueError(
            Sentence(
                "A camera is a number such as 0, a path such as /dev/video0, or an address without a password. Set one "
                "with a password on the device: onlooker-agent setup"
            )
        )
    return source


@transaction.atomic
def create_template(
    organisation: Organisation, name: str, settings: dict[str, Any], *, source: str, is_notice_given: bool
) -> DeviceTemplate:
    """Raises RefusedError where there is one of that name, or too many."""
    unknown = settings.keys() - SETTABLE
    if unknown:
        raise ValueError(f"A template sets no {', '.join(sorted(unknown))}.")
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)
    if DeviceTemplate.objects.filter(organisation=organisation).count() >= TEMPLATES_AT_MOST:
        raise RefusedError(
            Sentence(
                "An organisation has at most {most} templates. Remove one that is not used.", most=TEMPLATES_AT_MOST
            )
        )
    try:
        with transaction.atomic():
            return DeviceTemplate.objects.create(
                organisation=organisation,
                name=name,
                settings=settings,
                source=source,
                notice_given_at=timezone.now() if is_notice_given else None,
            )
    except IntegrityError:
        raise RefusedError(Sentence("There is a template {name} already. Choose another name.", name=name)) from None


def remove_template(template: DeviceTemplate) -> None:
    """Its codes end with it."""
    template.delete()


def create_code(
    template: DeviceTemplate,
    *,
    site: Site | None,
    devices: int,
    life: timedelta,
    by: "AbstractBaseUser | None" = None,
) -> NewCode:
    """For so many devices, each of which creates a stream. Raises RefusedError."""
    if not 1 <= devices <= MOST_DEVICES:
        raise RefusedError(Sentence("A code is for 1 to {most} devices.", most=MOST_DEVICES))
    if site and site.organisation_id != template.organisation_id:
        raise RefusedError(Sentence("Site and template belong to different organisations."))
    return _create(
        organisation_id=template.organisation_id,
        template=template,
        site=site,
        devices_at_most=devices,
        expires_at=_end_of(life),
        created_by_id=by.pk if by else None,
    )


def create_replacement(
    stream: Stream, *, life: timedelta = REPLACEMENT_LIFE, by: "AbstractBaseUser | None" = None
) -> NewCode:
    """For one device, which takes over the stream. Raises RefusedError."""
    if stream.organisation_id is None:
        raise RefusedError(Sentence("The stream is being removed."))
    return _create(
        organisation_id=stream.organisation_id,
        stream=stream,
        devices_at_most=1,
        expires_at=_end_of(life),
        created_by_id=by.pk if by else None,
    )


def end_code(code: EnrolmentCode) -> None:
    """Devices that enrolled with it go on."""
    EnrolmentCode.objects.filter(pk=code.pk, ended_at=None).update(ended_at=timezone.now())


def delete_past_codes(now: datetime | None = None) -> int:
    """A chore."""
    limit = (now or timezone.now()) - KEPT
    return EnrolmentCode.objects.filter(Q(expires_at__lt=limit) | Q(ended_at__lt=limit)).delete()[0]


def _end_of(life: timedelta) -> datetime:
    if not timedelta(minutes=1) <= life <= LONGEST_LIFE:
        raise RefusedError(Sentence("A code lives for 1 minute to {days} days.", days=LONGEST_LIFE.days))
    return timezone.now() + life


@transaction.atomic
def _create(*, organisation_id: int, **columns: Any) -> NewCode:
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)
    if open_codes([organisation_id]).count() >= OPEN_AT_MOST:
        raise RefusedError(
            Sentence("An organisation has at most {most} open codes. End one that is not used.", most=OPEN_AT_MOST)
        )
    text = new_code()
    code = EnrolmentCode.objects.create(
        organisation_id=organisation_id, hashed=hash_code(read_code(text)), beginning=text[:4], **columns
    )
    return NewCode(code, text)
