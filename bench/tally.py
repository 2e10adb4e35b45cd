"""Counting what the gateway answered, and telling a failure from an honest refusal."""

import json
import re
import threading
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

SAMPLES_KEPT = 40
CLOSED = 0
"""Instead of a status: the connection was closed without an answer."""
HUNG = -1
"""Instead of a status: nothing came for as long as anybody would wait."""
SWALLOWED = -2
"""Instead of a status: far more was taken in than anybody asked for."""


@dataclass(frozen=True)
class Answer:
    """A status and what came with it."""

    status: int
    body: bytes = b""
    content_type: str = ""
    taken_bytes: int = 0
    """How much of the request went out before the connection ended."""

    @property
    def code(self) -> str:
        """The problem's code, or nothing."""
        try:
            return str(json.loads(self.body).get("code", ""))
        except (ValueError, AttributeError):
            return ""


@dataclass
class Tally:
    """Every request of a run; safe to share between threads."""

    unhosted: frozenset[str]
    """Services of the catalogue that no worker hosts: to refuse their jobs with 503 is right."""
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    refused_unhosted: int = 0
    server_errors: int = 0
    hung: int = 0
    unexpected: int = 0
    samples: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, family: str, what: str, answer: Answer, *, expected: Container[int]) -> None:
        """Count one request; `what` is enough of it to send it again."""
        with self._lock:
            self.requests += 1
            self.statuses[answer.status] += 1
            self.families[family] += 1
            if answer.status == 503 and answer.code == "overloaded" and self._names_unhosted(what):
                self.refused_unhosted += 1
            elif answer.status >= 500:
                self.server_errors += 1
                self._keep(family, what, answer)
            elif answer.status == HUNG:
                self.hung += 1
                self._keep(family, what, answer)
            elif answer.status not in expected or not _is_well_formed(answer):
                self.unexpected += 1
                self._keep(family, what, answer)

    def _names_unhosted(self, what: str) -> bool:
        named = re.search(r" /services/([a-z0-9_]+)/", what)
        return named is not None and named[1] in self.unhosted

    def _keep(self, family: str, what: str, answer: Answer) -> None:
        if len(self.samples) < SAMPLES_KEPT:
            self.samples.append(f"{family}: {what[:300]} -> {answer.status} {answer.body[:200]!r}")


def _is_well_formed(answer: Answer) -> bool:
    """A refusal is a problem with a code; what is no HTTP at all is refused below, in plain text."""
    if answer.status < 400 or answer.content_type.startswith("text/plain"):
        return True
    return answer.content_type.startswith("application/problem+json") and bool(answer.code or not answer.body)
