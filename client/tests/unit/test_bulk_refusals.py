"""Refusals while several frames are in flight, from a server that refuses on cue, as no real one can."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from onlooker_client import Client
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.bulk.uploader import MOST_FRAMES, FrameUploader
from onlooker_client.errors import NotAllowed

SLOW_S = 0.08
"""So long that MOST_FRAMES are in flight after the first ten."""


@contextmanager
def server_refusing(refusals: dict[int, int]) -> Iterator[tuple[Client, list[float]]]:
    """Refuses the requests with these numbers, with these statuses; gives the frames that it computed, in order."""
    computed: list[float] = []

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        taken = 0

        def do_GET(self) -> None:
            self._answer(200, {"jobs": f"{self.path}/jobs"})

        def do_POST(self) -> None:
            Answering.taken += 1
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if Answering.taken <= 10:
                time.sleep(SLOW_S)
            status = refusals.get(Answering.taken, 201)
            if status == 201:
                computed.append(float(body.partition(b"frame ")[2].partition(b"\r\n")[0]))
            self._answer(status, {"code": "quota_exceeded"} if status == 403 else {"entities": {}})

        def _answer(self, status: int, said: dict[str, object]) -> None:
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        with Client(f"http://127.0.0.1:{server.server_port}", "login", "password") as client:
            yield client, computed
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def sender_of(client: Client) -> Iterator[FrameUploader]:
    plan = VideoPlan(Path("x.mp4"), datetime(2026, 11, 1, 9, tzinfo=UTC), 3.0, 0.0)
    with closing(FrameUploader(client.service("scene_analysis", 1).session(), plan, {}, patience_s=5.0)) as sender:
        yield sender


def frames(count: int = 30) -> list[VideoFrame]:
    return [VideoFrame(number / 10, b"frame %.1f" % (number / 10)) for number in range(count)]


def moments(count: int = 30) -> list[float]:
    return [number / 10 for number in range(count)]


def test_frames_that_are_refused_together_are_sent_again_in_order() -> None:
    refused = dict.fromkeys(range(15, 14 + MOST_FRAMES), 503) | {14 + MOST_FRAMES: 429}
    with server_refusing(refused) as (client, computed), sender_of(client) as sender:
        answered = [frame.seconds for frame, _ in sender.answers(frames())]
    assert answered == computed == moments()
    assert sender.overtaken == 0


def test_a_frame_that_is_refused_while_a_later_one_is_taken_is_counted() -> None:
    with server_refusing({15: 503}) as (client, computed), sender_of(client) as sender:
        answered = [frame.seconds for frame, _ in sender.answers(frames())]
    assert answered == computed
    assert answered == [seconds for seconds in moments() if seconds != 1.4]
    assert sender.overtaken == 1


def test_after_that_frames_go_one_at_a_time_and_none_can_be_overtaken() -> None:
    with server_refusing({15: 503, 22: 503, 24: 429}) as (client, computed), sender_of(client) as sender:
        assert len(list(sender.answers(frames()))) == 29
    assert computed == sorted(computed)
    assert sender.overtaken == 1


def test_a_month_that_is_used_up_ends_it_after_what_was_computed() -> None:
    refusals = dict.fromkeys(range(15, 100), 403)
    with server_refusing(refusals) as (client, computed), sender_of(client) as sender:
        answers = sender.answers(frames())
        answered = [next(answers)[0].seconds for _ in range(14)]
        with pytest.raises(NotAllowed):
            next(answers)
    assert answered == computed
