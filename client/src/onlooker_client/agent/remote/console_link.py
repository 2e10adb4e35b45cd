"""What an enrolled device asks its console: to take a health report, and for its configuration."""

from __future__ import annotations

import math
import re
import threading
import time
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any

from onlooker_client.errors import LinkError
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Transport, read_json, read_refusal

HEALTH_PATH, CONFIGURATION_PATH = "/devices/health/", "/devices/configuration/"
LIMIT_S = 15.0
CLOSING_S = 1.0
ANSWER_LIMIT_BYTES = 64 * 1024
REPORT_LIMIT_BYTES = 8 * 1000
SHORTEST_S, LONGEST_S = 5.0, 3600.0
"""However often a console asks to be told."""
NOT_MODIFIED = 304
_ETAG = re.compile(r"[!#-\[\]-~]{1,100}")


@dataclass(frozen=True)
class HealthAnswer:
    """What the console said to a report."""

    etag: str
    """Of the configuration that it has; empty where it names none."""
    every_s: float | None
    """When it wants the next report."""
    took_s: float
    clock_off_s: float | None
    """How far this machine's clock is ahead of the console's, to about a second."""


@dataclass(frozen=True)
class FetchedDocument:
    """A configuration as it came; nothing of it is checked."""

    etag: str
    settings: Any


class ConsoleLink:
    """One question at a time. Raises LinkError and Refused; answers have a limit of time and size."""

    def __init__(self, console_url: str, device_key: str, *, ca_file: str | None) -> None:
        self._transport = Transport(console_url, authorization=f"Bearer {device_key}", ca_file=ca_file)
        self._connection = self._transport.open_connection()
        self._in_use = threading.Lock()

    def report(self, report: dict[str, Any]) -> HealthAnswer:
        body = json_body(report)
        if len(body.content) > REPORT_LIMIT_BYTES:
            body = json_body({**report, "dropped": {}, "camera": {}})
        headers = self._transport.headers(body.content_type)
        asked_at, began_s = time.time(), time.monotonic()
        answer = self._exchange("POST", HEALTH_PATH, headers, body.content)
        took_s = time.monotonic() - began_s
        if answer.status >= 300:
            raise read_refusal(answer, self._transport.address)
        said = read_json(answer)
        return HealthAnswer(
            etag=clean_etag(said.get("configuration")),
            every_s=_pause(said.get("every_s")),
            took_s=took_s,
            clock_off_s=_compare_clocks(asked_at + took_s / 2, answer.headers.get("date", "")),
        )

    def fetch(self, known_etag: str) -> FetchedDocument | None:
        """None where it is the one that is known."""
        headers = self._transport.headers(None)
        if known_etag:
            headers += f'If-None-Match: "{known_etag}"\r\n'.encode("ascii")
        answer = self._exchange("GET", CONFIGURATION_PATH, headers)
        if answer.status == NOT_MODIFIED:
            return None
        if answer.status >= 300:
            raise read_refusal(answer, self._transport.address)
        etag = clean_etag(answer.headers.get("etag", "").strip().removeprefix("W/").strip('"'))
        if not etag:
            raise LinkError("The console gave a configuration without a version (ETag).")
        return FetchedDocument(etag, read_json(answer).get("settings"))

    def close(self) -> None:
        """Also while a question waits for its answer: that ends it. One that is still dialling ends by itself."""
        self._connection.cancel()
        if self._in_use.acquire(timeout=CLOSING_S):
            self._connection.close()
            self._in_use.release()
        self._transport.close()

    def _exchange(self, method: str, path: str, headers: bytes, body: bytes = b"") -> Answer:
        return self._connection.exchange(method, path, headers, body, timeout_s=LIMIT_S, limit_bytes=ANSWER_LIMIT_BYTES)


def clean_etag(said: Any) -> str:
    """Empty for what can't be one: it goes into a header, a file and a log."""
    return said if isinstance(said, str) and _ETAG.fullmatch(said) else ""


def _pause(said: Any) -> float | None:
    is_number = isinstance(said, (int, float)) and not isinstance(said, bool)
    if not is_number or (isinstance(said, float) and math.isnan(said)):
        return None
    return float(min(max(said, SHORTEST_S), LONGEST_S))


def _compare_clocks(here_s: float, date: str) -> float | None:
    """A `Date` has whole seconds: in the middle it is half a second old."""
    try:
        there = parsedate_to_datetime(date)
        there_s = (there if there.tzinfo else there.replace(tzinfo=timezone.utc)).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError, OSError):
        return None
    return round(here_s - there_s - 0.5, 1)
