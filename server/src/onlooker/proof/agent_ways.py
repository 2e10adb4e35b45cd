"""The ways of a device: the agent sends a film's frames, sends a recording, or computes by itself."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from onlooker.proof.file_watch import FileWatch
from onlooker.proof.installation import Installation, ProofStream

RUN_S = 12.0
STORED_LIMIT_S = 100.0
"""Until visits are stored: a device that computes delivers them within a minute."""
STOP_LIMIT_S = 30.0
ANALYSE_LIMIT_S = 180.0
FOLDERS = ("tmp", "config", "state", "cache")


@dataclass
class DeviceRun:
    """What an agent did with a film, and what it wrote meanwhile."""

    way: str
    stream: ProofStream
    contents: list[tuple[Path, bytes]] = field(default_factory=list)
    """Of all files in its home, also of those that it deleted or overwrote."""
    visits: int = 0
    faults: list[str] = field(default_factory=list)


def find_agent(name: str) -> str | None:
    """Beside this Python, or on the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


class ProofDevice:
    """A device of its own: a home, a stream and a film."""

    def __init__(self, installation: Installation, way: str, film: Path) -> None:
        self._installation, self._film = installation, film
        self._home = installation.folder / way
        for part in FOLDERS:
            (self._home / part).mkdir(parents=True)
        self.ran = DeviceRun(way, installation.create_stream(reads_expression=True))

    def run(self, program: str) -> DeviceRun:
        """`agent` and `device` run until somebody was counted; `analyse` ends by itself."""
        with FileWatch([self._home]) as watch, (self._home / "agent.log").open("wb") as log:
            process = subprocess.Popen([program, *self._arguments()], env=self._environment(), stdout=log, stderr=log)
            try:
                self._wait(process)
                process.terminate()
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired as error:
                self.ran.faults.append(f"it did not end within {error.timeout:.0f} seconds")
            finally:
                process.kill()
                code = process.wait()
        self.ran.contents = watch.contents
        if code != 0 or not self.ran.visits:
            told = (self._home / "agent.log").read_text(errors="replace")[-400:]
            self.ran.faults.append(f"ended with {code}, {self.ran.visits} visits: {told}")
        return self.ran

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        began = time.monotonic()
        if self.ran.way == "analyse":
            process.wait(ANALYSE_LIMIT_S)
        else:
            time.sleep(RUN_S)
        while not self.ran.visits and time.monotonic() - began < STORED_LIMIT_S and process.poll() in (None, 0):
            time.sleep(1.0)
            self.ran.visits = self._count_visits()

    def _count_visits(self) -> int:
        counted = self._installation.query(
            "SELECT count(*) FROM visits_visit WHERE stream_id = %s", [self.ran.stream.id]
        )
        return int(counted[0][0])

    def _arguments(self) -> list[str]:
        if self.ran.way == "analyse":
            filmed = (self._installation.clock() - timedelta(minutes=1)).isoformat(timespec="seconds")
            return ["analyse", str(self._film), "--end", filmed, "--json"]
        compute = "device" if self.ran.way == "device" else "server"
        return ["run", str(self._film), "--loop", "--compute", compute]

    def _environment(self) -> dict[str, str]:
        """Nothing of the installation's but the way to it."""
        home, stream, trusted = self._home, self.ran.stream, self._installation.trusted_file
        known = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "PYTHONPATH") if name in os.environ}
        places = {
            "HOME": home,
            "TMPDIR": home / "tmp",
            "XDG_CONFIG_HOME": home / "config",
            "XDG_STATE_HOME": home / "state",
            "XDG_CACHE_HOME": home / "cache",
        }
        known |= {name: str(path) for name, path in places.items()}
        known |= {"ONLOOKER_CA_FILE": str(trusted)} if trusted else {}
        return known | {
            "ONLOOKER_URL": self._installation.gateway_url,
            "ONLOOKER_CLIENT_ID": stream.client_id,
            "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        }
