"""A journal that is torn, flipped, cut or nothing at all: the device goes on, and says what is lost."""

import random
from pathlib import Path

import pytest
from simulated_device import NOON, SimulatedDevice
from testkit.device_simulation import SimulatedClocks, plan_people

pytest_plugins = ["device_cleanup"]
START_MS = round(NOON * 1000)


@pytest.fixture
def filled(tmp_path: Path) -> SimulatedDevice:
    people = plan_people(60, begins_ms=START_MS, ends_ms=START_MS + 200_000, seed=7)
    device = SimulatedDevice(tmp_path / "journal", people, SimulatedClocks(started_at=NOON - 10.0))
    device.run(100)
    return device


def go_on_with(device: SimulatedDevice, name: str, content: bytes) -> None:
    """With a file of the journal replaced, as after a torn write."""
    device.journal.close()
    (device.folder / name).write_bytes(content)
    device.begin()
    device.run(150)
    assert device.recorder.upload(), device.recorder.status()


def test_a_file_that_is_no_journal_is_replaced(filled: SimulatedDevice) -> None:
    before = len(filled.journal.waiting_visits(500))
    go_on_with(filled, "journal.db", random.Random(1).randbytes(60_000))
    assert "journal_damaged" in dict(filled.said)
    assert filled.recorder.status()["dropped"]["journals"] == {"damaged": 1}
    assert len(filled.server.visits) >= 60 - before - 12
    assert len(set(filled.server.visits)) == len({visit_id for _, visit_id in filled.server.visits})


def test_what_is_cut_off_is_lost_and_the_rest_is_sent(filled: SimulatedDevice) -> None:
    filled.journal.close()
    content = (filled.folder / "journal.db").read_bytes()
    go_on_with(filled, "journal.db", content[: len(content) // 2 // 4096 * 4096])
    assert len(filled.server.visits) > 20
    assert filled.recorder.status()["journal_trouble"] is None


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_never_stop_the_device(filled: SimulatedDevice, seed: int) -> None:
    filled.journal.close()
    chance = random.Random(seed)
    content = bytearray((filled.folder / "journal.db").read_bytes())
    for _ in range(20):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    go_on_with(filled, "journal.db", bytes(content))
    assert filled.recorder.status()["waiting_visits"] == 0
    for (began_ms, visit_id), visit in filled.server.visits.items():
        assert visit_id in filled.seen  # a row that was flipped is not believed
        assert began_ms / 1000 == pytest.approx(filled.seen[visit_id][0], abs=0.5)
        assert visit["age"] == 30.0


def test_a_torn_log_loses_no_more_than_its_end(filled: SimulatedDevice) -> None:
    filled.run(5)
    folder = filled.folder
    filled._copies += 1
    log = (folder / "journal.db-wal").read_bytes()
    files = {"journal.db": (folder / "journal.db").read_bytes(), "journal.db-wal": log[: len(log) - 2000]}
    filled.journal.close()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    filled.begin()
    filled.run(150)
    assert filled.recorder.upload()
    assert filled.journal.damages == 0
    assert len({visit_id[:24] for _, visit_id in filled.server.visits}) == 60


def test_a_new_journal_counts_coverage_under_another_name(filled: SimulatedDevice) -> None:
    filled.recorder.upload()
    watched_ms = sum(filled.server.totals().values())
    device = filled.journal.device()
    go_on_with(filled, "journal.db", b"nothing" * 1000)
    assert filled.journal.device() != device
    assert sum(filled.server.totals().values()) == pytest.approx(watched_ms + 150_000, abs=21_000)


def test_damage_while_running_is_noticed_and_cured(filled: SimulatedDevice) -> None:
    path = filled.folder / "journal.db"
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = bytes(200)
    filled.journal._file.connection.execute("PRAGMA cache_size = 0")
    path.write_bytes(bytes(content))
    filled.run(150)
    assert filled.recorder.upload() or filled.recorder.upload()
    assert filled.journal.damages <= 2
    assert filled.recorder.status()["journal_trouble"] is None
