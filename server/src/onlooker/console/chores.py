"""What is done now and then, by one console of all: looking after streams, mails, keys and payments."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections
from django.utils.module_loading import import_string

from onlooker.console import counters
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chore:
    """A function without arguments, by name; it does what is due, returns soon, and may say how much it did."""

    name: str
    every_s: float


CHORES = (
    Chore("onlooker.console.alerts.silences.do_silence_alerts", every_s=60),
    Chore("onlooker.console.removals.finish_removals", every_s=10),
    Chore("onlooker.console.billing.chores.do_billing_chores", every_s=10),
    Chore("onlooker.console.tokens.failures.forget_old", every_s=60),
    Chore("onlooker.console.tokens.keys.forget_ended_keys", every_s=3600),
    Chore("onlooker.console.streams.expiry.remove_dead_tokens", every_s=600),
    Chore("onlooker.console.members.invitations.remove_expired_invitations", every_s=600),
    Chore("onlooker.console.accounts.expiry.remove_dead_sessions", every_s=3600),
    Chore("onlooker.console.accounts.expiry.remove_dead_counts", every_s=60),
    Chore("onlooker.console.accounts.expiry.remove_unconfirmed_accounts", every_s=3600),
)
EVERY_S = 10.0
"""How often it is looked which of them are due, and whether the lock is free."""
_LOCK = "SELECT pg_try_advisory_lock(hashtext('onlooker console chores'))"
_NOTICE_A_DEAD_CONSOLE = "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""The database gives the lock of a machine that vanished to another within a minute; by default it waits hours."""

_NOTICE_A_DEAD_DATABASE: Any = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
}
"""The same the other way round: seconds, and milliseconds without an answer of the other machine."""


async def do_chores_for_ever(
    settings: Settings, *, chores: tuple[Chore, ...] = CHORES, every_s: float = EVERY_S
) -> None:
    """Whoever holds the lock does them; when it dies, another console takes over."""
    while True:
        try:
            connecting = psycopg.AsyncConnection.connect(
                settings.database_url, autocommit=True, options=_NOTICE_A_DEAD_CONSOLE, **_NOTICE_A_DEAD_DATABASE
            )
            async with await connecting as connection:
                while not await _has_lock(connection):  # noqa: ASYNC110
                    await asyncio.sleep(every_s)
                log.info("this console does the chores")
                round_of_chores = Round(chores)
                while True:
                    await connection.execute("SELECT 1")  # the lock lives as long as this connection
                    await sync_to_async(round_of_chores.do_due, thread_sensitive=False)()
                    await asyncio.sleep(every_s)
        except psycopg.OperationalError as error:
            log.warning("chores put off", extra=fields(error=type(error).__name__))
            await asyncio.sleep(every_s)


async def _has_lock(connection: psycopg.AsyncConnection) -> bool:
    row = await (await connection.execute(_LOCK)).fetchone()
    return bool(row and row[0])


class Round:
    """Knows when each chore was done last; all are due at the beginning."""

    def __init__(self, chores: tuple[Chore, ...] = CHORES) -> None:
        self._due_at = dict.fromkeys(chores, 0.0)

    def do_due(self, now: Callable[[], float] = time.monotonic) -> None:
        """One that fails does not keep the others from being done; it is tried again when it is due again."""
        for chore, due_at in self._due_at.items():
            if now() >= due_at:
                self._due_at[chore] = now() + chore.every_s
                _do(chore.name)


def _do(name: str) -> None:
    started = time.monotonic()
    outcome = "failed"
    try:
        function: Callable[[], int | None] = import_string(name)
        done = function()
        outcome = "done"
        if done:
            log.info("chore done", extra=fields(chore=name, count=done, seconds=round(time.monotonic() - started, 3)))
    except (DatabaseError, OSError) as error:
        outcome = "put_off"
        log.warning("chore put off", extra=fields(chore=name, error=type(error).__name__))
    except Exception:
        log.exception("chore failed", extra=fields(chore=name))
    finally:
        counters.chores(name.rpartition(".")[2], outcome).inc()
        close_old_connections()
