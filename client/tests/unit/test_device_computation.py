"""The computing process of a device: the pipeline's own visits, and what happens when it dies, hangs or lies."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from computing_programs import write_program
from testkit.pictures import empty_wall, on_a_wall, portrait

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.device import computation as module
from onlooker_client.device.computation import Computation
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.errors import ConfigError

pytest.importorskip("onlooker_pipeline")
cv2: Any = pytest.importorskip("cv2")
numpy: Any = pytest.importorskip("numpy")

NETS_KB = 20_000
"""The nets that read faces take more."""
STARTED_AT = datetime(2026, 5, 4, 9, tzinfo=timezone.utc)


def grey(image: bytes) -> Any:
    return cv2.imdecode(numpy.frombuffer(image, numpy.uint8), cv2.IMREAD_GRAYSCALE)


SHOWN, EMPTY = grey(on_a_wall(portrait(), left=200, top=100)), grey(empty_wall())
FRAMES = [(SHOWN if 2 <= number < 16 else EMPTY, STARTED_AT + timedelta(seconds=number / 5)) for number in range(22)]


class Heard:
    """The frames that a computation gave back, and a computation that is asked one frame after another."""

    def __init__(self, options: ComputeOptions, state: bytes | None = None) -> None:
        self.frames: list[ComputedFrame] = []
        self.told: list[str] = []
        self.computation = Computation(options, state=state, on_frame=self.frames.append, tell=self.told.append)

    def compute(self, pixels: Any, taken_at: datetime) -> ComputedFrame:
        await_true(lambda: self.computation.refusal(time.monotonic()) is None, 60, "it is ready")
        count = len(self.frames)
        self.computation.compute(pixels, taken_at.timestamp())
        await_true(lambda: len(self.frames) > count, 30, "the answer")
        return self.frames[-1]

    def close(self, *, source_ended: bool = True) -> list[ComputedFrame]:
        last = self.computation.close(source_ended=source_ended)
        self.frames += last
        return last

    @property
    def visits(self) -> list[dict[str, Any]]:
        """Each in its last revision."""
        return list({visit["id"]: visit for frame in self.frames for visit in frame.visits}.values())

    @property
    def state(self) -> bytes:
        return next(frame.state for frame in reversed(self.frames) if frame.state)


@contextmanager
def running(options: ComputeOptions | None = None, state: bytes | None = None) -> Iterator[Heard]:
    heard = Heard(options or ComputeOptions(reads_expression=True), state)
    try:
        heard.computation.start()
        yield heard
    finally:
        heard.computation.close()


def without_id(visit: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in visit.items() if name not in ("id", "revision")}


def expected_visits() -> list[dict[str, Any]]:
    from onlooker_pipeline.scene_session import find_visits

    from onlooker_client.device.compute_program import describe_visit

    return [describe_visit(visit) for visit in find_visits(FRAMES)]


def test_it_finds_what_the_pipeline_finds() -> None:
    with running() as heard:
        for pixels, taken_at in FRAMES:
            heard.compute(pixels, taken_at)
        heard.close()
    assert [without_id(visit) for visit in heard.visits] == [without_id(visit) for visit in expected_visits()]
    assert heard.visits[0]["ended"]
    assert sum(frame.video_s for frame in heard.frames) == pytest.approx(1 / 30 + 21 * 0.2)
    assert heard.frames[0].quality is not None
    assert heard.frames[0].quality.pipeline


def test_it_has_no_files_no_network_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", "a-secret")
    with running() as heard:
        assert heard.computation.is_confined
        status = Path(f"/proc/{heard.computation.pid}/status").read_text(encoding="utf-8")
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert facts["Seccomp"] == "2"
        assert facts["NoNewPrivs"] == "1"


def test_what_may_not_be_read_is_not_read() -> None:
    with running(ComputeOptions(reads_age=False, reads_gender=False)) as heard:
        for pixels, taken_at in FRAMES:
            heard.compute(pixels, taken_at)
        heard.close()
    (visit,) = heard.visits
    assert not {"age", "gender", "expression"} & visit.keys()


def test_a_device_that_only_counts_finds_bodies_and_holds_no_other_net() -> None:
    sizes_kb = {}
    for reads_faces in (True, False):
        with running(ComputeOptions(reads_faces=reads_faces)) as heard:
            answers = [heard.compute(pixels, taken_at) for pixels, taken_at in FRAMES]
            status = Path(f"/proc/{heard.computation.pid}/status").read_text(encoding="utf-8")
            sizes_kb[reads_faces] = int(status.partition("VmRSS:")[2].split()[0])
            heard.close()
        assert any(answer.result["entities"] for answer in answers) is reads_faces
    assert not any("looking" in visit for visit in heard.visits)
    assert sizes_kb[True] - sizes_kb[False] > NETS_KB


def test_a_frame_is_refused_while_one_is_computed() -> None:
    with running() as heard:
        heard.computation.compute(SHOWN, STARTED_AT.timestamp())
        assert heard.computation.refusal(time.monotonic()) is Drop.BUSY
        await_true(lambda: heard.computation.refusal(time.monotonic()) is None, 30, "the answer")


def test_one_that_dies_is_started_again_and_goes_on_with_the_same_people() -> None:
    with running() as heard:
        for pixels, taken_at in FRAMES[:12]:
            heard.compute(pixels, taken_at)
        before = heard.visits[0]["id"]
        assert heard.computation.pid
        os.kill(heard.computation.pid, signal.SIGKILL)
        lost = heard.compute(*FRAMES[12]) if heard.computation.is_ready else None
        for pixels, taken_at in FRAMES[13:]:
            heard.compute(pixels, taken_at)
        heard.close()
    assert lost is None or lost.refused == "failed" or lost.result
    assert heard.computation.restarts == 1
    assert [visit["id"] for visit in heard.visits] == [before]
    assert any("started again" in text for text in heard.told)
    revisions = [visit["revision"] for frame in heard.frames for visit in frame.visits]
    assert revisions == sorted(set(revisions))


def test_the_frame_that_it_takes_along_is_counted() -> None:
    with running() as heard:
        heard.compute(*FRAMES[0])
        assert heard.computation.pid
        os.kill(heard.computation.pid, signal.SIGSTOP)
        heard.computation.compute(*[FRAMES[1][0], FRAMES[1][1].timestamp()])
        os.kill(heard.computation.pid, signal.SIGKILL)
        await_true(lambda: len(heard.frames) == 2, 20, "the lost frame")
        assert heard.frames[1].refused == "failed"
        assert heard.compute(*FRAMES[2]).result


def test_a_stop_leaves_the_visit_open_and_the_next_run_goes_on() -> None:
    with running() as heard:
        for pixels, taken_at in FRAMES[:12]:
            heard.compute(pixels, taken_at)
        (last,) = heard.close(source_ended=False)
    assert not last.visits
    assert last.state
    with running(state=last.state) as after:
        for pixels, taken_at in FRAMES[12:]:
            after.compute(pixels, taken_at)
        after.close()
    assert after.visits[0]["id"] == heard.visits[0]["id"]
    assert [without_id(visit) for visit in after.visits] == [without_id(visit) for visit in expected_visits()]


def test_visits_are_closed_when_no_frame_comes_for_long() -> None:
    with running(ComputeOptions(idle_s=0.5)) as heard:
        for number, (pixels, _) in enumerate(FRAMES[2:14]):
            heard.compute(pixels, STARTED_AT + timedelta(seconds=number / 5))
        await_true(lambda: not heard.frames[-1].result, 10, "the closed visits")
    assert [visit["ended"] for visit in heard.visits] == [True]


def test_a_state_of_another_release_is_no_reason_to_stop() -> None:
    with running(state=b"\x00nonsense") as heard:
        assert heard.compute(*FRAMES[0]).result


def test_where_it_can_not_be_confined_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path, "unconfined", 'say({"kind": "failed", "why": "no Landlock. To run it: --confinement off"})')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(module, "PROGRAM", "unconfined")
    with pytest.raises(ConfigError, match="--confinement off"), running():
        pass


def test_without_confinement_it_computes_the_same() -> None:
    with running(ComputeOptions(is_confined=False)) as heard:
        assert heard.compute(*FRAMES[2]).result["bodies"] is not None
        assert not heard.computation.is_confined


@pytest.mark.parametrize(
    "lie",
    [
        '{"kind": "computed", "number": 99, "at_ms": 1}',
        '{"kind": "computed", "number": 1, "at_ms": -1}',
        '{"kind": "computed", "number": 1, "at_ms": 1777885200000, "visits": [{"id": "x"}]}',
        '{"kind": "nonsense"}',
        '{"kind": "computed", "attached_bytes": 99999999}',
        "[]",
    ],
)
def test_a_process_that_lies_is_replaced(lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path, "liar", f"say({{'kind': 'ready', 'confined': True}}); take_frame(); tell({lie!r}); wait()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(module, "PROGRAM", "liar")
    with running() as heard:
        heard.computation.compute(SHOWN, STARTED_AT.timestamp())
        await_true(lambda: bool(heard.frames), 20, "the frame is given up")
        assert heard.frames[0].refused == "failed"
        await_true(lambda: heard.computation.restarts >= 1, 10, "another one")


def test_a_process_that_hangs_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path, "hanging", "say({'kind': 'ready', 'confined': True}); take_frame(); wait()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(module, "PROGRAM", "hanging")
    monkeypatch.setattr(module, "COMPUTING_S", 0.5)
    monkeypatch.setattr(module, "SENDING_S", 0.2)
    with running() as heard:
        heard.computation.compute(SHOWN, STARTED_AT.timestamp())
        await_true(lambda: bool(heard.frames), 20, "the frame is given up")
    assert heard.frames[0].refused == "failed"
    assert "hangs" in heard.told[0]
