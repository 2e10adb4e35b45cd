"""`POST /api-token-authstream/`: a token for a stream's credentials."""

import dataclasses
import logging
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from onlooker.console.tokens.answers import json_answer, json_route
from onlooker.console.tokens.failures import Tries
from onlooker.console.tokens.holders import Holder, find_holder
from onlooker.console.tokens.issuing import issue_token
from onlooker.errors import Code, Problem, bad_request
from onlooker.listening.content_encoding import require_uncompressed
from onlooker.logs import fields

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """The body of a request."""

    username: str
    client_id: str
    access_token: str


FIELDS = tuple(field.name for field in dataclasses.fields(Asked))


@json_route("POST")
def give_token(request: HttpRequest) -> HttpResponse:
    try:
        asked = _read(request)
        holder = _check(asked, request.META["REMOTE_ADDR"])
    except Problem as problem:
        # Historic dashboards show these members, and nothing else of a refusal.
        problem.members = problem.members or {"non_field_errors": [problem.detail]}
        raise
    token = issue_token(holder)
    log.info("token given", extra=fields(stream=holder.stream_id, account=holder.account_id))
    return json_answer({"token": token}, Cache_Control="no-store")


def _read(request: HttpRequest) -> Asked:
    if request.content_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json with username, client_id and access_token.")
    require_uncompressed(request.headers.get("Content-Encoding", ""))
    try:
        body = msgspec.json.decode(request.body.removeprefix(BOM_UTF8))
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeError):
        raise bad_request("The body is not JSON. Send an object with username, client_id and access_token.") from None
    if not isinstance(body, dict):
        raise bad_request("The body must be an object with username, client_id and access_token.")
    wrong = {name: complaint for name in FIELDS if (complaint := _complain_of(name, body))}
    if wrong:
        raise Problem(
            Code.BAD_REQUEST, " ".join(wrong.values()), members={name: [text] for name, text in wrong.items()}
        )
    return Asked(**{name: body[name] for name in FIELDS})


def _complain_of(name: str, body: dict[str, Any]) -> str:
    """What is wrong with a field, or nothing; forms that were not filled in send empty ones."""
    if body.get(name, "") == "":
        return f"`{name}` is missing."
    return "" if isinstance(body[name], str) else f"`{name}` must be text."


def _check(asked: Asked, address: str) -> Holder:
    """Tries with one username at one address are looked at one after the other: so the limit is exact."""
    tries = Tries(asked.username, address)
    with transaction.atomic():
        tries.require_left()
        holder = find_holder(asked.username, client_id=asked.client_id, access_token=asked.access_token)
        if holder is None:
            tries.count_failure()
    if holder is None:
        log.info("token refused", extra=fields(address=address))
        raise Problem(Code.BAD_CREDENTIALS, "The username, the client_id or the access_token is wrong.")
    return holder
