"""`POST /api-token-authstream/`: a token for a stream's credentials."""

import logging

import msgspec
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from onlooker.console.tokens.answers import json_answer, json_route
from onlooker.console.tokens.failures import Tries
from onlooker.console.tokens.holders import Holder, find_holder
from onlooker.console.tokens.issuing import issue_token
from onlooker.errors import Code, Problem, bad_request
from onlooker.logs import fields

log = logging.getLogger(__name__)


class Asked(msgspec.Struct, frozen=True):
    """The body of a request."""

    username: str
    client_id: str
    access_token: str


_decoder = msgspec.json.Decoder(Asked)


@json_route("POST")
def give_token(request: HttpRequest) -> HttpResponse:
    asked = _read(request)
    holder = _check(asked, request.META["REMOTE_ADDR"])
    token = issue_token(holder)
    log.info("token given", extra=fields(stream=holder.stream_id, account=holder.account_id))
    return json_answer({"token": token}, Cache_Control="no-store")


def _read(request: HttpRequest) -> Asked:
    if request.content_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json with username, client_id and access_token.")
    try:
        asked = _decoder.decode(request.body)
        "".join((asked.username, asked.client_id, asked.access_token)).encode()  # a lone surrogate is no text
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeError) else str(error)
        raise bad_request(f"The body must be an object with username, client_id and access_token: {reason}.") from None
    return asked


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
