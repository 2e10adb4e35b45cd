"""Enrolling, renewing, revoking: how a device gets the credential of its stream, and how that ends."""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from onlooker.audit.actor import acting_as
from onlooker.devices.code_text import possible_hashes, read_code
from onlooker.devices.configuration import Level, write_versions
from onlooker.devices.device_events import tell
from onlooker.devices.models import Device, DeviceCredential, DeviceTemplate, EnrolmentCode
from onlooker.streams.administration import create_stream
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.streams.models import AccessToken, Organisation, Site, Stream
from onlooker.streams.options import LONGEST_NAME, EnterpriseAccess, enterprise_access
from onlooker.streams.organisations import RefusedError

CREDENTIAL_LIFE = timedelta(days=30)
RENEW_AFTER = timedelta(days=7)
"""A device that is online renews its credential that often: one that leaked is of use for so long."""
GRACE = timedelta(hours=1)
"""How long a credential lives on that was renewed: the answer may have been lost."""
AGAIN = "Create a new code in the console, under Devices, and run: onlooker-agent enrol CODE"
REVOKED = f"This device was revoked. {AGAIN}"


class EnrolmentRefused(RefusedError):
    """The code lets this device in no more; the message names the remedy."""


class UnknownCode(EnrolmentRefused):
    """There is no such code: it was mistyped, or guessed."""

    def __init__(self) -> None:
        super().__init__(f"The server does not know this code. Check it letter by letter. {AGAIN}")


class DeviceRevoked(RefusedError):
    """The device has no part in anything any more."""

    def __init__(self) -> None:
        super().__init__(REVOKED)


@dataclass(frozen=True)
class DeviceFacts:
    """What a device says of itself; nothing depends on it."""

    name: str = ""
    machine: str = ""
    version: str = ""


@dataclass(frozen=True)
class IssuedCredential:
    """A device and its newest access token, which nobody can read again."""

    device: Device
    access_token: str
    source: str = ""
    """The camera that its template names."""


def hash_key(device_key: str) -> bytes:
    """A fast hash is right for 256 random bits."""
    return hashlib.sha256(device_key.encode()).digest()


@transaction.atomic
def enrol_device(typed_code: str, device_key: str, facts: DeviceFacts) -> IssuedCredential:
    """Repeatable: the same key is the same device, whatever became of its code. Raises RefusedError."""
    code = _lock_code(read_code(typed_code))
    known = _find(device_key)
    if known:
        return _issue(_require_live(known), facts)
    if code is None:
        raise UnknownCode
    _require_open(code)
    with acting_as(f"code:{code.pk}"):
        return _enrol(code, device_key, facts)


def renew_credential(device_key: str, facts: DeviceFacts) -> IssuedCredential | None:
    """None where no device has this key. Raises DeviceRevoked."""
    with transaction.atomic():
        device = _find(device_key)
        return _issue(_require_live(device), facts) if device else None


@transaction.atomic
def revoke_device(device: Device) -> None:
    """Its credentials end now; gateways learn it within a second. Its stream stays."""
    locked = Device.objects.select_for_update(no_key=True).get(pk=device.pk)
    if locked.revoked_at is None:
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
        tell(locked, "device.revoked")
    _tokens_of(locked).delete()


def _lock_code(letters: str) -> EnrolmentCode | None:
    """Its organisation is locked first, as wherever both are."""
    codes = EnrolmentCode.objects.filter(hashed__in=possible_hashes(letters) if letters else [])
    found = codes.first()
    if found is None:
        return None
    list(Organisation.objects.select_for_update(no_key=True).filter(pk=found.organisation_id))
    return (
        codes.select_for_update(of=("self",)).select_related("organisation", "site", "template", "created_by").first()
    )


def _find(device_key: str) -> Device | None:
    rows = Device.objects.select_for_update(no_key=True, of=("self",)).select_related("stream", "code__template")
    return rows.filter(key_sha256=hash_key(device_key)).first()


def _require_live(device: Device) -> Device:
    if device.revoked_at or device.stream.removed_at:
        raise DeviceRevoked
    return device


def _require_open(code: EnrolmentCode) -> None:
    if code.ended_at:
        raise EnrolmentRefused(f"This code was ended in the console. {AGAIN}")
    if code.expires_at <= timezone.now():
        raise EnrolmentRefused(f"This code expired on {code.expires_at:%Y-%m-%d %H:%M} UTC. {AGAIN}")
    if code.devices >= code.devices_at_most:
        number = code.devices_at_most
        raise EnrolmentRefused(
            f"This code was for {number} device{'s' if number > 1 else ''}, and as many have enrolled. {AGAIN}"
        )


