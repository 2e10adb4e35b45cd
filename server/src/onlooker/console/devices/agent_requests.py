"""What devices ask for: `POST /devices/enrol/` with a code, `POST /devices/credential/` with their key."""

import logging
from codecs import BOM_UTF8
from typing import Annotated, Any, TypeVar

import msgspec
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from msgspec import Meta

from onlooker.console.accounts.rate_limit import take_within_limit
from onlooker.console.tokens.json_views import json_response, json_view
from onlooker.console.tokens.rate_limit import CredentialAttempts
from onlooker.devices.enrolment import (
    AGAIN,
    CREDENTIAL_LIFE,
    RENEW_AFTER,
    DeviceFacts,
    DeviceRevoked,
    IssuedCredential,
    UnknownCode,
    enrol_device,
    renew_credential,
)
from onlooker.devices.health import printable
from onlooker.errors import Code, Problem, bad_request
from onlooker.http.limits import require_uncompressed
from onlooker.logs import fields
from onlooker.streams.organisations import RefusedError

log = logging.getLogger(__name__)

CREDENTIALS_OF_ONE_DEVICE = "30/h/key"
"""A device needs one a week; one that is not well may ask more often."""
RETRY_AFTER_S = 600

DeviceKey = Annotated[
    str,
    Meta(pattern="^[A-Za-z0-9_-]{43}$", description="256 random bits in base64url, made on the device and kept there"),
]
Fact = Annotated[str, Meta(max_length=500)]


class EnrolmentRequest(msgspec.Struct, frozen=True):
    """The body with a code."""

    code: Annotated[str, Meta(max_length=100, description="As typed: case, spaces and hyphens do not matter")]
    device_key: DeviceKey
    name: Fact = ""
    machine: Fact = ""
    version: Fact = ""


class CredentialRequest(msgspec.Struct, frozen=True):
    """The body without one."""

    device_key: DeviceKey
    name: Fact = ""
    machine: Fact = ""
    version: Fact = ""


class EnrolmentBody(msgspec.Struct, frozen=True):
    """What a device gets."""

    device: Annotated[str, Meta(description="Its id")]
    stream: Annotated[str, Meta(description="Name of its stream")]
    url: Annotated[str, Meta(description="The gateway")]
    console_url: str
    client_id: Annotated[str, Meta(description="Login of the stream")]
    access_token: Annotated[str, Meta(description="A Password of the device's own")]
    expires_in_s: int
    renew_in_s: Annotated[int, Meta(description="When to ask for the next one")]
    source: Annotated[str, Meta(description="The camera that its template names; empty: none")]


Asked = TypeVar("Asked", EnrolmentRequest, CredentialRequest)


@json_view("POST")
def enrol(request: HttpRequest) -> HttpResponse:
    asked = _read(request, EnrolmentRequest)
    issued = _checked_enrolment(request, asked)
    log.info("device enrolled", extra=fields(device=issued.device.pk, stream=issued.device.stream_id))
    return _answer(issued)


@json_view("POST")
def renew(request: HttpRequest) -> HttpResponse:
    asked = _read(request, CredentialRequest)
    attempts = CredentialAttempts("device key", request.META["REMOTE_ADDR"], remedy="Enrol the device again")
    try:
        with transaction.atomic():
            attempts.require_left()
            issued = renew_credential(asked.device_key, _facts(asked))
            if issued is None:
                attempts.count_failure()
            else:
                _require_turn(request, issued)
    except DeviceRevoked as refusal:
        raise Problem(Code.DEVICE_REVOKED, str(refusal)) from None
    if issued is None:
        raise Problem(Code.BAD_CREDENTIALS, f"The server does not know this device. {AGAIN}")
    log.info("device credential renewed", extra=fields(device=issued.device.pk, stream=issued.device.stream_id))
    return _answer(issued)


def _checked_enrolment(request: HttpRequest, asked: EnrolmentRequest) -> IssuedCredential:
    """Only codes that nobody has count as failures: who has one may learn why it no longer works."""
    address = request.META["REMOTE_ADDR"]
    attempts = CredentialAttempts("enrolment code", address, remedy="Check the code letter by letter")
    try:
        with transaction.atomic():
            attempts.require_left()
            try:
                issued = enrol_device(asked.code, asked.device_key, _facts(asked))
            except UnknownCode as error:
                unknown = error
                attempts.count_failure()
            else:
                _require_turn(request, issued)
                return issued
    except DeviceRevoked as refusal:
        raise Problem(Code.DEVICE_REVOKED, str(refusal)) from None
    except RefusedError as refusal:
        raise Problem(Code.ENROLMENT_REFUSED, str(refusal)) from None
    log.info("enrolment refused", extra=fields(address=address))
    raise Problem(Code.ENROLMENT_REFUSED, str(unknown))


def _require_turn(request: HttpRequest, issued: IssuedCredential) -> None:
    """Within the transaction: where it is too often, nothing is issued."""
    key = str(issued.device.pk)
    if not take_within_limit(request, "device_credential", rates=CREDENTIALS_OF_ONE_DEVICE, key=key):
        detail = f"This device asks for credentials too often. Try again in {RETRY_AFTER_S // 60} minutes."
        raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(RETRY_AFTER_S)})


def _answer(issued: IssuedCredential) -> HttpResponse:
    device = issued.device
    body = EnrolmentBody(
        device=str(device.device_id),
        stream=device.stream.name,
        url=settings.ONLOOKER.public_url,
        console_url=settings.ONLOOKER.console_url,
        client_id=str(device.stream.client_id),
        access_token=issued.access_token,
        expires_in_s=int(CREDENTIAL_LIFE.total_seconds()),
        renew_in_s=int(RENEW_AFTER.total_seconds()),
        source=issued.source,
    )
    return json_response(msgspec.structs.asdict(body), Cache_Control="no-store")


def _read(request: HttpRequest, kind: type[Asked]) -> Asked:
    if request.content_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json.")
    require_uncompressed(request.headers.get("Content-Encoding", ""))
    try:
        return msgspec.json.decode(request.body.removeprefix(BOM_UTF8), type=kind)
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise bad_request(f"The body is not what it must be: {error}.") from None


def _facts(asked: Any) -> DeviceFacts:
    return DeviceFacts(printable(asked.name, 100), printable(asked.machine, 100), printable(asked.version, 40))
