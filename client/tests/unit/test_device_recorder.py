"""What a device records: nothing ended is lost, nothing is sent twice, and times become right when they are known."""

from pathlib import Path

import pytest
from simulated_device import NOON, SimulatedDevice
from testkit.device_simulation import PERSON_HEX, PlannedPerson, SimulatedClocks, plan_people

from onlooker_client.device.coverage_sums import SLOT_MS
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, remembered_settings
from onlooker_client.device.journal import Journal, JournalUnwritable

pytest_plugins = ["device_cleanup"]
START_MS = round(NOON * 1000)


def person(number: int, arrives_s: float, stays_s: float) -> PlannedPerson:
    arrives_ms = START_MS + round(arrives_s * 1000)
    return PlannedPerson(f"{number:0{PERSON_HEX}x}", arrives_ms, arrives_ms + round(stays_s * 1000))


def clocks_at_noon(**others: object) -> SimulatedClocks:
    clocks = SimulatedClocks(boot=10.0, started_at=NOON - 10.0)
    for name, value in others.items():
        setattr(clocks, name, value)
    return clocks


def stays_of(device: SimulatedDevice) -> dict[str, float]:
    """Seconds by person, of what the server has."""
    return {
        visit["id"][:PERSON_HEX]: (visit["present"][-1][1] - visit["present"][0][0]) / 1000
        for visit in device.server.visits.values()
    }


@pytest.fixture
def device(tmp_path: Path) -> SimulatedDevice:
    return SimulatedDevice(tmp_path / "journal", [person(1, 5, 20), person(2, 10, 4)], clocks_at_noon())


def test_visits_arrive_with_their_times_and_are_erased(device: SimulatedDevice) -> None:
    device.run(40)
    assert device.recorder.upload()
    assert stays_of(device) == {f"{1:024x}": pytest.approx(20, abs=0.4), f"{2:024x}": pytest.approx(4, abs=0.4)}
    began = sorted(key[0] for key in device.server.visits)
    assert began == [pytest.approx(START_MS + 5_000, abs=300), pytest.approx(START_MS + 10_000, abs=300)]
    status = device.recorder.status()
    assert (status["waiting_visits"], status["dropped"]) == (0, {})
    assert device.server.totals() == {START_MS // SLOT_MS: pytest.approx(40_000, abs=10)}


def test_an_open_visit_goes_with_its_newest_revision_and_again_when_it_ended(device: SimulatedDevice) -> None:
    device.run(20)
    device.recorder.upload()
    ended = {visit["id"][:24]: visit["ended"] for visit in device.server.visits.values()}
    assert ended == {f"{1:024x}": False, f"{2:024x}": True}
    device.run(20)
    device.recorder.upload()
    assert stays_of(device)[f"{1:024x}"] == pytest.approx(20, abs=0.4)
    assert len(device.server.visits) == 2


def test_nothing_of_what_the_server_took_is_left_in_the_files(device: SimulatedDevice) -> None:
    device.run(40)
    ids = list(device.seen)
    held = b"".join(path.read_bytes() for path in device.folder.iterdir())
    assert all(visit_id.encode() in held for visit_id in ids)
    device.recorder.upload()
    held = b"".join(path.read_bytes() for path in device.folder.iterdir())
    assert not any(visit_id.encode() in held for visit_id in ids)


def test_the_files_are_their_owners_alone(device: SimulatedDevice) -> None:
    device.run(10)
    assert device.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in device.folder.iterdir()} == {0o600}


def test_removal_of_power_costs_an_open_visit_less_than_two_seconds(device: SimulatedDevice) -> None:
    for _ in range(12):
        device.run(1.4)
        device.crash()
    device.run(20)
    device.recorder.upload()
    assert set(stays_of(device)) == {f"{1:024x}", f"{2:024x}"}
    assert len(device.server.visits) == 2
    assert stays_of(device)[f"{1:024x}"] == pytest.approx(20, abs=2)


