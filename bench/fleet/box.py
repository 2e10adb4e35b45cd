"""One simulated device: the real commands of the agent, in a folder of its own, in threads of this process."""

import argparse
import io
import json
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

from bench.fleet.made_camera import WORKING, MadeCamera
from bench.fleet.made_results import MadeResults, current_results
from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.agent.remote.in_process import InProcessDevice
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.status.log import AgentLog, LogLevel
from onlooker_client.command.agent import build_parser
from onlooker_client.config import Config, load_config
from onlooker_client.device.command_options import plan_computing
from onlooker_client.device.journal import Journal
from onlooker_client.enrolment import command
from onlooker_client.errors import ConfigError, LinkError, NotNow, OnlookerError
from onlooker_client.terminal import Terminal

CAPTURE_FPS = 0.5
STOP_LIMIT_S = 30.0
ENROL_TRIES, ENROL_PAUSE_S = 10, 3.0
WAITING_AT_MOST = 100_000


@dataclass(frozen=True)
class FleetPlace:
    """Where the boxes of a run are, and what they join."""

    folder: Path
    console_url: str
    ca_file: str
    trial_s: float


class EventCounts(io.TextIOBase):
    """A log that keeps how often each event came, and its newest words."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.newest: dict[str, str] = {}
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        for line in text.splitlines():
            if line.startswith("{"):
                said = json.loads(line)
                with self._lock:
                    self.events[said["event"]] += 1
                    self.newest[said["event"]] = str(said["message"])[:200]
        return len(text)


@dataclass
class Box:
    """Enrolled once, started once."""

    name: str
    place: FleetPlace
    client_id: str = ""
    ended: str = ""
    """Why its agent is over, where nobody stopped it."""
    log: EventCounts = field(default_factory=EventCounts)
    _device: InProcessDevice | None = None
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self.made = MadeResults(self.name)

    @property
    def folder(self) -> Path:
        return self.place.folder / self.name

    def enrol(self, code: str) -> str:
        """By the command that people type; why it was refused, or nothing. One at a time in a process."""
        self.folder.mkdir(parents=True)
        os.environ["STATE_DIRECTORY"] = str(self.folder)
        words = ["enrol", code, "--server", self.place.console_url, "--ca", self.place.ca_file]
        arguments = build_parser().parse_args([*words, "--config", str(self.folder / "client.json")])
        for left in reversed(range(ENROL_TRIES)):
            try:
                command.run(arguments)
                break
            except OnlookerError as error:
                if not left or not isinstance(error, (LinkError, NotNow)):
                    return str(error)
            time.sleep(ENROL_PAUSE_S)  # a console with much to do: the same command again, as people do
        self.client_id = self._read_config().client_id or ""
        return ""

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """As systemd does; whether it ended in time."""
        if self._device is not None:
            self._device.stop()
        if self._thread is not None:
            self._thread.join(STOP_LIMIT_S)
        return self._thread is None or not self._thread.is_alive()

    def report(self) -> dict[str, Any]:
        device = self._device
        agent = device.agent if device else None
        said = agent.health() if agent is not None else {}
        return {
            "client_id": self.client_id,
            "ended": self.ended,
            "restarts": device.restarts if device else 0,
            "configuration": dict(device.remote.state) if device and device.remote else {},
            "waiting_visits": said.get("device", {}).get("journal", {}).get("waiting_visits"),
            "frames": self.made.frames,
            "watched_ms": self.made.watched_ms,
            "visits": len(self.made.visits),
            "events": dict(self.log.events),
            "newest": dict(self.log.newest),
        }

    def tell_made(self) -> dict[str, Any]:
        """What was made, and what of it its journal still has; to be asked once it is stopped."""
        journal = Journal(self.folder / "journal")
        try:
            waiting = [visit.id for visit in journal.waiting_visits(WAITING_AT_MOST)]
            slots_s = sum(float(slot.wire.get("watched_s", 0.0)) for slot in journal.waiting_slots(WAITING_AT_MOST))
            dropped = journal.dropped()
        finally:
            journal.close()
        return {
            "client_id": self.client_id,
            "frames": self.made.frames,
            "watched_ms": self.made.watched_ms,
            "visits": self.made.visits,
            "waiting": waiting,
            "waiting_watched_ms": round(slots_s * 1000),
            "dropped": dropped,
        }

    def _run(self) -> None:
        current_results.set(self.made)
        agent_log = AgentLog(Terminal.of(cast("TextIO", self.log)), least=LogLevel.INFO, as_json=True)
        try:
            self._device = InProcessDevice(
                self._read_config,
                self._options(),
                agent_log,
                remote=RemoteOptions(folder=self.folder, trial_s=self.place.trial_s),
                open_source=MadeCamera,
            )
            self.ended = f"exit code {self._device.run()}"
        except ConfigError as error:
            self.ended = str(error)
        except Exception as error:  # noqa: BLE001 (the edge of a thread)
            self.ended = f"{type(error).__name__}: {error}"

    def _options(self) -> AgentOptions:
        """As `onlooker-agent run` has them for a stream that devices compute."""
        given = {"compute": None, "compute_threads": 1, "confinement": "on", "camera_position": "facing"}
        plan = plan_computing(argparse.Namespace(**given, journal=self.folder / "journal"), self._read_config())
        return AgentOptions(
            source=WORKING,
            fps=CAPTURE_FPS,
            idle_fps=CAPTURE_FPS,
            computes_here=plan.computes_here,
            compute=plan.compute,
            journal=JournalOptions(plan.folder),
            is_stream_known=plan.is_stream_known,
            opening=plan.opening,
            is_grouped=plan.is_grouped,
        )

    def _read_config(self) -> Config:
        return load_config(path=self.folder / "client.json")
