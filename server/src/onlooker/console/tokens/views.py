"""`POST /api-token-authstream/` issues a token; `GET /.well-known/jwks.json` lists the keys that verify it."""

import dataclasses
import hashlib
import logging
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from onlooker.console.tokens.issuance import TokenSubject, find_token_subject, issue_token
from onlooker.console.tokens.json_views import json_response, json_view
from onlooker.console.tokens.rate_limit import CredentialAttempts
from onlooker.console.tokens.signing_keys import live_keys, signing_key
from onlooker.errors import Code, Problem, bad_request
from onlooker.http.limits import require_uncompressed
from onlooker.logs import fields

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TokenRequest:
    """The body of a request."""

    username: str
    client_id: str
    access_token: str


FIELDS = tuple(field.name for field in dataclasses.fields(TokenRequest))


@json_view("POST")
def create_token(request: HttpRequest) -> HttpResponse:
    try:
        credentials = _read_credentials(request)
        subject = _check_credentials(credentials, request.META["REMOTE_ADDR"])
    except Problem as problem:
        # Historic dashboards show these members and nothing else.
        problem.members = problem.members or {"non_field_errors": [problem.detail]}
        raise
    token = issue_token(subject)
    log.info("token given", extra=fields(stream=subject.stream_id, account=subject.account_id))
    return json_response({"token": token}, Cache_Control="no-store")


def _read_credentials(request: HttpRequest) -> TokenRequest:
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
    wrong = {name: fault for name in FIELDS if (fault := _find_fault(name, body))}
    if wrong:
        raise Problem(
            Code.BAD_REQUEST, " ".join(wrong.values()), members={name: [text] for name, text in wrong.items()}
        )
    return TokenRequest(**{name: body[name] for name in FIELDS})


def _find_fault(name: str, body: dict[str, Any]) -> str:
    """What is wrong with a field, if anything; forms that were not filled in send empty ones."""
    if body.get(name, "") == "":
        return f"`{name}` is missing."
    return "" if isinstance(body[name], str) else f"`{name}` must be text."


def _check_credentials(credentials: TokenRequest, address: str) -> TokenSubject:
    """Attempts with one username from one address are checked one after another, so the limit is exact."""
    attempts = CredentialAttempts(credentials.username, address)
    with transaction.atomic():
        attempts.require_left()
        subject = find_token_subject(
            credentials.username, client_id=credentials.client_id, access_token=credentials.access_token
        )
        if subject is None:
            attempts.count_failure()
    if subject is None:
        log.info("token refused", extra=fields(address=address))
        raise Problem(Code.BAD_CREDENTIALS, "The username, the client_id or the access_token is wrong.")
    return subject


MAX_AGE_S = 60


@json_view("GET", "HEAD")
def show_jwks(request: HttpRequest) -> HttpResponse:
    """The key that signs comes first. Clients that meet an unknown kid fetch the list again."""
    signing_key()
    keys = list(live_keys().values_list("public_jwk", flat=True))
    answer = json_response(
        {"keys": keys}, Cache_Control=f"public, max-age={MAX_AGE_S}", Access_Control_Allow_Origin="*"
    )
    answer["ETag"] = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer
