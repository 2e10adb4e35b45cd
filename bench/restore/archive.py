"""pgBackRest with the files of `deploy/pgbackrest` and the commands of the guide, in folders of a drill's own."""

import os
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psycopg

from bench.lib.product import ROOT, say
from testkit import Cluster

FILES = ROOT / "deploy" / "pgbackrest"
GUIDE = ROOT / "docs" / "guides" / "backup.md"
AS_POSTGRES = "sudo -u postgres "
TARGET = '"2030-01-31 14:05:00+00"'
"""The moment in the guide's command."""
ARCHIVED_LIMIT_S = 150
"""A piece of the log is handed over after a minute at the latest."""
PROMOTED_LIMIT_S = 1800


@dataclass(frozen=True)
class Archive:
    """A repository of pgBackRest, for the cluster in a folder; the variables move what the files say to it."""

    folder: Path
    user: str

    @classmethod
    def create(cls, folder: Path, cluster: Cluster) -> "Archive":
        """From now on every program that this process starts finds it; PostgreSQL too, once it is restarted."""
        if not shutil.which("pgbackrest"):
            raise RuntimeError("pgBackRest is missing. Install it with: apt-get install pgbackrest")
        for name in ("conf.d", "repository", "lock", "spool"):
            (folder / name).mkdir(parents=True)
        cipher = folder / "conf.d" / "cipher.conf"
        cipher.touch(mode=0o600)
        cipher.write_text(f"[global]\nrepo1-cipher-pass={secrets.token_urlsafe(48)}\n")
        shutil.copy(FILES / "pgbackrest.conf", folder)
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, cluster.user)
        os.environ |= {
            "PGBACKREST_CONFIG": str(folder / "pgbackrest.conf"),
            "PGBACKREST_CONFIG_INCLUDE_PATH": str(folder / "conf.d"),
            "PGBACKREST_REPO1_PATH": str(folder / "repository"),
            "PGBACKREST_LOCK_PATH": str(folder / "lock"),
            "PGBACKREST_SPOOL_PATH": str(folder / "spool"),
            "PGBACKREST_LOG_LEVEL_FILE": "off",
            "PGBACKREST_PG1_PATH": str(cluster.data),
            "PGBACKREST_PG1_USER": "postgres",
            "PGBACKREST_PG1_PORT": str(cluster.port),
            "PGBACKREST_PG1_SOCKET_PATH": str(cluster.data),
        }
        return cls(folder, cluster.user)

    def run(self, ending: str, *, target: datetime | None = None) -> float:
        """The guide's command that ends like this; how many seconds it took."""
        command = guide_command(ending)
        if target:
            assert TARGET in command
            command = command.replace(TARGET, f'"{target.isoformat(sep=" ", timespec="seconds")}"')
        say(f"  {command}")
        started = time.monotonic()
        subprocess.run(["bash", "-c", command], check=True, user=self.user, cwd="/", stdout=subprocess.DEVNULL)
        return time.monotonic() - started

    def bytes_kept(self) -> int:
        return sum(path.stat().st_size for path in (self.folder / "repository").rglob("*") if path.is_file())


def guide_command(ending: str) -> str:
    """The line of the guide that runs pgBackRest and ends like this, as it is after `sudo`."""
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith(f"{AS_POSTGRES}pgbackrest ") and line.endswith(f" {ending}")]
    assert len(found) == 1, f"{GUIDE} has {len(found)} commands that end with {ending}"
    return found[0].removeprefix(AS_POSTGRES)


def hand_over_log(cluster: Cluster) -> None:
    """Have PostgreSQL archive its log, by the lines of `deploy/pgbackrest`."""
    with (cluster.data / "postgresql.conf").open("a") as file:
        file.write((FILES / "postgresql.conf").read_text())
    cluster.restart()


def await_archived(url: str) -> float:
    """Until all that is written by now is in the archive; how many seconds that took."""
    started = time.monotonic()
    with psycopg.connect(url, autocommit=True) as connection:
        written = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchone()
        query = "SELECT count(*) FROM pg_stat_archiver WHERE substr(last_archived_wal, 1, 24) >= %s"
        while connection.execute(query, written).fetchone() != (1,):
            if time.monotonic() - started > ARCHIVED_LIMIT_S:
                raise RuntimeError("PostgreSQL did not hand its log to pgBackRest in time; see server.log")
            time.sleep(0.5)
    return time.monotonic() - started


def await_promoted(url: str) -> None:
    """Until a server that recovers has come to its target and can be written to."""
    give_up_at = time.monotonic() + PROMOTED_LIMIT_S
    while True:
        with psycopg.connect(url, autocommit=True) as connection:
            if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
                return
        if time.monotonic() > give_up_at:
            raise RuntimeError("PostgreSQL did not come to the moment that it was restored to; see server.log")
        time.sleep(0.5)
