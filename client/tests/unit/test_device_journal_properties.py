"""Any order of filming, crashes, restarts, uploads and faults of the line: each person's visit arrives exactly once."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulated_device import NOON, SimulatedDevice
from testkit.device_simulation import PERSON_HEX, SimulatedClocks, plan_people

pytest_plugins = ["device_cleanup"]
START_MS = round(NOON * 1000)
LOST_S = 2.0
STEPS = st.one_of(
    st.tuples(st.just("run"), st.floats(0.2, 12.0)),
    st.tuples(st.just("crash"), st.just(0.0)),
    st.tuples(st.just("upload"), st.just(0.0)),
    st.tuples(st.just("jump"), st.sampled_from([-6.3e7, 6.3e7, -NOON])),
    st.tuples(st.sampled_from(["down", "lost", "busy"]), st.just(0.0)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=5, max_size=40), seed=st.integers(0, 999), is_known=st.booleans())
def test_every_visit_arrives_once(steps: list[tuple[str, float]], seed: int, is_known: bool) -> None:
    people = plan_people(12, begins_ms=START_MS, ends_ms=START_MS + 120_000, seed=seed)
    clocks = SimulatedClocks(started_at=NOON - 10.0, synchronised=is_known, wall_ahead_s=0.0 if is_known else -NOON)
    with tempfile.TemporaryDirectory() as folder:
        device = SimulatedDevice(Path(folder) / "journal", people, clocks)
        crashes = play(device, steps)
        device.run(180)
        device.server.faults.clear()
        assert device.recorder.upload()
        check(device, crashes)
        device.stop()


def play(device: SimulatedDevice, steps: list[tuple[str, float]]) -> list[float]:
    """When it crashed."""
    crashes = []
    for what, amount in steps:
        if what == "run":
            device.run(amount)
        elif what == "crash":
            crashes.append(device.clocks.true_s())
            device.crash()
        elif what == "upload":
            device.recorder.upload()
        elif what == "jump":
            device.clocks.wall_ahead_s, device.clocks.synchronised = amount, False
        else:
            device.server.faults.append(what)
    return crashes


def check(device: SimulatedDevice, crashes: list[float]) -> None:
    visits = device.server.visits
    ids = [visit_id for _, visit_id in visits]
    assert len(set(ids)) == len(ids)
    assert len({visit_id[:PERSON_HEX] for visit_id in ids}) == len(ids)  # nobody is there twice
    assert all(visit["ended"] for visit in visits.values())
    assert device.recorder.status()["waiting_visits"] == 0
    seen: dict[str, list[float]] = {}
    for visit_id, moments in device.seen.items():
        seen.setdefault(visit_id[:PERSON_HEX], []).extend(moments)
    found = {visit_id[:PERSON_HEX]: visit for (_, visit_id), visit in visits.items()}
    for person, moments in seen.items():
        lost_s = LOST_S * sum(moments[0] <= at <= moments[-1] + 0.2 for at in crashes)
        if person not in found:
            assert moments[-1] - moments[0] <= lost_s + 1.0, "a visit is lost"
            continue
        present = found[person]["present"]
        assert abs(present[0][0] / 1000 - moments[0]) <= lost_s + 0.25
        assert abs(present[-1][1] / 1000 - moments[-1]) <= lost_s + 0.45
    watched_s = sum(device.server.totals().values()) / 1000
    frames = 0.2 * round((device.clocks.boot - 10.0) / 0.2)
    assert frames - 20.5 * len(crashes) - 0.5 <= watched_s <= frames + 0.5
