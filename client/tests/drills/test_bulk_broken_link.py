"""Frames of a recording on their way: in order, none lost, over long and broken links and to busy servers."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cv2
import numpy as np
import pytest
from bulk_link import Link, link_to
from testkit import Stack, TestStream

from onlooker_client import Client
from onlooker_client.bulk import uploader
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.bulk.uploader import FrameUploader

FPS = 10


def frames(count: int) -> list[VideoFrame]:
    noise = np.random.default_rng(1).integers(0, 255, (60, 80), np.uint8)
    image = cv2.imencode(".jpg", noise)[1].tobytes()
    return [VideoFrame(number / FPS, image) for number in range(count)]


def plan() -> VideoPlan:
    return VideoPlan(Path("x.mp4"), datetime.now(UTC) - timedelta(hours=2), 60.0, 0.0)


@contextmanager
def sender_of(client: Client, *, patience_s: float = 30.0, when: VideoPlan | None = None) -> Iterator[FrameUploader]:
    session = client.service("scene_analysis", 1).session()
    with closing(FrameUploader(session, when or plan(), {}, patience_s=patience_s)) as sender:
        yield sender


def long_client(product: Stack, stream: TestStream, link: Link) -> Client:
    """On the other side of the link."""
    return Client(f"https://localhost:{link.port}", stream.client_id, stream.access_token, ca_file=product.ca_file)


def computed_s(client: Client, at_least_s: float) -> float:
    """Video time that the server counted: a frame that was passed over counts none, one that was lost is missing."""
    give_up_at = time.monotonic() + 10
    used_s = 0.0
    while used_s < at_least_s and time.monotonic() < give_up_at:
        used_s = float(client.stream()["month"]["used_s"])
        time.sleep(0.2)
    return used_s


@pytest.fixture
def quick_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploader, "pause_s", lambda failures: 0.05)


@pytest.fixture
def long_link(product: Stack) -> Iterator[Link]:
    with link_to(product.url, delay_s=0.04) as link:
        yield link


@pytest.mark.usefixtures("quick_pauses")
def test_a_link_that_breaks_again_and_again_loses_no_frame(product: Stack, stream: TestStream, long_link: Link) -> None:
    sent = frames(25)
    with long_client(product, stream, long_link) as client, sender_of(client) as sender:
        answered = []
        for frame, _ in sender.answers(sent):
            answered.append(frame.seconds)
            if len(answered) in (5, 11, 12, 20):
                long_link.cut()
                threading.Timer(0.2, long_link.mend).start()
        assert answered == [frame.seconds for frame in sent]
        assert long_link.connections > 2
        assert computed_s(client, 2.4) == pytest.approx(2.5, abs=0.15)
