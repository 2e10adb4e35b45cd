"""Two who watch a network camera: the agent's source in this process, and the whole agent in one of its own."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from pathlib import Path

import psutil

from bench.client.rtsp_server import age_ms
from onlooker.testing.ports import free_ports
from onlooker_client.sources.lasting import Event, LastingSource

NOWHERE = "http://127.0.0.1:9"
"""No server: what becomes of the frames does not matter here, they are counted all the same."""


class SourceWatcher:
    """Reads ten times a second, as the agent does, and remembers when its pictures were made."""

    def __init__(self, address: str) -> None:
        self.events: list[Event] = []
        self.age_ms = 0
        self._came: deque[tuple[float, float]] = deque(maxlen=1000)
        """When each was made, and when it was here."""
        self._source = LastingSource(address, on_change=self.events.append)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_for_picture(self, made_after: float, timeout_s: float) -> float | None:
        """When the first one that was made after this moment was here; None where none came in time."""
        give_up_at = time.monotonic() + timeout_s
        while time.monotonic() < give_up_at:
            for made_at, came_at in list(self._came):
                if made_at >= made_after:
                    return came_at
            time.sleep(0.02)
        return None

    def close(self) -> None:
        self._source.close()
        self._thread.join(7)

    def _run(self) -> None:
        due_s = time.monotonic()
        while (picture := self._source.read(due_s)) is not None:
            self.age_ms = age_ms(picture.pixels)
            self._came.append((time.time() - self.age_ms / 1000, time.time()))
            due_s = max(due_s + 0.1, time.monotonic())


class AgentWatcher:
    """`onlooker-agent run` with the camera; asks its health report how many frames it has grabbed."""

    def __init__(self, address: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "agent.log"
        port = free_ports(1)[0]
        self._health = f"http://127.0.0.1:{port}/healthz"
        command = [str(Path(sys.executable).with_name("onlooker-agent")), "run", "--json", "--health-port", str(port)]
        environment = os.environ | {
            "XDG_CONFIG_HOME": self._folder.name,
            "ONLOOKER_URL": NOWHERE,
            "ONLOOKER_CLIENT_ID": "00000000-0000-0000-0000-000000000000",
            "ONLOOKER_ACCESS_TOKEN": "none",
            "ONLOOKER_SOURCE": address,
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def grabbed(self) -> int:
        """Frames so far; 0 while it does not answer."""
        try:
            with urllib.request.urlopen(self._health, timeout=2) as answer:
                return int(json.load(answer)["counts"]["grabbed"])
        except urllib.error.HTTPError as unwell:
            return int(json.load(unwell)["counts"]["grabbed"])
        except OSError:
            return 0

    def wait_for_more(self, than: int, timeout_s: float) -> float | None:
        give_up_at = time.monotonic() + timeout_s
        while time.monotonic() < give_up_at:
            if self.grabbed() > than:
                return time.time()
            time.sleep(0.02)
        return None

    def memory_mb(self) -> float:
        return float(psutil.Process(self._process.pid).memory_info().rss / 1e6)

    def close(self) -> tuple[int, str]:
        """Its exit code and all that it logged."""
        self._process.terminate()
        try:
            code = self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        logged = self._log.read_text(encoding="utf-8")
        self._folder.cleanup()
        return code, logged