def test_after_a_restart_of_the_machine_the_last_seconds_of_an_open_visit_are_there(device: SimulatedDevice) -> None:
    device.run(20)
    device.restart(after_s=120)
    device.run(10)
    device.recorder.upload()
    assert stays_of(device)[f"{1:024x}"] == pytest.approx(15, abs=2)
    assert all(visit["ended"] for visit in device.server.visits.values())


def test_nobody_means_few_writes(device: SimulatedDevice) -> None:
    device.run(40)
    device.recorder.flush()
    writes = []
    written = device.journal.write
    device.journal.write = lambda entry: (writes.append(entry), written(entry))[1]  # type: ignore[assignment,method-assign]
    device.run(100)
    assert 3 <= len(writes) <= 5


def test_a_wrong_clock_at_the_start_is_corrected_when_the_time_is_known(tmp_path: Path) -> None:
    clocks = clocks_at_noon(synchronised=False, wall_ahead_s=-NOON)
    device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 20), person(2, 50, 30)], clocks)
    device.run(60)  # the second one is there when the time becomes known
    assert device.recorder.status()["undated_visits"] == 2
    device.recorder.upload()  # the server says its time
    device.run(60)
    device.recorder.upload()
    began = sorted(key[0] for key in device.server.visits)
    assert began == [pytest.approx(START_MS + 5_000, abs=300), pytest.approx(START_MS + 50_000, abs=300)]
    assert stays_of(device)[f"{2:024x}"] == pytest.approx(30, abs=0.4)
    assert sum(device.server.totals().values()) == pytest.approx(120_000, abs=50)


@pytest.mark.parametrize("years", [-2, 2])
def test_a_jump_of_the_clock_while_running_moves_nothing(tmp_path: Path, years: int) -> None:
    device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 60)], clocks_at_noon())
    device.run(30)
    device.clocks.wall_ahead_s, device.clocks.synchronised = years * 365.0 * 86_400, False
    device.run(10)
    device.crash()  # the process starts again, with the wrong clock
    device.run(40)
    device.recorder.upload()
    assert [key[0] for key in device.server.visits] == [pytest.approx(START_MS + 5_000, abs=300)]
    assert stays_of(device)[f"{1:024x}"] == pytest.approx(60, abs=2)


def test_visits_of_an_earlier_start_that_never_knew_the_time_are_counted(tmp_path: Path) -> None:
    clocks = clocks_at_noon(synchronised=False, wall_ahead_s=-NOON)
    device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 20), person(2, 300, 20)], clocks)
    device.run(40)
    device.restart(after_s=200)
    device.run(120)
    device.recorder.upload()
    assert set(stays_of(device)) == {f"{2:024x}"}
    assert device.recorder.status()["dropped"]["visits"] == {"clock_unknown": 1}
    assert "clock_unknown" in dict(device.said)
    refused = [slot["refused"]["clock_unknown"] for slot in device.server.coverage.values() if "refused" in slot]
    (frames,) = refused
    assert 100 <= frames <= 200  # of 40 seconds; the last ones were not written when the power went


def test_a_clock_on_a_battery_dates_earlier_starts(tmp_path: Path) -> None:
    clocks = clocks_at_noon(synchronised=False, battery=NOON)
    device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 20)], clocks)
    device.run(40)
    clocks.battery = clocks.true_s() + 200
    device.restart(after_s=200)
    device.run(10)
    device.recorder.upload()
    assert [key[0] for key in device.server.visits] == [pytest.approx(START_MS + 5_000, abs=1_500)]


def test_retention_holds_on_the_device(tmp_path: Path) -> None:
    device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 20)], clocks_at_noon())
    device.server.retention_days = 2
    device.recorder.upload()
    device.run(40)
    device.clocks.advance(3 * 86_400)
    device.run(5)
    assert device.recorder.status()["waiting_visits"] == 0
    assert device.recorder.status()["dropped"]["visits"] == {"too_old": 1}


