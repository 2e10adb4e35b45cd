"""A source that breaks comes back; what can't come back ends, or is an error at once."""

import gc
import threading
import time
import weakref
from pathlib import Path

import cv2
import numpy as np
import pytest
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import SourceError
from onlooker_client.sources import reconnection
from onlooker_client.sources.live import LiveSource
from onlooker_client.sources.opener import SourceOptions
from onlooker_client.sources.reconnection import Pauses, ReconnectingSource, SourceEvent, SourceState

PIXELS: list["weakref.ref[object]"] = []
"""Of all pictures that were taken; those that are gone are None."""


class ScriptedFeed:
    """Stands for a camera, which this machine has not: fails to open, gives some pictures, breaks."""

    def __init__(self, pictures: int) -> None:
        self._left = pictures

    def open(self) -> None:
        if not self._left:
            raise SourceError("There is no camera 0.")

    def grab(self) -> bool:
        time.sleep(0.01)
        self._left -= 1
        if self._left < 0:
            raise SourceError("The camera was unplugged.")
        return True

    def retrieve(self) -> object:
        pixels = np.zeros((4, 4, 3), np.uint8)
        PIXELS.append(weakref.ref(pixels))
        return pixels

    def release(self) -> None:
        pass


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pictures that each opened camera gives, one after another; 0 can't be opened. The last one holds on."""
    steps: list[int] = []

    def begin(text: str, wish: SourceOptions) -> LiveSource:
        return LiveSource(text, ScriptedFeed(steps.pop(0) if len(steps) > 1 else steps[0]), fps=wish.fps)

    monkeypatch.setattr(reconnection, "begin_source", begin)
    return steps


def test_a_camera_is_waited_for_and_comes_back_and_each_change_is_told_once(script: list[int]) -> None:
    script.extend([0, 0, 3, 0, 1000])
    events: list[SourceEvent] = []
    source = ReconnectingSource("0", on_change=events.append)
    source._pauses = Pauses(0.01, 0.02)
    for _ in range(6):
        assert source.read(time.monotonic()) is not None
    assert events == [
        SourceEvent(SourceState.WAITING, "There is no camera 0."),
        SourceEvent(SourceState.OPENED),
        SourceEvent(SourceState.LOST, "The camera was unplugged."),
        SourceEvent(SourceState.WAITING, "There is no camera 0."),
        SourceEvent(SourceState.OPENED),
    ]
    source.close()


def test_a_camera_that_breaks_often_leaves_no_pictures_in_memory(script: list[int]) -> None:
    script.extend([2] * 30)
    source = ReconnectingSource("0")
    source._pauses = Pauses(0.001, 0.001)
    PIXELS.clear()
    gc.disable()  # it would clear up behind us, some day
    try:
        for _ in range(40):
            source.read(time.monotonic())
        assert len(PIXELS) >= 40
        assert sum(pixels() is not None for pixels in PIXELS) <= 2
    finally:
        gc.enable()
        source.close()


def test_a_pause_ends_at_once_when_it_is_closed(script: list[int]) -> None:
    script.append(0)
    source = ReconnectingSource("0")
    source._pauses = Pauses(60, 60)
    threading.Timer(0.2, source.close).start()
    watch = Stopwatch()
    assert source.read(time.monotonic()) is None
    assert watch.elapsed_s < 4
    assert source.read(time.monotonic()) is None
    source.close()


def test_a_camera_that_stops_giving_pictures_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker_client.sources.live.NEXT_PICTURE_S", 0.3)
    waits = threading.Event()

    class Stuck(ScriptedFeed):
        def grab(self) -> bool:
            if self._left == 1:
                waits.wait(5)
            return super().grab()

    source = LiveSource("camera 0", Stuck(3))
    source.read(time.monotonic())
    watch = Stopwatch()
    source.read(time.monotonic())
    with pytest.raises(SourceError, match="camera 0 gave no picture for"):
        source.read(time.monotonic())
    assert watch.elapsed_s < 4
    waits.set()
    source.close()


def test_a_driver_that_holds_its_thread_is_told_and_only_few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker_client.sources.live.FIRST_PICTURE_S", 0.05)
    monkeypatch.setattr("onlooker_client.sources.live.CLOSING_S", 0.05)
    waits = threading.Event()
    begun: list[LiveSource] = []

    class Stuck(ScriptedFeed):
        def grab(self) -> bool:
            waits.wait(10)
            return super().grab()

    def begin(text: str, wish: SourceOptions) -> LiveSource:
        begun.append(LiveSource(text, Stuck(1)))
        return begun[-1]

    monkeypatch.setattr(reconnection, "begin_source", begin)
    source = ReconnectingSource("0")
    source._pauses = Pauses(0.01, 0.02)
    threading.Timer(1.0, source.close).start()
    assert source.read(time.monotonic()) is None
    assert len(begun) == reconnection.MOST_STUCK
    assert source.stuck_s > 0.5
    waits.set()
    for one in begun:
        one.close()
    time.sleep(0.1)
    assert source.stuck_s == 0.0


def test_a_fault_in_a_driver_is_told_and_not_lost() -> None:
    class Faulty(ScriptedFeed):
        def grab(self) -> bool:
            raise cv2.error("rtsp://viewer:watch-me@camera")

    with pytest.raises(SourceError, match="camera 0 failed: error") as told:
        LiveSource("camera 0", Faulty(1)).read(time.monotonic())
    assert "watch-me" not in str(told.value)


def test_pauses_grow_to_their_limit_and_reset() -> None:
    pauses = Pauses(0.5, 4.0)
    for expected_s in (0.5, 1.0, 2.0, 4.0, 4.0):
        assert expected_s * 0.8 <= pauses.next() <= expected_s * 1.2
    pauses.reset()
    assert pauses.next() <= 0.6


def test_a_wrong_path_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        ReconnectingSource(str(tmp_path / "none.mp4"))


def test_a_folder_ends_and_is_not_opened_again(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1.png"), np.zeros((4, 4), np.uint8))
    events: list[SourceEvent] = []
    source = ReconnectingSource(str(tmp_path), on_change=events.append)
    assert source.read(time.monotonic()) is not None
    assert source.read(time.monotonic()) is None
    assert source.read(time.monotonic()) is None
    assert events == [SourceEvent(SourceState.OPENED)]
    assert not source.is_live
    source.close()
