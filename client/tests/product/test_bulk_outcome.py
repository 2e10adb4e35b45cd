"""How sending a recording ends when the server can't compute what it gets."""

import io
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cv2
import numpy as np

from onlooker_client import Client
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.outcome import Outcome, send_all
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.bulk.progress import Progress
from onlooker_client.bulk.uploader import FrameUploader
from onlooker_client.errors import BadArgument, ComputationFailed
from onlooker_client.terminal import Terminal

GOOD = cv2.imencode(".jpg", np.zeros((60, 80), np.uint8))[1].tobytes()
BAD = b"no picture"


def sent(client: Client, images: list[bytes], *, days_ago: int = 1) -> Outcome:
    plan = VideoPlan(Path("x.mp4"), datetime.now(UTC) - timedelta(days=days_ago), 10.0, 0.0)
    quiet = Terminal(io.StringIO(), is_terminal=False, has_colour=False, has_unicode=False)
    frames = [VideoFrame(number / 10, image) for number, image in enumerate(images)]
    session = client.service("scene_analysis", 1).session()
    with closing(FrameUploader(session, plan, {}, patience_s=5.0)) as sender:
        return send_all(frames, sender, Progress(quiet, from_s=0.0, to_s=10.0), None)


def test_a_broken_picture_in_between_is_counted_and_the_rest_goes_on(client: Client) -> None:
    outcome = sent(client, [GOOD, GOOD, BAD, GOOD])
    assert outcome.stopped_by is None
    assert (outcome.frames, outcome.failed) == (3, 1)
    assert "bad_image" in outcome.first_error


def test_a_video_of_which_nothing_can_be_computed_is_given_up(client: Client) -> None:
    outcome = sent(client, [BAD] * 60)
    assert isinstance(outcome.stopped_by, ComputationFailed)
    assert outcome.failed == 20


def test_a_time_that_the_server_refuses_ends_it_at_the_first_frame(client: Client) -> None:
    outcome = sent(client, [GOOD] * 5, days_ago=5000)
    assert isinstance(outcome.stopped_by, BadArgument)
    assert "--start" in str(outcome.stopped_by)
    assert outcome.frames == 0