def test_a_full_journal_drops_the_oldest_with_a_count_and_a_gap(tmp_path: Path) -> None:
    people = plan_people(500, begins_ms=START_MS, ends_ms=START_MS + 3 * SLOT_MS, seed=3)
    device = SimulatedDevice(tmp_path / "journal", people, clocks_at_noon(), limit_bytes=160_000)
    device.run(3 * SLOT_MS / 1000)
    device.run(120)
    assert device.recorder.status()["journal_bytes"] < 2_000_000
    dropped = device.recorder.status()["dropped"]["visits"]["journal_full"]
    device.recorder.upload()
    assert dropped + len(device.server.visits) == len(device.seen)
    gaps = {slot["slot"] for slot in device.server.coverage.values() if "journal_full" in slot.get("refused", {})}
    assert gaps
    assert all(
        slot["watched_s"] == 0
        for (_, number), slot in device.server.coverage.items()
        if number in gaps and number < max(gaps)
    )
    assert all(key[0] // SLOT_MS not in gaps or key[0] // SLOT_MS == max(gaps) for key in device.server.visits)


def test_only_one_agent_uses_a_journal(device: SimulatedDevice) -> None:
    with pytest.raises(Exception, match=r"Another agent is using the journal in .*--journal FOLDER"):
        Journal(device.folder)


def test_settings_of_the_stream_are_remembered(device: SimulatedDevice) -> None:
    device.recorder.upload()
    assert remembered_settings(device.journal)["compute"] == "device"
    device.crash()
    assert device.recorder.settings()["retention_days"] == 90


def test_a_disk_that_takes_nothing_costs_nothing_once_it_takes_again(
    device: SimulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise JournalUnwritable("database or disk is full")

    device.run(8)
    with monkeypatch.context() as patched:
        patched.setattr(device.journal, "write", fail)
        device.run(20)
        assert "disk is full" in device.recorder.status()["journal_trouble"]
    device.run(20)
    device.recorder.upload()
    assert stays_of(device) == {f"{1:024x}": pytest.approx(20, abs=0.4), f"{2:024x}": pytest.approx(4, abs=0.4)}
    assert [event for event, _ in device.said] == ["journal", "journal"]


def test_a_journal_of_another_stream_is_not_sent(device: SimulatedDevice) -> None:
    device.recorder.upload()
    device.run(40)
    device.server.client_id = "another"
    device.recorder.use(device.server)  # type: ignore[arg-type]
    assert not device.recorder.upload()
    assert not device.server.visits
    assert "belongs to another stream" in device.recorder.status()["upload_trouble"]


def test_what_the_computing_process_says_is_not_believed(device: SimulatedDevice) -> None:
    from onlooker_client.device.computed_frame import ComputedFrame

    at_ms = round(device.clock.stamp(device.clocks.monotonic_s()) * 1000)
    bad = [{}, {"id": "1", "revision": "x", "ended": 1, "present": [[1, 2]]}, {"id": "1", "revision": 1, "ended": 1}]
    nan = {"id": "2", "revision": 1, "ended": True, "present": [[at_ms, at_ms + 1]], "age": float("nan")}
    device.recorder.add(ComputedFrame(at_ms, visits=[*bad, nan], video_s=float("nan"), state=b"x"))
    assert device.recorder.upload()
    assert device.recorder.status()["dropped"]["visits"] == {"bad_value": 4}


def test_a_journal_that_cannot_be_opened_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("onlooker_client.device.journal_file._connect", fail)
        device = SimulatedDevice(tmp_path / "journal", [person(1, 5, 20)], clocks_at_noon())
        device.run(10)
    device.run(30)
    device.recorder.upload()
    assert stays_of(device) == {f"{1:024x}": pytest.approx(20, abs=0.4)}


def test_a_recorder_without_a_server_keeps_everything(tmp_path: Path) -> None:
    recorder = DeviceRecorder(Journal(tmp_path), None, DeviceClock(clocks_at_noon()))
    assert not recorder.upload()
    recorder.start()
    recorder.close(timeout_s=5)
