"""A PostgreSQL server of our own, in a folder."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL server that can be restarted and tuned."""

    programs: Path
    data: Path
    port: int
    user: str
    tuning: tuple[str, ...] = ()
    """Settings of the server, as `name=value`."""

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def control(self, *arguments: str) -> None:
        """Run pg_ctl as the cluster's user; PostgreSQL refuses to run as root."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.data}"
        options += "".join(f" -c {setting}" for setting in self.tuning)
        command = [str(self.programs / "pg_ctl"), "-D", str(self.data), "-o", options, "-w", "-l"]
        log = str(self.data / "server.log")
        subprocess.run([*command, log, *arguments], check=True, user=self.user, stdout=subprocess.DEVNULL, cwd="/")

    def restart(self) -> None:
        self.control("restart", "-m", "fast")


@contextmanager
def kept_cluster(folder: Path, port: int, *tuning: str, stop: str = "fast") -> Iterator[Cluster]:
    """The cluster in a folder, on a port; created if there is none, and stopped on leaving."""
    programs, user = _find_programs(), "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    shutil.chown(folder, user)
    cluster = Cluster(programs, folder / "data", port, user, tuning)
    if not (cluster.data / "PG_VERSION").exists():
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        options += ["--no-sync"] if "fsync=off" in tuning else []
        command = [str(programs / "initdb"), "-D", str(cluster.data), *options]
        subprocess.run(command, check=True, user=user, stdout=subprocess.DEVNULL, cwd="/")
    cluster.control("start")
    try:
        yield cluster
    finally:
        cluster.control("stop", "-m", stop)


def _find_programs() -> Path:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = programs[-1] if programs else shutil.which("initdb")
    if not found:
        raise RuntimeError("PostgreSQL's programs are missing. Install them with: apt-get install postgresql")
    return Path(found).parent
