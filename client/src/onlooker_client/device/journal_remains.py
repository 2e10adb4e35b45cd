"""Visits that wait since this device computed by itself: sent beside the frames, until the journal can be erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, RecorderOptions
from onlooker_client.device.journal import LIMIT_BYTES, Journal, JournalUnwritable, Warn
from onlooker_client.device.journal_file import NAME
from onlooker_client.errors import ConfigError
from onlooker_client.wire.transport import Transport

LOOK_EVERY_S = 5.0


class JournalRemains:
    """A journal that nothing is added to. To be called by one thread; it uploads from another."""

    def __init__(
        self, journal: Journal, transport: Transport, *, warn: Warn = lambda *_: None, upload_every_s: float = 60.0
    ) -> None:
        self._journal = journal
        self._transport = transport
        self._options = RecorderOptions(upload_every_s=upload_every_s, warn=warn)
        self._recorder: DeviceRecorder | None = None
        """None while the journal can't be written."""
        self._looked_at = float("-inf")
        self.is_erased = False
        """Whether the server has everything, and nothing is left here."""

    def tick(self, now: float) -> None:
        if self.is_erased:
            return
        if self._recorder is not None:
            self._recorder.tick(now)
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            self._look()

    def use(self, transport: Transport) -> None:
        """Another password, or another address."""
        self._transport = transport
        if self._recorder is not None:
            self._recorder.use(transport)

    def status(self) -> dict[str, Any]:
        """For the health report, as of a device that computes; empty where nothing is left."""
        return self._recorder.status() if self._recorder is not None and not self.is_erased else {}

    def close(self) -> None:
        if self.is_erased:
            return
        if self._recorder is not None:
            self._recorder.close()
        else:
            self._journal.close()

    def _look(self) -> None:
        try:
            if self._recorder is None:
                self._recorder = self._begin()
            elif self._journal.is_handed_over():
                self._recorder.close(erases=True)
                self.is_erased = True
        except (JournalUnwritable, OSError) as error:
            self._options.warn("journal", f"The journal can't be written: {error} The agent goes on and tries again.")

    def _begin(self) -> DeviceRecorder:
        """The server follows who is there now, under ids of its own: open visits end as they are."""
        self._journal.forget_state()
        recorder = DeviceRecorder(self._journal, self._transport, DeviceClock(), self._options)
        recorder.start()
        return recorder


def open_remains(
    folder: Path, transport: Transport, *, limit_bytes: int = LIMIT_BYTES, warn: Warn = lambda *_: None
) -> JournalRemains | None:
    """None where there is no journal, or another agent has it open, which uploads it."""
    if not (folder / NAME).is_file():
        return None
    try:
        journal = Journal(folder, limit_bytes=limit_bytes, warn=warn)
    except ConfigError:
        return None
    return JournalRemains(journal, transport, warn=warn)
