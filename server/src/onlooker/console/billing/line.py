"""How many ask Stripe at a time, and how long they wait: a Stripe that is mute must not take the console with it."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from onlooker.logs import fields

log = logging.getLogger(__name__)

LINES = 3
"""In this process. Whoever settles keeps a connection to the database meanwhile: fewer than its pool has."""
LINE_LIMIT_S = 1.0
"""How long to wait for one, without a connection."""
_MISSING = 404


class TillError(Exception):
    """Stripe could not be asked, or refused; the message is fit for a log, without anything of a person."""

    def __init__(self, kind: str, status: int | None, code: str | None = None) -> None:
        super().__init__(" ".join(str(part) for part in (kind, status, code) if part))
        self.status = status
        self.is_missing = status == _MISSING or code == "resource_missing"

    @property
    def is_answered(self) -> bool:
        """Whether asking again with the same idempotency key would only repeat the answer."""
        return self.status is not None and self.status not in (409, 429)


@dataclass(frozen=True)
class Patience:
    """How long to wait for one answer, how often to ask again, and after how long to ask for nothing more."""

    answer_s: float
    retries: int
    all_s: float


IN_PAGE = Patience(answer_s=8.0, retries=0, all_s=8.0)
"""Somebody waits; what is left to do is for the chores."""
IN_CHORE = Patience(answer_s=10.0, retries=1, all_s=20.0)

_lines = threading.BoundedSemaphore(LINES)


class _Held(threading.local):
    """The line that this thread holds."""

    patience: Patience | None = None
    until = 0.0


_held = _Held()


@contextmanager
def line(patience: Patience = IN_PAGE) -> Iterator[Patience]:
    """Held for one question, or around several; raises TillError where all are taken, or its time is over."""
    if not connection.in_atomic_block:
        connection.close()  # back to the pool: others need it while we wait
    if _held.patience is not None:
        if time.monotonic() > _held.until:
            raise TillError("TookTooLong", None)
        yield _held.patience
        return
    if not _lines.acquire(timeout=LINE_LIMIT_S):
        log.warning("not asking Stripe: all lines are taken", extra=fields(lines=LINES))
        raise TillError("AllLinesTaken", None)
    _held.patience, _held.until = patience, time.monotonic() + patience.all_s
    try:
        yield patience
    finally:
        _held.patience = None
        _lines.release()
