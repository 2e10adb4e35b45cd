"""Watches an agent as a process: its health ten times a second, and its memory."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from testkit import TestStream
from testkit.ports import free_ports

ASK_EVERY_S = 0.1
START_LIMIT_S = 30.0


@dataclass(frozen=True)
class Sample:
    """At one moment of the monotonic clock."""

    at_s: float
    age_s: float
    """Of the newest frame that was answered."""
    state: str
    rss_bytes: int
    threads: int


@dataclass
class Observed:
    """A running agent, and what was seen of it."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    samples: list[Sample] = field(default_factory=list)
    missed: int = 0
    """Questions that the agent did not answer."""
    _over: threading.Event = field(default_factory=threading.Event)

    def health(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2) as answer:
            said: dict[str, Any] = json.load(answer)
        return said

    def await_answer(self) -> None:
        """Until the first frame was answered."""
        give_up_at = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up_at and self.process.poll() is None:
            try:
                if self.health()["counts"]["answered"]:
                    return
            except OSError:
                pass  # it starts, or its answer is 503
            time.sleep(0.2)
        raise RuntimeError(f"the agent does not answer:\n{self.log.read_text()[-2000:]}")

    def watch(self) -> None:
        """In a thread of its own, until `finish`."""
        process = psutil.Process(self.process.pid)
        while not self._over.wait(ASK_EVERY_S) and self.process.poll() is None:
            try:
                said = self._report()
                age_s, state = said["newest_answered_frame_age_s"], said["state"]
                memory = process.memory_info().rss
                self.samples.append(Sample(time.monotonic(), age_s, state, memory, process.num_threads()))
            except (OSError, psutil.Error):
                self.missed += 1

    def _report(self) -> dict[str, Any]:
        try:
            return self.health()
        except urllib.error.HTTPError as refused:  # 503 carries the same report
            said: dict[str, Any] = json.load(refused)
            return said

    def finish(self) -> dict[str, Any]:
        """Stop it as systemd does; its last log line."""
        self._over.set()
        self.process.terminate()
        began = time.monotonic()
        code = self.process.wait(30)
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        last: dict[str, Any] = next((line for line in reversed(lines) if line["event"] == "stop"), {})
        opened = next((line for line in lines if line["event"] == "camera_opened"), None)
        looked_s = _moment(last) - _moment(opened) if last and opened else 0.0
        return {**last, "exit_code": code, "stop_s": round(time.monotonic() - began, 2), "looked_s": looked_s}


def _moment(line: dict[str, Any]) -> float:
    return datetime.fromisoformat(line["time"]).timestamp()


@contextmanager
def observed_agent(
    arguments: Sequence[str], stream: TestStream, *, url: str, ca_file: str, folder: Path
) -> Iterator[Observed]:
    """`onlooker-agent run` with these arguments."""
    (port,) = free_ports(1)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")}
    environment |= {
        "ONLOOKER_URL": url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": ca_file,
        "XDG_CONFIG_HOME": str(folder),
    }
    command = [str(Path(sys.executable).with_name("onlooker-agent")), "run", *arguments]
    log = folder / "agent.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--json", "--health-port", str(port)], env=environment, stdout=out, stderr=out
        )
    observed = Observed(process, port, log)
    watching = threading.Thread(target=observed.watch, daemon=True)
    try:
        observed.await_answer()
        watching.start()
        yield observed
    finally:
        observed._over.set()
        if process.poll() is None:
            process.kill()
            process.wait()
        if watching.is_alive():
            watching.join(5)


def computed_frames(metrics: str) -> int:
    """How many frames a worker computed for `scene_analysis`, by its own metrics."""
    found = re.findall(r'onlooker_worker_jobs_total\{[^}]*service="scene_analysis[^}]*\} ([0-9.e+]+)', metrics)
    return int(sum(map(float, found)))
