"""`onlooker prove` sweeps its own visits on a clock moved forward: what stays beyond totals breaks a promise."""

import asyncio
import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics.rollup import fill_slots
from onlooker.proof import retention_sweep
from onlooker.proof.check import Unchecked
from onlooker.proof.installation import Installation, ProofStream
from onlooker.proof.places import StoragePlace
from onlooker.proof.retention_sweep import (
    DEVICES,
    ESTIMATES,
    ON_TIME,
    PEOPLE,
    RETENTION_DAYS,
    TOTALS,
    SweptPeople,
    check_retention,
    make_people,
)
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]

_sweep = retention_sweep.sweep


class SomePlaces:
    """Places with what a test puts there."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def places(self) -> list[StoragePlace]:
        return [
            StoragePlace(name, lambda _, name=name: iter([("part", self.contents[name])])) for name in self.contents
        ]


class BareInstallation(Installation):
    """A database without the product around it."""

    def create_stream(self, **chosen: Any) -> ProofStream:
        number = create_stream(self.settings.database_url, retention_days=chosen["retention_days"])
        made = ProofStream(number, str(uuid.uuid4()), "secret", 0, "proof@localhost")
        self.streams.append(made)
        return made


@pytest.fixture
def places() -> SomePlaces:
    return SomePlaces()


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> list[SweptPeople]:
    """Those of the check, as soon as there are some."""
    made: list[SweptPeople] = []

    def make(*given: Any) -> SweptPeople:
        made.append(make_people(*given))
        return made[0]

    monkeypatch.setattr(retention_sweep, "make_people", make)
    return made


@pytest.fixture
def installation(url: str, tmp_path: Path, places: SomePlaces, monkeypatch: pytest.MonkeyPatch) -> BareInstallation:
    def fill(installation: Installation, streams: list[int]) -> None:
        """As the recorder does it half a minute later."""

        async def act(pool: Pool) -> None:
            while await fill_slots(pool, due_s=0):
                pass

        with_pool(url, act)

    monkeypatch.setattr(retention_sweep, "_await_totals", fill)
    settings = Settings(database_url=url, home=str(tmp_path / "home"))
    bare = BareInstallation(settings, tmp_path, print)
    vars(bare)["storage"] = places
    return bare


def execute(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []


def test_only_totals_stay_and_other_streams_keep_theirs(url: str, installation: BareInstallation) -> None:
    other = visit(create_stream(url, retention_days=1))

    async def write(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([other])

    with_pool(url, write)
    finding = check_retention(installation)
    assert finding.ok, finding.found
    assert finding.figures["people_in_totals"] == PEOPLE
    assert execute(url, "SELECT stream_id FROM visits_visit") == [(other.stream_id,)]
    assert execute(url, "SELECT stream_id FROM visits_kept") == [(installation.streams[0].id,)]


def test_visits_that_stay_break_the_promise(installation: BareInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def leave(*given: object, **named: object) -> None:
        """Nothing is swept."""

    monkeypatch.setattr(retention_sweep, "sweep", leave)
    finding = check_retention(installation)
    assert not finding.ok
    assert set(finding.broken) == {*ON_TIME, *TOTALS}
    assert f"{PEOPLE} visits are still there after their retention." in finding.found
    assert f"visits_visit {PEOPLE}" in finding.found


def test_visits_that_go_too_early_break_the_promise(
    installation: BareInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hurry(settings: Settings, retentions: dict[int, int], *, now: datetime) -> None:
        await _sweep(settings, retentions, now=now + timedelta(days=RETENTION_DAYS + 1))

    monkeypatch.setattr(retention_sweep, "sweep", hurry)
    finding = check_retention(installation)
    assert set(finding.broken) == set(ON_TIME)
    assert f"{PEOPLE} visits went before their retention was over." in finding.found


def test_totals_that_are_not_rounded_break_the_promise(url: str, installation: BareInstallation) -> None:
    execute(url, "ALTER TABLE visits_kept DISABLE TRIGGER USER")
    try:
        finding = check_retention(installation)
    finally:
        execute(url, "ALTER TABLE visits_kept ENABLE TRIGGER USER")
    assert set(finding.broken) == set(TOTALS)
    assert "finer than a quarter of an hour" in finding.found


def test_id_that_stays_in_another_table_breaks_the_promise(
    url: str, installation: BareInstallation, people: list[SweptPeople], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keep_one(settings: Settings, retentions: dict[int, int], *, now: datetime) -> None:
        await _sweep(settings, retentions, now=now)
        statement = """INSERT INTO visits_putaside (stream_id, visit_id, reason, detail, payload, put_aside_at)
                       VALUES (%s, %s, 'refused', '', '', now())"""
        await asyncio.to_thread(execute, url, statement, people[0].stream_id, uuid.UUID(bytes=people[0].visits[0].id))

    monkeypatch.setattr(retention_sweep, "sweep", keep_one)
    finding = check_retention(installation)
    assert set(finding.broken) == set(TOTALS)
    assert "visits_putaside" in finding.found


def test_what_devices_told_that_stays_breaks_the_promise(
    url: str, installation: BareInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tell_again(settings: Settings, retentions: dict[int, int], *, now: datetime) -> None:
        await _sweep(settings, retentions, now=now)
        statement = """INSERT INTO streams_devicecoverage
                              (stream_id, slot_at, device, revision, watched_s, counted_s, sums, first_at, last_at)
                       VALUES (%s, date_bin('15 minutes', now(), 'epoch'), gen_random_uuid(), 1, 9, 9, '{}', now(),
                               now())"""
        await asyncio.to_thread(execute, url, statement, next(iter(retentions)))

    monkeypatch.setattr(retention_sweep, "sweep", tell_again)
    assert set(check_retention(installation).broken) == set(DEVICES)


def test_visit_with_a_face_breaks_the_promise(url: str, installation: BareInstallation) -> None:
    execute(url, "ALTER TABLE visits_visit ADD COLUMN face bytea")
    try:
        finding = check_retention(installation)
    finally:
        execute(url, "ALTER TABLE visits_visit DROP COLUMN face")
    assert set(finding.broken) == set(ESTIMATES)
    assert "columns that nobody knows: face" in finding.found


def test_bytes_in_freed_room_are_told_and_bytes_elsewhere_break_the_promise(
    installation: BareInstallation, places: SomePlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*given: Any) -> SweptPeople:
        made = make_people(*given)
        places.contents["database"] = bytes(100) + made.visits[0].id + bytes(100)
        places.contents["temporary folders"] = str(uuid.UUID(bytes=made.visits[1].id)).encode()
        return made

    monkeypatch.setattr(retention_sweep, "make_people", make)
    finding = check_retention(installation)
    assert set(finding.broken) == set(ON_TIME)
    assert "Bytes of deleted visits are in temporary folders: part." in finding.found
    assert finding.figures["freed_bytes_of"] == 1
    assert "database: part" in finding.limits[-1]


def test_without_a_recorder_it_can_not_be_checked(
    url: str, tmp_path: Path, places: SomePlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention_sweep, "FILLED_WITHIN_S", 0.1)
    bare = BareInstallation(Settings(database_url=url, home=str(tmp_path)), tmp_path, print)
    vars(bare)["storage"] = places
    with pytest.raises(Unchecked, match="recorder did not fill the totals"):
        check_retention(bare)
