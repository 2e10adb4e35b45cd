"""Requests to the local feed: one head of HTTP/1.1 each, read strictly, and plain answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REQUEST_LINE = re.compile(r"([A-Z]{1,16}) (/[\x21-\x7e]*) HTTP/1\.1")
MOST_HEADERS = 64
MOST_FIELDS = 8
"""Of a query."""


class FeedRefusal(Exception):
    """A request that is not served; the text names the remedy."""

    def __init__(self, status: int, reason: str, text: str, **headers: str) -> None:
        self.status, self.reason, self.text = status, reason, text
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(text)


@dataclass(frozen=True)
class FeedRequest:
    """A request without a body."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By name in small letters. Each name once: there is nothing here that may be said twice."""

    def has_word(self, name: str, word: str) -> bool:
        """Whether a header with a list of words has this one, as in `Connection: keep-alive, Upgrade`."""
        return word in (part.strip().lower() for part in self.headers.get(name, "").split(","))


def parse_request(head: bytes) -> FeedRequest:
    """Of everything up to the empty line; raises FeedRefusal."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    matched = _REQUEST_LINE.fullmatch(first)
    if not matched or len(lines) > MOST_HEADERS:
        raise _bad_request("The feed speaks HTTP/1.1: send GET /now, /events or /socket.")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name) or not value.replace("\t", " ").isprintable():
            raise _bad_request("A header is malformed.")
        if name.lower() in headers:
            raise _bad_request(f"The header {name} stands there twice.")
        headers[name.lower()] = value.strip(" \t")
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise _bad_request("The feed takes no body.")
    method, target = matched.groups()
    path, _, query = target.partition("?")
    return FeedRequest(method, path, _parse_query(query), headers)


def _parse_query(text: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise _bad_request("There are too many parameters in the address.") from None


def _bad_request(text: str) -> FeedRefusal:
    return FeedRefusal(HTTPStatus.BAD_REQUEST, "malformed", text)


def write_answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """A whole answer, after which the connection closes."""
    length = {} if status == HTTPStatus.NO_CONTENT else {"Content-Length": str(len(body))}
    return write_head(status, {**length, "Connection": "close", **(headers or {})}) + body


def write_head(status: int, headers: Mapping[str, str]) -> bytes:
    """The head of an answer; nothing that the feed says may be stored or taken for something else."""
    told = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "onlooker-agent", **headers}
    lines = [f"HTTP/1.1 {int(status)} {HTTPStatus(status).phrase}", *(f"{name}: {told[name]}" for name in told)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def write_refusal(refusal: FeedRefusal) -> bytes:
    """As JSON, like the server's problems; without CORS headers, so that a strange page can't read it."""
    body = json.dumps({"code": refusal.reason, "message": refusal.text}).encode() + b"\n"
    return write_answer(refusal.status, body, {"Content-Type": "application/json", **refusal.headers})
