"""Pictures are cut out of a stream of bytes, whatever else is in it."""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from io import FileIO

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import SourceError
from onlooker_client.sources.live import LiveSource
from onlooker_client.sources.mjpeg import JpegSplitter, PipeFeed


def packed(shade: int, size_px: int = 64) -> bytes:
    noise = np.random.default_rng(shade).integers(0, 40, (size_px, size_px, 3), dtype=np.uint8)
    return bytes(cv2.imencode(".jpg", noise + np.uint8(shade))[1])


PICTURES = [packed(shade) for shade in range(0, 200, 40)]


def split(stream: bytes, chunk: int = 1000, largest_bytes: int = 1 << 20) -> tuple[list[bytes], JpegSplitter]:
    splitter = JpegSplitter(largest_bytes)
    parts = (stream[place : place + chunk] for place in range(0, len(stream), chunk))
    return [picture for part in parts for picture in splitter.add(part)], splitter


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000, 1 << 20])
def test_pictures_come_out_as_they_went_in_however_they_are_cut(chunk: int) -> None:
    found, splitter = split(b"".join(PICTURES), chunk)
    assert found == PICTURES
    assert splitter.skipped_bytes == 0


def test_what_stands_between_pictures_is_skipped_and_counted() -> None:
    between = b"--frame\r\nContent-Type: image/jpeg\r\n\r\n"
    found, splitter = split(b"".join(between + picture for picture in PICTURES))
    assert found == PICTURES
    assert splitter.skipped_bytes == len(between) * len(PICTURES)


def test_a_picture_with_a_small_one_inside_stays_whole() -> None:
    inside = b"Exif\0\0" + PICTURES[1]
    picture = PICTURES[0][:2] + b"\xff\xe1" + (len(inside) + 2).to_bytes(2, "big") + inside + PICTURES[0][2:]
    assert split(picture * 3)[0] == [picture] * 3


def test_a_progressive_picture_with_restarts_stays_whole() -> None:
    settings = [cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_RST_INTERVAL, 2]
    picture = bytes(cv2.imencode(".jpg", np.full((64, 64, 3), 90, np.uint8), settings)[1])
    assert split(picture * 3, 5)[0] == [picture] * 3


def test_after_a_picture_whose_end_was_lost_the_next_ones_come() -> None:
    found, splitter = split(PICTURES[0] + PICTURES[1][:-300] + PICTURES[2] + PICTURES[3])
    assert found == [PICTURES[0], PICTURES[2], PICTURES[3]]
    assert splitter.skipped_bytes == len(PICTURES[1]) - 300


def test_a_picture_that_never_ends_is_given_up_at_the_limit() -> None:
    head = PICTURES[0][: PICTURES[0].index(b"\xff\xda") + 14]
    found, splitter = split(head + b"\x11" * 200_000 + PICTURES[1], 4096, largest_bytes=50_000)
    assert found == [PICTURES[1]]
    assert splitter.held_bytes < 60_000


@given(st.lists(st.one_of(st.sampled_from(PICTURES), st.binary(max_size=300)), max_size=12), st.integers(1, 5000))
def test_no_byte_is_lost_and_none_is_held_for_ever(parts: list[bytes], chunk: int) -> None:
    stream = b"".join(parts)
    found, splitter = split(stream, chunk, largest_bytes=20_000)
    assert sum(map(len, found)) + splitter.skipped_bytes + splitter.held_bytes == len(stream)
    assert splitter.held_bytes <= 20_000 + chunk
    assert all(picture.startswith(b"\xff\xd8\xff") and picture.endswith(b"\xff\xd9") for picture in found)


@given(st.integers(0, 2**32))
def test_ordinary_noise_between_pictures_costs_none(seed: int) -> None:
    chance = random.Random(seed)
    noise = [bytes(chance.randrange(255) for _ in range(chance.randrange(200))) for _ in PICTURES]  # without 0xFF
    assert split(b"".join(a + b for a, b in zip(noise, PICTURES, strict=True)))[0] == PICTURES


@pytest.fixture
def pipe() -> Iterator[tuple[FileIO, FileIO]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as source, os.fdopen(writing, "wb", 0) as sink:
        yield source, sink


def test_a_pipe_is_read_until_it_ends(pipe: tuple[FileIO, FileIO]) -> None:
    source = LiveSource("pipe", PipeFeed(pipe[0]))
    sink = pipe[1]

    def write() -> None:
        for picture in PICTURES:
            sink.write(b"junk" + picture)
            time.sleep(0.1)
        sink.close()

    writer = threading.Thread(target=write)
    writer.start()
    shades = []
    while (picture := source.read(time.monotonic())) is not None:
        shades.append(int(picture.pixels.mean()))
    writer.join()
    assert len(shades) >= 3
    assert shades == sorted(shades)
    source.close()


def test_a_reader_that_was_away_gets_a_new_picture_not_one_that_waited(pipe: tuple[FileIO, FileIO]) -> None:
    source = LiveSource("pipe", PipeFeed(pipe[0]))
    for _ in range(50):
        pipe[1].write(PICTURES[0])  # far more than a pipe holds: somebody reads
    time.sleep(0.1)
    threading.Timer(0.2, lambda: pipe[1].write(PICTURES[4])).start()
    picture = source.read(time.monotonic())
    assert picture is not None
    assert picture.pixels.mean() > 150
    pipe[1].close()
    source.close()


def test_closing_ends_a_read_that_waits_for_a_pipe(pipe: tuple[FileIO, FileIO]) -> None:
    source = LiveSource("pipe", PipeFeed(pipe[0]), gives_up=False)
    threading.Timer(0.2, source.close).start()
    watch = Stopwatch()
    assert source.read(time.monotonic()) is None
    assert watch.elapsed_s < 10
    pipe[1].close()


def test_a_damaged_picture_in_a_pipe_is_passed_over(pipe: tuple[FileIO, FileIO]) -> None:
    source = LiveSource("pipe", PipeFeed(pipe[0]))
    threading.Timer(0.1, lambda: pipe[1].write(b"\xff\xd8\xff\xd9" + PICTURES[2])).start()
    picture = source.read(time.monotonic())
    assert picture is not None
    assert picture.pixels.shape == (64, 64, 3)
    pipe[1].close()
    source.close()


def test_what_ffmpeg_writes_is_read() -> None:
    drawn = ["-re", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=20:duration=1"]
    command = ["ffmpeg", "-v", "error", *drawn, "-f", "mjpeg", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as writing:
        assert writing.stdout is not None
        feed = PipeFeed(writing.stdout)
        source = LiveSource("ffmpeg", feed)
        seen, due_s = 0, time.monotonic()
        while (picture := source.read(due_s)) is not None:
            assert picture.pixels.shape == (240, 320, 3)
            seen += 1
            due_s = max(due_s + 0.05, time.monotonic() - 0.05)
    assert seen >= 10
    assert feed.skipped_bytes == 0
    source.close()


def test_a_terminal_is_no_source() -> None:
    controller, terminal = os.openpty()
    with os.fdopen(controller, "rb"), os.fdopen(terminal, "rb", 0) as stream, pytest.raises(SourceError, match="piped"):
        PipeFeed(stream)


def test_a_program_that_waits_for_standard_input_can_end() -> None:
    program = "import time; from onlooker_client.sources import open_source; open_source('-'); time.sleep(0.3)"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.wait(20) == 0
        assert running.stderr is not None
        assert running.stderr.read() == b""
