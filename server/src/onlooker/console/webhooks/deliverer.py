"""Delivers webhooks, as a task of the console beside the chores: many endpoints at once, a few of one organisation.

Chores run one after another, so a receiver that hangs would hold up alerts. Here it holds up its own endpoint only.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from onlooker.console.webhooks import outbox
from onlooker.database import DATABASE_UNAVAILABLE
from onlooker.logs import fields
from onlooker.webhooks import counters
from onlooker.webhooks.pinned_post import Outbound, PostFailed, Trouble, post
from onlooker.webhooks.signature import signed_headers

log = logging.getLogger(__name__)

EVERY_S = 2.0
"""How often to look for what is due."""
ENDPOINTS_AT_ONCE = 32
ENDPOINTS_OF_ORGANISATION = 2
LETTERS_AT_ONCE = 4
"""To one endpoint."""
ROUND_LIMIT_S = 60.0
"""No letter of a round is begun later; the others are due again."""
PUT_OFF = (DatabaseError, *DATABASE_UNAVAILABLE)
HEADERS = {"Content-Type": "application/json", "User-Agent": "Onlooker-Webhooks/1"}


class Deliverer:
    """Takes endpoints with something due, and sends to each in a task of its own."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound
        self._tasks: set[asyncio.Task[None]] = set()
        self._organisations: Counter[int] = Counter()

    async def run(self, may_run: Callable[[], bool] = lambda: True, every_s: float = EVERY_S) -> None:
        """Until it is cancelled; what it had begun is due again a little later."""
        try:
            while True:
                try:
                    if may_run():
                        await self.begin_rounds()
                except PUT_OFF as error:
                    log.warning("webhooks put off", extra=fields(error=type(error).__name__))
                await asyncio.sleep(every_s)
        finally:
            for task in self._tasks:
                task.cancel()

    async def begin_rounds(self) -> int:
        """Returns how many endpoints were begun with."""
        full = [number for number, count in self._organisations.items() if count >= ENDPOINTS_OF_ORGANISATION]
        begun = 0
        while len(self._tasks) < ENDPOINTS_AT_ONCE:
            taken = await _in_thread(outbox.take_rounds, timezone.now(), 1, without=full)
            if not taken:
                break
            for one in taken:
                begun += 1
                self._organisations[one.organisation] += 1
                if self._organisations[one.organisation] >= ENDPOINTS_OF_ORGANISATION:
                    full.append(one.organisation)
                task = asyncio.create_task(self._send_round(one))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        counters.busy.set(len(self._tasks))
        return begun

    async def finish(self) -> None:
        """Wait for what was begun."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _send_round(self, one: outbox.Round) -> None:
        waiting, ends_at = list(reversed(one.letters)), time.monotonic() + ROUND_LIMIT_S
        failures: list[PostFailed] = []

        async def send_some() -> None:
            while waiting and not failures and time.monotonic() < ends_at:
                if failure := await self._send(one, waiting.pop()):
                    failures.append(failure)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(LETTERS_AT_ONCE, len(one.letters))):
                    group.create_task(send_some())
            await _in_thread(
                outbox.end_round, one.endpoint, timezone.now(), max((f.pause_s for f in failures), default=0.0)
            )
        except* PUT_OFF as error:
            kinds = ", ".join(sorted({type(each).__name__ for each in error.exceptions}))
            log.warning("webhooks put off", extra=fields(error=kinds))
        except* Exception:
            log.exception("webhook round failed", extra=fields(webhook=one.endpoint))
        finally:
            self._organisations[one.organisation] -= 1
            if not self._organisations[one.organisation]:
                del self._organisations[one.organisation]

    async def _send(self, one: outbox.Round, letter: outbox.Letter) -> PostFailed | None:
        try:
            if not one.secrets:
                raise PostFailed(Trouble.SECRET)
            signed = signed_headers(one.secrets, letter.message_id, timezone.now(), letter.body)
            status = await post(self._outbound, one.url, HEADERS | signed, letter.body)
        except PostFailed as failure:
            log.info("webhook not delivered", extra=_about(one, reason=failure.trouble.value, status=failure.status))
            why = await _in_thread(outbox.note_failed, one.endpoint, letter.delivery, failure, timezone.now())
            if why:
                log.warning("webhook disabled", extra=_about(one, reason=why))
            return failure
        await _in_thread(outbox.note_delivered, one.endpoint, letter.delivery, status, timezone.now())
        return None


def _about(one: outbox.Round, **values: Any) -> dict[str, Any]:
    """Never its URL, which may contain a secret."""
    return fields(webhook=one.endpoint, organisation=one.organisation, **values)


async def _in_thread(function: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    def call() -> Any:
        try:
            return function(*arguments, **values)
        finally:
            close_old_connections()

    return await sync_to_async(call, thread_sensitive=False)()
