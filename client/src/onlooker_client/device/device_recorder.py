"""Records what the device computes: into the journal about once a second, and from there to the server."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any

from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.device.coverage_sums import CoverageSums
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.journal import Journal, JournalUnwritable, Losses, Warn
from onlooker_client.device.journal_rows import MINUTE_MS, Entry, Epoch, SavedState, VisitChange, slot_of
from onlooker_client.device.session_clock import choose_epoch
from onlooker_client.device.upload import Uploader, in_words
from onlooker_client.device.visit_batch import format_moment
from onlooker_client.scene import count_people
from onlooker_client.wire.transport import Transport

WRITE_EVERY_S = 0.9
"""While somebody is there. States come once a second: so nothing older than two seconds is lost with the power."""
UNSEALED_S = 1.5
"""A state should have come by then; without one, visits are written all the same."""
QUIET_EVERY_S = 20.0
"""While nobody is: there is nothing to lose but seconds of coverage."""
LOOK_EVERY_S = 5.0
BOUND_EVERY_S = 60.0
ORPHAN_S = 300.0
"""An open visit that the session has not mentioned for so long is no longer the session's."""
PENDING_AT_MOST = 10_000
"""Visits in memory while the disk takes none."""
DISK_FULL = "disk_full"


@dataclass(frozen=True)
class RecorderOptions:
    """How often and how much."""

    upload_every_s: float = 60.0
    upload_visits: int = 200
    """With so many ended visits, sooner."""
    warn: Warn = lambda *_: None


