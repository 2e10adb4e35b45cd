"""Chores: periodic work on streams, mails, keys and payments, done by one console at a time."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections
from django.utils.module_loading import import_string

from onlooker.console.web import counters
from onlooker.database import DATABASE_UNAVAILABLE, VANISHED_SERVER, direct_url
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chore:
    """A function by its dotted name. It takes no arguments, does what is due, returns soon, and may return a count."""

    name: str
    every_s: float


CHORES = (
    Chore("onlooker.console.alerts.silence_alerts.send_silence_alerts", every_s=60),
    Chore("onlooker.console.alerts.blind_alerts.send_blind_alerts", every_s=60),
    Chore("onlooker.console.alerts.unusual_alerts.send_unusual_alerts", every_s=60),
    Chore("onlooker.console.streams.purge.purge_removed_streams", every_s=10),
    Chore("onlooker.console.billing.reconciliation.do_billing_chores", every_s=10),
    Chore("onlooker.console.tokens.rate_limit.delete_old_failures", every_s=60),
    Chore("onlooker.console.tokens.signing_keys.delete_retired_keys", every_s=3600),
    Chore("onlooker.console.streams.passwords.delete_expired_tokens", every_s=600),
    Chore("onlooker.console.members.invitations.delete_expired_invitations", every_s=600),
    Chore("onlooker.devices.enrolment_codes.delete_past_codes", every_s=3600),
    Chore("onlooker.console.api.idempotent_requests.delete_past_requests", every_s=600),
    Chore("onlooker.keys.keys.delete_past_keys", every_s=3600),
    Chore("onlooker.console.reports.mails.send_due_reports", every_s=60),
    Chore("onlooker.console.reports.links.delete_past_links", every_s=3600),
    Chore("onlooker.console.webhooks.trouble_mails.send_disabled_mails", every_s=60),
    Chore("onlooker.console.webhooks.outbox.delete_past_deliveries", every_s=600),
    Chore("onlooker.audit.entries.end_past_entries", every_s=3600),
    Chore("onlooker.console.accounts.security_events.end_past_events", every_s=3600),
    Chore("onlooker.console.accounts.deletion.delete_expired_sessions", every_s=3600),
    Chore("onlooker.console.accounts.deletion.delete_expired_counts", every_s=60),
    Chore("onlooker.console.accounts.deletion.delete_unconfirmed_accounts", every_s=3600),
)
EVERY_S = 10.0
"""How often to check which chores are due, and whether the lock is free."""
_LOCK = "SELECT pg_try_advisory_lock(hashtext('onlooker console chores'))"
_DEAD_CONSOLE_OPTIONS = "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
"""Lets the database release the lock of a vanished machine within a minute; its default is hours."""


async def run_chores(
    settings: Settings,
    *,
    may_run: Callable[[], bool] = lambda: True,
    chores: tuple[Chore, ...] = CHORES,
    every_s: float = EVERY_S,
) -> None:
    """Run them while holding the lock; when this console dies or may not, another one takes over."""
    while True:
        try:
            connecting = psycopg.AsyncConnection.connect(
                direct_url(settings), autocommit=True, options=_DEAD_CONSOLE_OPTIONS, **VANISHED_SERVER
            )
            async with await connecting as connection:
                while not (may_run() and await _has_lock(connection)):  # noqa: ASYNC110
                    await asyncio.sleep(every_s)
                log.info("this console runs the chores")
                schedule = ChoreSchedule(chores)
                while may_run():
                    await connection.execute("SELECT 1")  # the lock lives as long as this connection
                    await sync_to_async(schedule.run_due, thread_sensitive=False)()
                    await asyncio.sleep(every_s)
        except DATABASE_UNAVAILABLE as error:
            log.warning("chores put off", extra=fields(error=type(error).__name__))
            await asyncio.sleep(every_s)


async def _has_lock(connection: psycopg.AsyncConnection) -> bool:
    row = await (await connection.execute(_LOCK)).fetchone()
    return bool(row and row[0])


class ChoreSchedule:
    """When each chore is due next; all are due at the start."""

    def __init__(self, chores: tuple[Chore, ...] = CHORES) -> None:
        self._due_at = dict.fromkeys(chores, 0.0)

    def run_due(self, now: Callable[[], float] = time.monotonic) -> None:
        """A chore that fails does not stop the others; it is tried again when it is due again."""
        for chore, due_at in self._due_at.items():
            if now() >= due_at:
                self._due_at[chore] = now() + chore.every_s
                _run(chore.name)


def _run(name: str) -> None:
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
