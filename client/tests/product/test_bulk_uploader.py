"""Frames of a recording on their way: in order, none lost, over long and broken links and to busy servers."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from bulk_link import Link, link_to
from testkit import Stack, TestStream
from testkit.stopwatch import Stopwatch

from onlooker_client import Client
from onlooker_client.bulk import uploader
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.bulk.uploader import FrameUploader, Lookahead, Stopped
from onlooker_client.errors import BadCredentials, LinkError

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
def test_patience_ends_and_the_reason_is_told(product: Stack, stream: TestStream, long_link: Link) -> None:
    told: list[str] = []
    with long_client(product, stream, long_link) as client, sender_of(client, patience_s=0.5) as sender:
        sender.on_wait = lambda error, waited_s: told.append(str(error))
        answers = sender.answers(frames(40))
        next(answers)
        long_link.cut()
        with pytest.raises(LinkError):
            list(answers)
    assert told


def test_a_stop_lets_what_is_under_way_be_answered(client: Client) -> None:
    with sender_of(client) as sender:
        answers = sender.answers(frames(40))
        next(answers)
        sender.stop()
        with pytest.raises(Stopped):
            list(answers)


def test_a_stop_ends_the_wait_for_a_server_that_is_away(product: Stack, stream: TestStream, long_link: Link) -> None:
    with long_client(product, stream, long_link) as client, sender_of(client, patience_s=600) as sender:
        answers = sender.answers(frames(40))
        next(answers)
        long_link.cut()
        threading.Timer(0.5, sender.stop).start()
        watch = Stopwatch()
        with pytest.raises(Stopped):
            list(answers)
        assert watch.elapsed_s < 5


def test_wrong_credentials_are_not_tried_again(product: Stack, stream: TestStream) -> None:
    client = Client(product.url, stream.client_id, "wrong", ca_file=product.ca_file)
    with client, sender_of(client) as sender, pytest.raises(BadCredentials):
        list(sender.answers(frames(3)))


def answer_after(took_s: float, lookahead: Lookahead) -> None:
    lookahead.take_sent(0.0)
    lookahead.take_answer(took_s)


@pytest.mark.parametrize(("took_s", "frames_under_way"), [(0.01, 1), (0.03, 3), (0.07, 7), (0.12, 8), (3.0, 8)])
def test_as_many_frames_are_under_way_as_the_way_is_long(took_s: float, frames_under_way: int) -> None:
    lookahead = Lookahead()
    for _ in range(10):
        assert lookahead.frames == 1
        answer_after(took_s, lookahead)
    assert lookahead.frames == frames_under_way


def test_a_refusal_makes_it_one_at_a_time_for_good() -> None:
    lookahead = Lookahead()
    for _ in range(20):
        answer_after(0.1, lookahead)
    lookahead.narrow()
    for _ in range(20):
        answer_after(0.1, lookahead)
    assert lookahead.frames == 1


def test_several_frames_under_way_stay_below_the_limit_of_requests() -> None:
    lookahead = Lookahead()
    for _ in range(10):
        answer_after(0.1, lookahead)
    lookahead.take_sent(5.0)
    assert 5.0 + lookahead.pause_s(5.0) >= 5.0 + 1 / 100


@pytest.mark.usefixtures("quick_pauses")
def test_a_frame_that_the_server_had_already_is_passed_over(
    product: Stack, stream: TestStream, long_link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second frame of the same timestamp would be looked at, as one that was taken a little later."""
    with long_client(product, stream, long_link) as client, sender_of(client) as sender:
        receive, lost = sender._pipeline.receive, iter([False, True, True, False])

        def receive_or_lose() -> Any:
            answer = receive()
            if next(lost, False):
                raise LinkError("The answer is lost.")
            return answer

        monkeypatch.setattr(sender._pipeline, "receive", receive_or_lose)
        answers = [answer for _, answer in sender.answers(frames(5))]
        assert [answer.get("late", False) for answer in answers] == [False, True, False, False, False]
        assert computed_s(client, 0.4) == pytest.approx(0.5, abs=0.15)
