"""Videos and folders of pictures, played as a camera and read as a recording."""

import os
import subprocess
import threading
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import SourceError
from onlooker_client.sources import Source, open_source
from onlooker_client.sources.video import open_recording

FRAMES = 40
PER_PICTURE = 4
"""Steps of grey from one picture of the drawn video to the next."""


def draw_video(path: Path, *options: str, frames: int = 60, fps: int = 20) -> Path:
    """Each picture is a little lighter than the one before; with B-frames, as most videos have."""
    raw = b"".join(bytes([10 + PER_PICTURE * place]) * (64 * 48) for place in range(frames))
    source = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", "64x48", "-r", str(fps), "-i", "-"]
    chosen = options or ("-c:v", "libx264", "-bf", "3", "-g", "250", "-qp", "1", "-pix_fmt", "yuv420p")
    subprocess.run(["ffmpeg", "-v", "error", "-y", *source, *chosen, str(path)], input=raw, check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds, 20 pictures each."""
    return draw_video(tmp_path_factory.mktemp("videos") / "steps.mp4", frames=FRAMES)


def number_of(pixels: object) -> int:
    """Which picture of the drawn video it is."""
    return round((float(np.mean(pixels)) - 10) / PER_PICTURE)  # type: ignore[call-overload]


def play(source: Source, fps: float = 10.0, limit: int = 1000) -> list[int]:
    """The number of each picture, read at a steady pace; none may come early, or late without need."""
    numbers: list[int] = []
    due_s = began_s = time.monotonic()
    while len(numbers) < limit:
        watch, wait_s = Stopwatch(), max(0.0, due_s - time.monotonic())
        picture = source.read(due_s)
        if picture is None:
            break
        assert time.monotonic() - began_s > len(numbers) / fps - 0.03
        assert watch.elapsed_s < wait_s + 2
        numbers.append(number_of(picture.pixels))
        due_s += 1 / fps
    return numbers


def test_a_video_is_played_in_real_time_and_ends(video: Path) -> None:
    source = open_source(str(video))
    assert play(source) == list(range(0, FRAMES, 2))
    assert not source.is_live
    source.close()


def test_a_video_of_the_rate_that_is_asked_loses_no_picture(video: Path) -> None:
    source = open_source(str(video))
    assert play(source, fps=20) == list(range(FRAMES))
    source.close()


def test_a_reader_that_was_away_sees_what_a_camera_would_show(video: Path) -> None:
    source = open_source(str(video))
    before_s = time.monotonic()
    source.read(before_s)
    began_at_latest_s = time.monotonic()
    time.sleep(1.0)
    due_s, asked_at = time.monotonic(), time.time()
    picture = source.read(due_s)
    assert picture is not None
    assert (due_s - began_at_latest_s) * 20 - 1 <= number_of(picture.pixels) <= (due_s - before_s) * 20 + 1
    assert asked_at <= picture.taken_at <= time.time()
    source.close()


def test_a_video_loops_without_a_hole(tmp_path: Path) -> None:
    source = open_source(str(draw_video(tmp_path / "short.mp4", frames=10)), loop=True)
    assert play(source, fps=20, limit=25) == [number % 10 for number in range(25)]
    source.close()


def test_closing_ends_a_read_that_waits(tmp_path: Path) -> None:
    source = open_source(str(draw_video(tmp_path / "slow.avi", "-c:v", "mjpeg", frames=30, fps=1)))
    source.read(time.monotonic())
    threading.Timer(0.2, source.close).start()
    watch = Stopwatch()
    assert source.read(time.monotonic() + 20) is None
    assert watch.elapsed_s < 10
    source.close()


@pytest.mark.parametrize(("fps", "every"), [(20, 1), (10, 2), (50, 1), (1, 20)])
def test_a_recording_gives_at_most_so_many_pictures_a_second(video: Path, fps: float, every: int) -> None:
    with open_recording(video, fps=fps) as recording:
        assert recording.duration_s == pytest.approx(FRAMES / 20)
        found = [(at_s, number_of(pixels)) for at_s, pixels in recording]
    assert [number for _, number in found] == list(range(0, FRAMES, every))
    assert [at_s for at_s, _ in found] == pytest.approx([number / 20 for _, number in found])
    assert recording.frames_expected == len(found)


@pytest.mark.parametrize("fps", [3, 7, 12.5])
def test_a_rate_that_does_not_fit_is_met_on_average(video: Path, fps: float) -> None:
    with open_recording(video, fps=fps) as recording:
        assert abs(len(list(recording)) - FRAMES / 20 * fps) <= 1


def test_a_recording_can_begin_later(tmp_path: Path) -> None:
    path = draw_video(tmp_path / "long.mp4", "-c:v", "libx264", "-bf", "3", "-g", "20", "-pix_fmt", "yuv420p", fps=5)
    with open_recording(path, fps=5, start_s=9.0) as recording:
        found = [(round(at_s, 3), number_of(pixels)) for at_s, pixels in recording]
        assert recording.frames_expected == 15
    assert found == [(number / 5, number) for number in range(45, 60)]


def test_a_recording_that_begins_after_the_end_is_empty(video: Path) -> None:
    with open_recording(video, fps=10, start_s=100) as recording:
        assert list(recording) == []
        assert recording.frames_expected == 0


def test_pictures_that_come_unevenly_keep_their_moments(tmp_path: Path) -> None:
    path = draw_video(tmp_path / "uneven.mkv", "-vf", "select='lt(n,20)+gt(n,39)'", "-fps_mode", "vfr", "-qp", "1")
    with open_recording(path, fps=10) as recording:
        moments = [round(at_s, 2) for at_s, _ in recording]
    assert max(later - sooner for sooner, later in zip(moments, moments[1:], strict=False)) == pytest.approx(
        1.1, abs=0.11
    )
    assert moments[-1] == pytest.approx(2.9, abs=0.06)


def test_a_video_that_was_cut_off_gives_what_it_has(video: Path, tmp_path: Path) -> None:
    whole = draw_video(tmp_path / "whole.ts", "-c:v", "libx264", "-g", "10", "-qp", "1").read_bytes()
    cut = tmp_path / "cut.ts"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    with open_recording(cut, fps=20) as recording:
        assert 20 < len(list(recording)) < 60


def test_a_rate_of_nothing_is_refused(video: Path) -> None:
    with pytest.raises(SourceError, match="more than 0"):
        open_recording(video, fps=0)


def test_a_path_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"does not exist. A source is"):
        open_source(str(tmp_path / "none.mp4"))


@pytest.mark.parametrize(("content", "reason"), [(b"", "is empty"), (b"no video " * 99, "not a video that OpenCV can")])
def test_a_file_that_is_no_video_is_said_at_once(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "notes.mp4"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=reason):
        open_source(str(path))


def test_nothing_is_printed_about_a_broken_video(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], video: Path
) -> None:
    path = tmp_path / "broken.mp4"
    broken = bytearray(video.read_bytes())
    broken[200:1200] = os.urandom(1000)
    path.write_bytes(broken)
    try:
        with open_recording(path, fps=20) as recording:
            list(recording)
    except SourceError:
        pass
    assert capfd.readouterr().err == ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (0, 1, 2, 9, 10, 11):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((8, 8), 10 + PER_PICTURE * number, np.uint8))
    (tmp_path / "notes.txt").write_text("no picture")
    return tmp_path


def test_the_pictures_of_a_folder_come_in_the_order_people_count_at_the_rate(folder: Path) -> None:
    source = open_source(str(folder), fps=20)
    assert play(source, fps=20) == [0, 1, 2, 9, 10, 11]
    source.close()


def test_a_folder_loops(folder: Path) -> None:
    source = open_source(str(folder), fps=20, loop=True)
    assert play(source, fps=20, limit=8) == [0, 1, 2, 9, 10, 11, 0, 1]
    source.close()


def test_a_damaged_picture_in_a_folder_is_passed_over(folder: Path) -> None:
    (folder / "2.png").write_bytes(b"damaged")
    source = open_source(str(folder), fps=20)
    assert play(source, fps=20) == [0, 1, 9, 10, 11]
    source.close()


@pytest.mark.parametrize("loop", [False, True])
def test_a_folder_without_one_good_picture_is_an_error(tmp_path: Path, loop: bool) -> None:
    with pytest.raises(SourceError, match="has no pictures"):
        open_source(str(tmp_path))
    (tmp_path / "1.jpg").write_bytes(b"damaged")
    source = open_source(str(tmp_path), fps=100, loop=loop)
    with pytest.raises(SourceError, match="no picture that can be read"):
        source.read(time.monotonic())