def _enrol(code: EnrolmentCode, device_key: str, facts: DeviceFacts) -> IssuedCredential:
    before = _newest_device(code.stream_id) if code.stream_id else None
    stream = _take_over(code.stream_id) if code.stream_id else _create_stream(code)
    code.devices += 1
    code.save(update_fields=["devices"])
    device = Device.objects.create(
        stream=stream,
        code=code,
        template_id=before.template_id if before else code.template_id,
        settings=before.settings if before else {},
        key_sha256=hash_key(device_key),
        name=facts.name,
        machine=facts.machine,
        version=facts.version,
    )
    write_versions([device.pk], Level.ENROLMENT)
    tell(device, "device.enrolled")
    return _issue(device, facts)


def _newest_device(stream_id: int) -> Device | None:
    """Whose settings the box takes over that replaces it."""
    return Device.objects.filter(stream=stream_id).order_by("-pk").first()


def _take_over(stream_id: int) -> Stream:
    """The stream, whose device is revoked: two boxes would count the same people twice."""
    stream = Stream.objects.select_for_update(no_key=True).get(pk=stream_id)
    if stream.removed_at:
        raise EnrolmentRefused(f"The stream of this code was removed. {AGAIN}")
    for device in Device.objects.filter(stream=stream, revoked_at=None):
        revoke_device(device)
    return stream


def _create_stream(code: EnrolmentCode) -> Stream:
    """Named after the site, or the template, with a number."""
    template, site = code.template, code.site
    assert template is not None
    place = _lock_place(template, site)
    chosen: dict[str, Any] = dict(template.settings)
    chosen["notice_given_at"] = template.notice_given_at
    if site:
        chosen["site"] = site
        chosen["time_zone"] = site.time_zone
        chosen["hours"] = chosen.get("hours") or site.hours
    made = create_stream(
        number_name(place.name, _names_at(code)),
        organisation=code.organisation,
        kind=_kind_for(code),
        at_most=settings.ONLOOKER.streams_per_account,
        **chosen,
    )
    AccessToken.objects.filter(stream=made.stream).delete()  # nobody has seen it
    return made.stream


def _lock_place(template: DeviceTemplate, site: Site | None) -> Site | DeviceTemplate:
    """Devices that enrol at the same time take different numbers."""
    if site:
        return Site.objects.select_for_update(no_key=True).get(pk=site.pk)
    return DeviceTemplate.objects.select_for_update(no_key=True).get(pk=template.pk)


def _names_at(code: EnrolmentCode) -> list[str]:
    streams = Stream.objects.filter(organisation=code.organisation_id, removed_at=None)
    if code.site_id:
        streams = streams.filter(site=code.site_id)
    return list(streams.values_list("name", flat=True))


def number_name(place: str, taken: list[str]) -> str:
    """The place with the number after the highest one: numbers of removed streams in between stay free."""
    place = place[: LONGEST_NAME - 7]
    numbers = [int(found[1]) for name in taken if (found := re.fullmatch(re.escape(place) + r" (\d{1,6})", name))]
    return f"{place} {max(numbers, default=0) + 1}"


def _kind_for(code: EnrolmentCode) -> str:
    """As its creator could choose; the command line counts as staff."""
    is_staff = code.created_by is None or code.created_by.is_staff
    is_free = enterprise_access(settings.ONLOOKER, is_staff=is_staff) is EnterpriseAccess.CHOICE
    return Stream.Kind.ENTERPRISE if is_free else Stream.Kind.DEVELOPER


def _issue(device: Device, facts: DeviceFacts) -> IssuedCredential:
    """A new access token. The newest one before lives on a little, all older ones end now."""
    with acting_as(f"device:{device.pk}"):
        now = timezone.now()
        before = list(_tokens_of(device).order_by("-pk").values_list("pk", "expires_at"))
        _tokens_of(device).filter(pk__in=[pk for pk, _ in before[1:]]).delete()
        for pk, expires_at in before[:1]:
            AccessToken.objects.filter(pk=pk).update(expires_at=min(expires_at or now + GRACE, now + GRACE))
        access_token = new_access_token()
        row = AccessToken.objects.create(
            stream_id=device.stream_id, sha256=hash_access_token(access_token), expires_at=now + CREDENTIAL_LIFE
        )
        DeviceCredential.objects.create(access_token=row, device=device)
        device.name, device.machine = facts.name or device.name, facts.machine or device.machine
        device.version, device.seen_at = facts.version or device.version, now
        device.save(update_fields=["name", "machine", "version", "seen_at"])
    template = device.code.template if device.code else None
    return IssuedCredential(device, access_token, template.source if template else "")


def _tokens_of(device: Device) -> QuerySet[AccessToken]:
    return AccessToken.objects.filter(device_credential__device=device)
