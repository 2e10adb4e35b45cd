"""Restore drill: fills an installation, backs it up in both ways, destroys it, restores it, compares every number."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from bench.cost.data_world import DataWorld, make_world, roll_up, tuning
from bench.lib.product import conclude, concluding, say
from bench.restore.archive import Archive, await_archived, await_promoted, hand_over_log
from bench.restore.readings import (
    Answers,
    Readings,
    count_numbers,
    differences,
    draw_queries,
    fetch_tokens,
    is_known,
    streams_of,
)
from onlooker.demo.postgresql import kept_cluster
from testkit import Cluster, Stack, TestStream, free_ports, running_stack
from testkit.stack import PORTS

VISITS, STREAMS, DAYS, PAGES = 10_000_000, 1000, 90, 300
VISITS_PER_STREAM = 10_000
SETTINGS: dict[str, Any] = {
    "data_rate_limit_per_second": 10_000,
    "data_rate_limit_burst": 10_000,
    "data_time_limit_s": 120,
    "worker_services": "dummy",
}
CHANGED_VISITS = 2000
FILLED_LIMIT_S = 180
TOLD_DIFFERENCES = 10
URLS = ("nats_url", "public_url", "console_url", "data_url")


@dataclass
class Drill:
    """The places of a drill, and what it found."""

    folder: Path
    port: int
    figures: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Settings that an installation keeps when it is restored: its addresses."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/world"

    @contextmanager
    def cluster(self) -> Iterator[Cluster]:
        """PostgreSQL as one would set it up; it ends as in a power cut."""
        folder = self.folder / "postgresql"
        folder.mkdir(exist_ok=True)
        with kept_cluster(folder, self.port, stop="immediate") as cluster:
            yield cluster

    @contextmanager
    def product(self) -> Iterator[Stack]:
        with running_stack(self.url, home=self.home, **SETTINGS | self.places) as stack:
            names = [name for name in (*PORTS, *URLS) if name != "nats_port"]
            self.places = {name: stack.setting(name) for name in names}
            yield stack

    def compare(self, name: str, before: Answers, after: Answers) -> None:
        found = differences(before, after)
        self.figures[name] = len(found)
        for one in found[:TOLD_DIFFERENCES]:
            say(f"  {one}")

    def destroy(self) -> None:
        say("everything is destroyed: the database and the home folder")
        shutil.rmtree(self.home)
        shutil.rmtree(self.folder / "postgresql")

    def onlooker(self, *arguments: str) -> tuple[float, str]:
        """Run a command; how many seconds it took, and what it printed."""
        places = {"home": str(self.home), "database_url": self.url} | self.places
        environment = os.environ | {f"ONLOOKER_{name.upper()}": value for name, value in places.items()}
        say(f"  onlooker {' '.join(arguments)}")
        started = time.monotonic()
        command = [sys.executable, "-m", "onlooker", *arguments]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return time.monotonic() - started, done.stdout.strip()


def tune(cluster: Cluster) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        for name, value in tuning().items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    cluster.restart()


def fill(cluster: Cluster, asked: argparse.Namespace) -> DataWorld:
    say(f"{asked.visits} visits of {asked.streams} streams over {asked.days} days, and their roll-up")
    world = make_world(cluster, streams=asked.streams, days=asked.days)
    world.add_quality()
    world.add_visits(asked.visits)
    roll_up(world)
    return world


def change(stack: Stack, world: DataWorld) -> TestStream:
    """One more stream, and more visits of yesterday, which the recorder has added up."""
    yesterday = world.first_day + timedelta(days=world.days - 1)
    replace(world, first_day=yesterday, days=1).add_visits(CHANGED_VISITS)
    give_up_at = time.monotonic() + FILLED_LIMIT_S
    while stack.execute("SELECT 1 FROM visits_mark LIMIT 1"):
        if time.monotonic() > give_up_at:
            raise RuntimeError("the recorder did not fill the roll-up in time")
        time.sleep(0.5)
    return stack.create_stream()


def await_next_minute() -> datetime:
    """The minute that has just begun, for a person who says when things were still right."""
    next_minute = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    time.sleep((next_minute - datetime.now(UTC)).total_seconds() + 1)
    return next_minute


@dataclass(frozen=True)
class InstallationPast:
    """What held at three times: at the backup, between two changes, and at the end."""

    readings: Readings
    at_backup: Answers
    between: Answers
    between_at: datetime
    first: TestStream
    second: TestStream
    authority: bytes
    archive: Archive


def live(drill: Drill, asked: argparse.Namespace) -> InstallationPast:
    """An installation with a past; both ways of backup; and two changes after them, a minute between."""
    with drill.cluster() as cluster:
        tune(cluster)
        world = fill(cluster, asked)
        archive = Archive.create(drill.folder / "archive", cluster)
        hand_over_log(cluster)
        with drill.product() as stack:
            queries = draw_queries(world, count=asked.pages)
            readings = Readings(queries, fetch_tokens(stack, streams_of(stack, queries)))
            at_backup = readings.take(stack)
            drill.figures["visits"] = stack.execute("SELECT count(*) FROM visits_visit")[0][0]
            drill.figures["numbers"] = count_numbers(at_backup)
            back_up(drill, archive)
            say("two changes, with a minute between them that is known to be right")
            first = change(stack, world)
            between = readings.take(stack)
            between_at = await_next_minute()
            second = change(stack, world)
            at_end = readings.take(stack)
            drill.figures["numbers_changed"] = min(
                len(differences(at_backup, between)), len(differences(between, at_end))
            )
            drill.figures["archived_after_s"] = round(await_archived(world.url), 1)
            authority = Path(stack.ca_file).read_bytes()
    return InstallationPast(readings, at_backup, between, between_at, first, second, authority, archive)


def back_up(drill: Drill, archive: Archive) -> None:
    """Everything runs meanwhile."""
    say("backups, in both ways")
    _, recipient = drill.onlooker("backup", "key", str(drill.folder / "backup.key"))
    file, secrets = drill.folder / "onlooker.age", drill.folder / "secrets.age"
    seconds, _ = drill.onlooker("backup", "create", str(file), "--recipient", recipient)
    drill.onlooker("backup", "create", str(secrets), "--recipient", recipient, "--without-database")
    drill.figures |= {"dump_backup_s": round(seconds, 1), "dump_bytes": file.stat().st_size}
    archive.run("stanza-create")
    archive.run("check")
    drill.figures["base_backup_s"] = round(archive.run("--type=full backup"), 1)
    drill.figures["base_bytes"] = archive.bytes_kept()


def restore_dump(drill: Drill, past: InstallationPast) -> bool:
    """Into a new cluster."""
    say("restore of the dump")
    with drill.cluster() as cluster:
        tune(cluster)
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE world")
        seconds, _ = drill.onlooker("restore", str(drill.folder / "onlooker.age"), "--key", key_file(drill))
        drill.figures["dump_restore_s"] = round(seconds, 1)
        with drill.product() as stack:
            drill.compare("numbers_different", past.at_backup, past.readings.take(stack))
            streams = streams_of(stack, past.readings.queries)
            tokens = fetch_tokens(stack, streams)
            known = len(tokens) == len(past.readings.tokens) and not is_known(stack, past.first)
            return known and Path(stack.ca_file).read_bytes() == past.authority


def restore_point(drill: Drill, past: InstallationPast) -> bool:
    """To the minute between the two changes."""
    say(f"restore to {past.between_at:%H:%M}, between the two changes")
    data = drill.folder / "postgresql" / "data"
    data.mkdir(parents=True, mode=0o700)
    for path in (data.parent, data):
        shutil.chown(path, past.archive.user)
    started = time.monotonic()
    past.archive.run("--target-action=promote restore", target=past.between_at)
    with drill.cluster():
        await_promoted(drill.url)
        drill.onlooker("restore", str(drill.folder / "secrets.age"), "--key", key_file(drill), "--without-database")
        drill.onlooker("database", "clean-up")
        drill.figures["point_restore_s"] = round(time.monotonic() - started, 1)
        with drill.product() as stack:
            drill.compare("point_numbers_different", past.between, past.readings.take(stack))
            return is_known(stack, past.first) and not is_known(stack, past.second)


def key_file(drill: Drill) -> str:
    return str(drill.folder / "backup.key")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=VISITS)
    parser.add_argument("--streams", type=int, help=f"by default 1 for {VISITS_PER_STREAM} visits, at most {STREAMS}")
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--pages", type=int, default=PAGES, help="of numbers to compare")
    asked = parser.parse_args()
    asked.streams = asked.streams or max(min(asked.visits // VISITS_PER_STREAM, STREAMS), 5)
    return asked


@concluding
def main() -> None:
    asked = parse_arguments()
    folder = Path(tempfile.mkdtemp(prefix="onlooker-restore-"))
    folder.chmod(0o755)  # PostgreSQL has a user of its own
    drill = Drill(folder, free_ports(1)[0])
    try:
        past = live(drill, asked)
        drill.destroy()
        dump_ok = restore_dump(drill, past)
        drill.destroy()
        point_ok = restore_point(drill, past)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = drill.figures
    same = figures["numbers_different"] == figures["point_numbers_different"] == 0 < figures["numbers_changed"]
    targets = {"numbers_different_target": 0, "point_numbers_different_target": 0}
    passwords = {"passwords_and_authority_same": dump_ok, "streams_as_at_that_minute": point_ok}
    conclude({"ok": same and dump_ok and point_ok, **figures, **targets, **passwords})


if __name__ == "__main__":
    main()
