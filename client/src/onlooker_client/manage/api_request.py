"""Requests to the management API: the key, what is sent again and when, and lists of several pages."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Union
from urllib.parse import quote, urlencode

from onlooker_client.errors import (
    BadArgument,
    BadCredentials,
    ConfigError,
    Conflict,
    LinkError,
    NotFound,
    NotNow,
    NotSent,
    OnlookerError,
)
from onlooker_client.manage.record_fields import R, Record, read_record
from onlooker_client.wire.answers import read_json
from onlooker_client.wire.attachments import Body, json_body
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Repeat, Transport

PREFIX = "/api/v1/"
PATIENCE_S = 120.0
"""How long the server may ask to wait, such as a limit of requests a minute does."""
LEAST_PAUSE_S = 0.1
PAGE = 200
ITEMS_AT_MOST = 1_000_000
LONGEST_CURSOR = 4096
LONGEST_IDEMPOTENCY_KEY = 255
_KEY = re.compile(r"onl_[A-Za-z0-9_-]{20,200}")
_IDEMPOTENCY_KEY = re.compile(rf"[!-~]{{1,{LONGEST_IDEMPOTENCY_KEY}}}")
Query = Mapping[str, Any]
Named = Union[Record, str, int]
"""A thing as the API gave it, or its id."""


class ManagementApi:
    """All that the SDK asks of a console with a key. Threads may share one."""

    def __init__(
        self, url: str, key: str, *, ca_file: str | None, timeout_s: float, patience_s: float = PATIENCE_S
    ) -> None:
        if not _KEY.fullmatch(key):
            raise ConfigError(
                "The key is not a key of an organisation: those begin with onl_. Create one in the console."
            )
        self.transport = Transport(url, authorization=f"Bearer {key}", ca_file=ca_file, timeout_s=timeout_s)
        self._patience_s = patience_s

    def get(self, path: str, query: Query | None = None) -> dict[str, Any]:
        return read_json(self._ask("GET", path + _query_text(query or {}), Repeat.IF_LOST))

    def post(self, path: str, said: Query | None = None, *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Sent again where no answer came: the key of the request keeps it from being done twice."""
        key = idempotency_key or str(uuid.uuid4())
        if not _IDEMPOTENCY_KEY.fullmatch(key):
            raise BadArgument(
                f"An idempotency key has 1 to {LONGEST_IDEMPOTENCY_KEY} printable ASCII characters and no space."
            )
        return read_json(self._ask("POST", path, Repeat.IF_LOST, json_body(said or {}), {"Idempotency-Key": key}))

    def patch(self, path: str, said: Query) -> dict[str, Any]:
        return read_json(self._ask("PATCH", path, Repeat.IF_LOST, json_body(said)))

    def delete(self, path: str) -> None:
        """What is gone after an answer that did not come was deleted by this."""
        try:
            self._ask("DELETE", path, Repeat.IF_REFUSED)
        except (LinkError, NotNow) as error:
            if isinstance(error, NotSent) or (isinstance(error, NotNow) and error.status in (429, 503)):
                raise
            with suppress(NotFound):
                self._ask("DELETE", path, Repeat.IF_LOST)

    def items(self, kind: type[R], path: str, query: Query | None = None) -> Iterator[R]:
        """Through all pages; each is fetched when it is needed."""
        for page in self.pages(path, query):
            for said in page["items"]:
                yield read_record(kind, said)

    def pages(self, path: str, query: Query | None = None) -> Iterator[dict[str, Any]]:
        """Raises LinkError where a list has no end."""
        cursor, count = "", 0
        while True:
            asked = {**(query or {}), "limit": PAGE, "cursor": cursor}
            page = self.get(path, asked)
            items, following = page.get("items"), page.get("next")
            if not isinstance(items, list) or not isinstance(following, (str, type(None))):
                raise LinkError("The answer is no list. Is this the address of an Onlooker console?")
            count += len(items)
            is_endless = following and (not items or following == cursor or count > ITEMS_AT_MOST)
            if is_endless or len(following or "") > LONGEST_CURSOR:
                raise LinkError("The server's list has no end. Ask for less of it.")
            yield page
            if not following:
                return
            cursor = following

    def _ask(
        self,
        method: str,
        path: str,
        repeat: Repeat,
        body: Body | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Answer:
        give_up_at = time.monotonic() + self._patience_s
        while True:
            try:
                return self.transport.request(method, PREFIX + path, body, repeat=repeat, extra=extra)
            except (NotNow, Conflict) as refused:  # a conflict with a time: the same request is still in progress
                wait_s = refused.retry_after_s
                if wait_s is None or time.monotonic() + wait_s > give_up_at:
                    raise
                time.sleep(max(wait_s, LEAST_PAUSE_S))
            except (BadCredentials, NotFound) as refused:
                raise self._explained(refused) from None

    def _explained(self, refused: BadCredentials | NotFound) -> OnlookerError:
        """A gateway, or a console from before, says nothing of keys."""
        if isinstance(refused, NotFound):
            if refused.code != "unknown":
                return refused
            return ConfigError(
                f"{self.transport.address} has no management API. Is it the console's address, and is the server up to "
                "date?"
            )
        if refused.code == "bad_credentials":
            refused.args = (
                f"{self.transport.address} does not accept this key. Is it the console's address, and not the "
                "gateway's? Was the key revoked, or has it expired?",
            )
        return refused


def path_to(*parts: Named) -> str:
    """Names and ids as a path; nothing in an id leads elsewhere."""
    texts = [str(id_of(part)) for part in parts]
    if any(text in ("", ".", "..") for text in texts):
        raise BadArgument("Name the thing by its id.")
    return "/".join(quote(text, safe="") for text in texts)


def id_of(thing: Named) -> str | int:
    """As a field of a request has it."""
    return thing.identity if isinstance(thing, Record) else thing


def given(**fields: Any) -> dict[str, Any]:
    """Those that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def _query_text(query: Query) -> str:
    said = {name: value for name, value in query.items() if value not in (None, "", ())}
    return f"?{urlencode(said)}" if said else ""
