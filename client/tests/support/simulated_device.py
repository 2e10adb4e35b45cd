"""A device with a journal in a folder, people in front of it, and a server in memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from testkit.device_simulation import PlannedPerson, SimulatedClocks, SimulatedSession
from testkit.visit_server import VisitServer

from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, RecorderOptions
from onlooker_client.device.journal import Journal

NOON = 1_790_000_100.0
FRAME_S = 0.2
MADE: list[SimulatedDevice] = []
"""Those that hold a journal; `device_cleanup` stops them after each test."""


class SimulatedDevice:
    """`run` films; `crash` loses the process, `restart` the machine too."""

    def __init__(self, folder: Path, people: list[PlannedPerson], clocks: SimulatedClocks, **journal: Any) -> None:
        self.folder, self.people, self.clocks = folder, people, clocks
        self.server = VisitServer(clocks.true_s)
        self.said: list[tuple[str, str]] = []
        self.seen: dict[str, list[float]] = {}
        """When each person was in a frame, in true time."""
        self._journal_options = journal
        self._copies = 0
        MADE.append(self)
        self.begin()

    def begin(self) -> None:
        self.journal = Journal(self.folder, warn=self._warn, **self._journal_options)
        self.clock = DeviceClock(self.clocks)
        options = RecorderOptions(warn=self._warn)
        self.recorder = DeviceRecorder(self.journal, self.server, self.clock, options)  # type: ignore[arg-type]
        self.session = SimulatedSession.resumed(self.people, self.recorder.session_state())

    def run(self, seconds: float) -> None:
        for beat in range(round(seconds / FRAME_S)):
            self.clocks.advance(FRAME_S)
            now = self.clocks.monotonic_s()
            true_ms = round(self.clocks.true_s() * 1000)
            at_ms = round(self.clock.stamp(now) * 1000)
            frame = self.session.frame(at_ms, true_ms)
            for visit_id in frame.result["entities"]:
                self.seen.setdefault(visit_id, []).append(self.clocks.true_s())
            self.recorder.add(frame)
            if beat % 5 == 4:
                self.recorder.tick(now)

    def crash(self) -> None:
        """As if the power went: what is in the files at this moment is all there is."""
        self._copies += 1
        copy = self.folder.with_name(f"{self.folder.name}-{self._copies}")
        shutil.copytree(self.folder, copy)
        self.journal.close()
        self.folder = copy
        self.begin()

    def restart(self, *, after_s: float) -> None:
        self.clocks.restart(after_s=after_s)
        self.crash()

    def stop(self) -> None:
        """May be called twice."""
        self.recorder.close()

    def _warn(self, event: str, text: str) -> None:
        self.said.append((event, text))
