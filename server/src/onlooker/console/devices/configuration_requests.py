"""What an enrolled device asks for and reports with its key: `GET /devices/configuration/`, `POST /devices/health/`."""

import re
from codecs import BOM_UTF8
from typing import Annotated, Any

import msgspec
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from msgspec import Meta

from onlooker.console.tokens.json_views import json_response, json_view
from onlooker.console.tokens.rate_limit import CredentialAttempts
from onlooker.console.web import counters
from onlooker.database import load_queries
from onlooker.devices.configuration import NOTHING_SET, Document, Level, offered_document, write_versions
from onlooker.devices.enrolment import AGAIN, REVOKED, hash_key
from onlooker.devices.health import REPORT_EVERY_S, Health, record_health
from onlooker.errors import Code, Problem, bad_request
from onlooker.http.limits import require_uncompressed

REPORT_LIMIT_BYTES = 8192
_KEY = re.compile(r"Bearer ([A-Za-z0-9_-]{43})", re.IGNORECASE)
_UNKNOWN = f"The server does not know this device. {AGAIN}"

_queries = load_queries("onlooker.devices")


class ConfigurationBody(msgspec.Struct, frozen=True):
    """What a device is to be set to."""

    version: int
    settings: Annotated[dict[str, Any], Meta(description="Those that are set; all others are the device's own choice")]


class HealthBody(msgspec.Struct, frozen=True):
    """The answer to a report."""

    configuration: Annotated[str, Meta(description="ETag of the document that is offered now, without quotes")]
    every_s: Annotated[int, Meta(description="Seconds until the next report")]


@json_view("GET")
def show_configuration(request: HttpRequest) -> HttpResponse:
    document = _offered(request)
    headers = {"ETag": f'"{document.etag}"', "Cache_Control": "no-store"}
    if f'"{document.etag}"' in request.headers.get("If-None-Match", "")[:200]:
        answer = HttpResponse(status=304, headers={"ETag": f'"{document.etag}"', "Cache-Control": "no-store"})
        del answer["Content-Type"]
        return answer
    return json_response({"version": document.version, "settings": document.settings}, **headers)


@json_view("POST")
def take_health(request: HttpRequest) -> HttpResponse:
    try:
        return _take_health(request)
    except Problem as problem:
        counters.device_health(problem.code.value).inc()
        raise


def _take_health(request: HttpRequest) -> HttpResponse:
    key_sha256 = _key_of(request)
    recorded = record_health(key_sha256, _read(request))
    if recorded is None:
        raise _unknown(request)
    if recorded.is_revoked:
        raise Problem(Code.DEVICE_REVOKED, REVOKED)
    counters.device_health("accepted").inc()
    if recorded.news:
        counters.device_configurations(recorded.news).inc()
    return json_response({"configuration": recorded.etag, "every_s": REPORT_EVERY_S}, Cache_Control="no-store")


def _offered(request: HttpRequest) -> Document:
    """One statement, unless a change has brought no version yet."""
    with connection.cursor() as cursor:
        cursor.execute(_queries["find_offer"], {"key_sha256": _key_of(request)})
        row = cursor.fetchone()
    if row is None:
        raise _unknown(request)
    device_id, is_revoked, is_current, version, etag, settings = row
    if is_revoked:
        raise Problem(Code.DEVICE_REVOKED, REVOKED)
    if not is_current:
        write_versions([device_id], Level.STREAM)
        return offered_document(device_id)
    return Document(version, msgspec.json.decode(settings), etag) if etag else NOTHING_SET


def _key_of(request: HttpRequest) -> bytes:
    found = _KEY.fullmatch(request.headers.get("Authorization", ""))
    if found is None:
        detail = f"Send the device's key: Authorization: Bearer KEY. {AGAIN}"
        raise Problem(Code.BAD_CREDENTIALS, detail, headers={"WWW-Authenticate": "Bearer"})
    return hash_key(found[1])


def _unknown(request: HttpRequest) -> Problem:
    """Counted by address: who tries keys is refused before long. Devices with a right key are not looked for here."""
    attempts = CredentialAttempts("device key", request.META["REMOTE_ADDR"], remedy="Enrol the device again")
    with transaction.atomic():
        attempts.require_left()
        attempts.count_failure()
    return Problem(Code.BAD_CREDENTIALS, _UNKNOWN, headers={"WWW-Authenticate": "Bearer"})


def _read(request: HttpRequest) -> Health:
    if request.content_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json.")
    require_uncompressed(request.headers.get("Content-Encoding", ""))
    if len(request.body) > REPORT_LIMIT_BYTES:
        raise Problem(Code.TOO_LARGE, f"A report has at most {REPORT_LIMIT_BYTES} bytes.")
    try:
        return msgspec.json.decode(request.body.removeprefix(BOM_UTF8), type=Health)
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise bad_request(f"The body is not what it must be: {error}.") from None
