"""Sends what the journal keeps, in batches, from a thread of its own; what the server acknowledged is erased."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from typing import Any, Callable

from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.journal import Journal, JournalUnwritable, Warn
from onlooker_client.device.journal_rows import slot_of
from onlooker_client.device.visit_batch import MOST_ITEMS, VisitBatch
from onlooker_client.errors import BadRequest, NotNow, OnlookerError, Refused
from onlooker_client.moments import read_moment
from onlooker_client.wire.transport import Repeat, Transport

PATH = "/services/scene_analysis/1/visits"
LIMIT_S = 30.0
ASK_EVERY_S = 600.0
"""How often the stream's settings are read again."""
BATCH_EVERY_S = 1.1
"""Between two batches: a server takes one a second of a stream."""
FIRST_PAUSE_S = 5.0
LONGEST_PAUSE_S = 300.0
KEPT = ("compute", "retention_days", "reads", "opening", "groups_of")
"""What of the stream's settings is remembered for a start without a line."""
MALFORMED = (400, 413, 422)
SINGLES_AT_MOST = 20
"""Items in a row that the server calls malformed: with more, the fault is not theirs, and nothing is dropped."""


class Uploader:
    """`start` it, or call `round` oneself; `use` gives it another server or password."""

    def __init__(
        self,
        journal: Journal,
        clock: DeviceClock,
        transport: Transport | None,
        *,
        every_s: float = 60.0,
        warn: Warn = lambda *_: None,
        on_time: Callable[[], None] = lambda: None,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._transport = transport
        self._every_s = every_s
        self._warn = warn
        self._on_time = on_time
        self._asked: tuple[Transport, float] | None = None
        self._most_items = MOST_ITEMS
        self._singles = 0
        self._failures = 0
        self._wake_up = threading.Event()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self._not_before = 0.0
        self.error: Exception | None = None
        """Why nothing could be sent; None since something was."""
        self.uploaded_at_ms: int | None = None
        self.sent_bytes = 0
        self.taken: Counter[str] = Counter()
        """Visits and slots that the server acknowledged since the agent started."""

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="upload", daemon=True)
        self._thread.start()

    def use(self, transport: Transport) -> None:
        self._transport = transport
        self._failures, self._not_before, self._asked = 0, 0.0, None
        self._wake_up.set()

    def hurry(self) -> None:
        """Much waits: send it now, unless the server was asked in vain a moment ago."""
        self._wake_up.set()

    def close(self, timeout_s: float) -> None:
        """One last round, within the time."""
        self._is_closing = True
        self._wake_up.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def round(self, *, pause_s: float = 0.0) -> bool:
        """Send all that waits, with pauses between batches; False where the server could not be asked, or refused."""
        transport = self._transport
        if transport is None:
            return False
        try:
            self._ask_stream(transport)
            while self._send_batch(transport) and not (pause_s and self._is_closing):
                time.sleep(pause_s)
        except JournalUnwritable as error:
            self._fail(error)
        except OnlookerError as error:
            self._fail(error)
        else:
            self._failures, self.error = 0, None
            return True
        return False

    def _run(self) -> None:
        pause_s = min(self._every_s, random.uniform(0.0, FIRST_PAUSE_S))  # noqa: S311 (no secret)
        while True:
            self._wake_up.wait(max(pause_s, self._not_before - time.monotonic()))
            self._wake_up.clear()
            if time.monotonic() >= self._not_before:
                self.round(pause_s=BATCH_EVERY_S)
            pause_s = 0.0 if self._failures else self._every_s
            if self._is_closing:
                return

    def _fail(self, error: Exception) -> None:
        asked_s = error.retry_after_s if isinstance(error, NotNow) else None
        is_paced = isinstance(error, NotNow) and error.status == 429
        self._failures += 1
        pause_s = min(FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE_S)
        pause_s *= random.uniform(0.5, 1.0)  # noqa: S311 (no secret)
        self._not_before = time.monotonic() + max(asked_s or 0.0, pause_s)
        if self.error is None and not is_paced:
            self._warn("upload", f"{in_words(error)} Visits are kept on the device and sent later.")
        self.error = error

    def _ask_stream(self, transport: Transport) -> None:
        """What the stream allows, what time it is, and whether the journal is this stream's."""
        now = time.monotonic()
        if self._asked and self._asked[0] is transport and now - self._asked[1] < ASK_EVERY_S:
            return
        asked_s = self._clock.boot_s()
        stream = transport.request_json("GET", "/stream", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        self._learn_time(stream, asked_s)
        client_id = str(stream.get("client_id"))
        owner = self._journal.recall("stream")
        if owner is None:
            self._journal.remember("stream", client_id)
        elif owner != client_id:
            raise OnlookerError(
                f"The journal in {self._journal.folder} belongs to another stream ({owner}). Give this agent another "
                "folder with --journal, or delete that one."
            )
        kept = {name: stream.get(name) for name in KEPT}
        if self._journal.recall("settings") != json.dumps(kept):
            self._journal.remember("settings", json.dumps(kept))
        self._asked = (transport, now)

    def _send_batch(self, transport: Transport) -> bool:
        """Whether there may be more."""
        limit = self._most_items
        visits, slots = self._journal.waiting_visits(limit), self._journal.waiting_slots(limit)
        now_ms = self._clock.now_ms()
        if not (visits or slots) or now_ms is None:
            return False
        everything = waiting = VisitBatch(visits, slots)
        while limit < MOST_ITEMS and len(waiting) > limit:
            waiting = waiting.halved()
        is_all_read = waiting is everything and max(len(visits), len(slots)) < limit
        is_whole = is_all_read and not self._journal.sizes()["undated"]
        batch, body = waiting.fitted(self._journal.device(), now_ms, is_whole=is_whole)
        asked_s = self._clock.boot_s()
        try:
            answer = transport.request_json("POST", PATH, body, repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        except BadRequest as error:
            if error.status not in MALFORMED:
                raise
            self._split(batch, error)
            return True
        self.sent_bytes += len(body.content)
        self._learn_time(answer, asked_s)
        self._acknowledge(batch, batch.refused_in(answer))
        self._most_items, self._singles = min(self._most_items * 2, MOST_ITEMS), 0
        is_all = len(batch) == len(visits) + len(slots)
        return not is_all or len(visits) >= limit or len(slots) >= limit

    def _acknowledge(self, batch: VisitBatch, refused: Counter[tuple[str, str]]) -> None:
        now_ms = self._clock.now_ms()
        self._journal.acknowledge(
            [(visit.id, visit.revision) for visit in batch.visits],
            [(slot.slot, slot.revision) for slot in batch.slots],
            dropped=refused,
            current_slot=None if now_ms is None else slot_of(now_ms),
        )
        self.uploaded_at_ms = now_ms
        self.taken["visits"] += len(batch.visits)
        self.taken["slots"] += len(batch.slots)
        if refused:
            self._warn("upload_refused", f"The server refused {sum(refused.values())} items: {_listed(refused)}.")

    def _split(self, batch: VisitBatch, error: Refused) -> None:
        """Something in it is malformed: half of it next; a single one is dropped, with a count."""
        if len(batch) > 1:
            self._most_items = max(1, len(batch) // 2)
            return
        self._singles += 1
        if self._singles > SINGLES_AT_MOST:
            raise error
        self._most_items = 1
        item = {"visit": batch.visits[0].id} if batch.visits else {"slot": batch.slots[0].slot}
        self._acknowledge(batch, batch.refused_in({"refused": [{**item, "code": "bad_request"}]}))

    def _learn_time(self, answer: dict[str, Any], asked_s: float) -> None:
        answered_s = self._clock.boot_s()
        try:
            server_s = read_moment(str(answer.get("now"))).timestamp()
        except ValueError:
            return
        if self._clock.learn(server_s, asked_s=asked_s, answered_s=answered_s):
            self._on_time()


def in_words(error: Exception) -> str:
    if isinstance(error, BadRequest) and error.status == 404:
        return "The server does not take visits from devices. Upgrade it, or run the agent with --compute server."
    return str(error)


def _listed(refused: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{count} {what} ({code})" for (what, code), count in sorted(refused.items()))