class DeviceRecorder:
    """Any thread may call it. It never raises because of a disk or a link: it keeps what it has, and tries again."""

    def __init__(
        self, journal: Journal, transport: Transport | None, clock: DeviceClock, options: RecorderOptions | None = None
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._options = options or RecorderOptions()
        self._lock = threading.RLock()
        self._pending = Entry()
        self._unsealed: dict[str, VisitChange] = {}
        """Visits that wait for a state that knows them: without it they would begin a second time after a crash."""
        self._unsealed_at = 0.0
        self._looked_at = self._bounded_at = clock.monotonic_s()
        self._written_at = float("-inf")  # what an agent that is killed again and again saw first is written at once
        self._is_busy = False
        self._ended = 0
        self._damages = journal.damages
        self._needs_date = True
        self.trouble: str | None = None
        """Why the journal can't be written; None since it was."""
        clock.look()
        self._epoch, self._state = choose_epoch(journal, clock)
        self._epochs: dict[int, Epoch] = {}
        self._open: dict[str, tuple[int, float]] = {}
        """The epoch of each open visit, and when it was last heard of."""
        self._read_open_visits()
        self._uploader = Uploader(
            journal,
            clock,
            transport,
            every_s=self._options.upload_every_s,
            warn=self._options.warn,
            on_time=self._date,
        )
        self._date()

    def start(self) -> None:
        """Upload from now on, in a thread of its own."""
        self._uploader.start()

    def session_state(self) -> bytes | None:
        """Where the session goes on; None where it begins. A process that computes may be replaced at any time."""
        with self._lock:
            for visit_id in self._unsealed:
                self._open.pop(visit_id, None)
            self._unsealed.clear()  # that state does not know them, and the session finds them again
            return self._state.body if self._state is not None else None

    def add(self, frame: ComputedFrame) -> None:
        with self._lock:
            now = self._clock.monotonic_s()
            self._sums_at(frame.at_ms).add_frame(frame)
            for visit in frame.visits:
                self._add_visit(visit, now)
            if frame.state is not None:
                self._state = SavedState(frame.state, frame.at_ms, self._epoch.id)
                self._pending.state = self._state
                self._seal()
            self._is_busy = bool(self._open or count_people(frame.result))
            self._write_if_due(now)

    def add_refused(self, reason: str, at_s: float) -> None:
        """A frame that was not computed."""
        with self._lock:
            self._sums_at(round(at_s * 1000)).add_refused(reason)

    def tick(self, now: float) -> None:
        """To be called every second or so; `now` is of the monotonic clock."""
        with self._lock:
            if now - self._looked_at >= LOOK_EVERY_S:
                self._looked_at = now
                self._needs_date |= self._clock.look()
                self._end_orphans(now)
            if self._needs_date or self._damages != self._journal.damages:
                self._date()
            self._write_if_due(now)
            if now - self._bounded_at >= BOUND_EVERY_S:
                self._bounded_at = now
                self._bound()

    def status(self) -> dict[str, Any]:
        """For the health report."""
        uploader = self._uploader
        said: dict[str, Any] = {"clock": self._clock.source, "uploaded_at": _moment(uploader.uploaded_at_ms)}
        said["upload_trouble"] = in_words(uploader.error) if uploader.error else None
        said["journal_trouble"] = self.trouble
        try:
            sizes, dropped = self._journal.sizes(), self._journal.dropped()
        except JournalUnwritable as error:
            return {**said, "journal_trouble": str(error)}
        return {
            **said,
            "waiting_visits": sizes["visits"],
            "undated_visits": sizes["undated"],
            "oldest_at": _moment(sizes.get("oldest_ms")),
            "journal_bytes": sizes["bytes"],
            "dropped": dropped,
            "sent": dict(uploader.taken),
            "sent_bytes": uploader.sent_bytes,
        }

    @property
    def upload_error(self) -> Exception | None:
        """Why the server did not take the last batch; None where it did."""
        return self._uploader.error

    def settings(self) -> dict[str, Any]:
        """What the stream was set to when the server last said so: `compute`, `retention_days`, `reads`."""
        return remembered_settings(self._journal)

    def use(self, transport: Transport) -> None:
        """Another password, or another address."""
        self._uploader.use(transport)

    def upload(self) -> bool:
        """Now, in this thread; whether the server took everything."""
        self.flush()
        return self._uploader.round()

    def flush(self) -> bool:
        """Write what is pending; False where the disk does not take it."""
        with self._lock:
            self._seal()
            return self._write(self._clock.monotonic_s())

    def close(self, timeout_s: float = 3.0, *, erases: bool = False) -> None:
        """Open visits stay open: the next start goes on with them. `erases`: the journal is no longer needed."""
        self.flush()
        self._uploader.close(timeout_s)
        if erases:
            self._journal.erase()
        else:
            self._journal.close()

    def _sums_at(self, at_ms: int) -> CoverageSums:
        boot_ms, true_ms = at_ms - self._epoch.session_ms, self._clock.true_ms
        if true_ms is None:
            return self._pending.minutes.setdefault((self._epoch.id, boot_ms // MINUTE_MS), CoverageSums())
        return self._pending.slots.setdefault(slot_of(boot_ms + true_ms), CoverageSums())

    def _add_visit(self, visit: dict[str, Any], now: float) -> None:
        try:
            change = VisitChange.of_wire(visit, self._epoch_of(visit))
        except (LookupError, TypeError, ValueError):  # the process that computes is not believed
            self._pending.dropped[("visits", "bad_value")] += 1
            return
        if not self._unsealed:
            self._unsealed_at = now
        self._unsealed[change.id] = change
        if change.ended:
            self._open.pop(change.id, None)
            self._ended += 1
        else:
            self._open[change.id] = (change.epoch, now)

    def _epoch_of(self, visit: dict[str, Any]) -> Epoch:
        """A state from before a restart of the machine ends visits by the stamps of that time."""
        known = self._open.get(visit["id"])
        if known is not None:
            return self._epochs.get(known[0], self._epoch)
        if visit["present"][0][0] >= self._epoch.began_ms:
            return self._epoch
        earlier = [one for one in self._epochs.values() if one.id < self._epoch.id]
        return max(earlier, key=lambda one: one.id, default=self._epoch)

    def _seal(self) -> None:
        for visit_id, change in self._unsealed.items():
            self._pending.visits.pop(visit_id, None)  # the newest come last
            self._pending.visits[visit_id] = change
        self._unsealed.clear()

    def _write_if_due(self, now: float) -> None:
        if self._unsealed and now - self._unsealed_at >= UNSEALED_S:
            self._seal()
        waits = bool(self._pending.visits) or (self._is_busy and self._pending.state is not None)
        if now - self._written_at >= (WRITE_EVERY_S if waits else QUIET_EVERY_S):
            self._write(now)

    def _write(self, now: float) -> bool:
        self._written_at = now
        if not self._pending:
            return True
        try:
            self._journal.write(self._pending)
        except JournalUnwritable as error:
            self._keep(error)
            return False
        if self.trouble is not None:
            self._options.warn("journal", "The journal is written again.")
        self._pending, self.trouble = Entry(), None
        if self._ended >= self._options.upload_visits:
            self._ended = 0
            self._uploader.hurry()
        return True

    def _keep(self, error: JournalUnwritable) -> None:
        """In memory, for the next try; only so much of it."""
        if self.trouble is None:
            self._options.warn(
                "journal", f"The journal can't be written: {error} Free some space; the agent goes on and tries again."
            )
        self.trouble = str(error)
        visits = self._pending.visits
        while len(visits) > PENDING_AT_MOST:
            del visits[next(iter(visits))]
            self._pending.dropped[("visits", DISK_FULL)] += 1

    def _date(self) -> None:
        """Where the time is known, date what was recorded before; may come from the uploader's thread."""
        with self._lock:
            now_ms, true_ms = self._clock.now_ms(), self._clock.true_ms
            self._damages = self._journal.damages
            if now_ms is None or true_ms is None:
                self._needs_date = False
                return
            try:
                self._journal.write(self._pending)
                self._pending = Entry()
                lost = self._journal.date(boot=self._clock.boot, true_ms=true_ms, now_ms=now_ms)
                self._needs_date = False
            except JournalUnwritable as error:
                self._needs_date = True
                self._keep(error)
                return
        if lost:
            self._options.warn(
                "clock_unknown",
                f"{lost['visits']} visits from before a restart were dropped: this machine did not know the time then. "
                "Give it a battery for its clock, or a server for the time (NTP).",
            )

    def _read_open_visits(self) -> None:
        """Without a state nothing goes on with them: they end as they are."""
        now = self._clock.monotonic_s()
        try:
            found = self._journal.open_visits()
            self._epochs = self._journal.epochs()
            if self._state is None and found:
                self._journal.end_visits(found)
                found = {}
        except JournalUnwritable as error:
            self._keep(error)
            return
        self._open = {visit_id: (epoch, now) for visit_id, epoch in found.items()}

    def _end_orphans(self, now: float) -> None:
        orphans = [visit_id for visit_id, (_, at) in self._open.items() if now - at >= ORPHAN_S]
        if not orphans or not self._write(now):
            return
        try:
            self._journal.end_visits(orphans)
        except JournalUnwritable as error:
            self._keep(error)
            return
        for visit_id in orphans:
            del self._open[visit_id]

    def _bound(self) -> None:
        try:
            days = self.settings().get("retention_days")
            dropped: Losses = self._journal.bound(now_ms=self._clock.now_ms(), retention_days=days)
        except JournalUnwritable as error:
            self._keep(error)
            return
        full = Counter({what: count for (what, reason), count in dropped.items() if reason == "journal_full"})
        if full:
            self._options.warn(
                "journal_full",
                f"The journal is full: the oldest {full['visits']} visits were dropped. Connect the device, or give it "
                "more room with --journal-limit.",
            )


def remembered_settings(journal: Journal) -> dict[str, Any]:
    """Empty where no server has said anything yet."""
    try:
        said = json.loads(journal.recall("settings") or "{}")
    except (JournalUnwritable, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _moment(unix_ms: int | None) -> str | None:
    return None if unix_ms is None else format_moment(unix_ms)
