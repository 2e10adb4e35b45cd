"""What a visit is on the wire: real visits of labelled or drawn people, packed as a device packs them."""

import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import cv2
import numpy as np

from bench.cost.drawn_scene import draw_standing
from bench.lib.device_computation import running_computation
from bench.lib.frames import as_filmed, shrink, slowly
from bench.lib.scenes import find_scenes
from bench.lib.testdata import BESIDE_THE_PROJECT
from onlooker_client.client import Client
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.journal_rows import WaitingVisit
from onlooker_client.device.upload import PATH
from onlooker_client.device.visit_batch import VisitBatch

SCENES = ("intel_walk_and_pause_extended", "pyfeat_appear_disappear")
BATCH = 20
"""Visits of a minute in a busy place."""
OPTIONS = ComputeOptions(reads_expression=True)


def measure_visit_bytes() -> float:
    """Of a request with so many visits, its head included, divided by them."""
    known = find_visits()
    visits = [known[number % len(known)] | {"id": secrets.token_hex(16)} for number in range(BATCH)]
    waiting = [WaitingVisit(visit["id"], visit["revision"], visit) for visit in visits]
    body, _ = VisitBatch(waiting, []).encode(str(uuid.uuid4()), round(time.time() * 1000))
    client = Client("https://vision.example.org", str(uuid.uuid4()), secrets.token_urlsafe(32))
    head = len(f"POST {PATH} HTTP/1.1\r\nHost: vision.example.org\r\n") + len(
        client.transport.headers(body.content_type)
    )
    client.close()
    return (head + len(body.content)) / BATCH


def find_visits() -> list[dict[str, Any]]:
    """Of five frames a second."""
    if not BESIDE_THE_PROJECT.is_dir():
        drawn = [cv2.imdecode(np.frombuffer(one, np.uint8), cv2.IMREAD_GRAYSCALE) for one in draw_standing(5)]
        return compute([(shot.seconds, drawn[shot.frame]) for shot in as_filmed(len(drawn), 5.0)])
    found: list[dict[str, Any]] = []
    for scene in (one for one in find_scenes(BESIDE_THE_PROJECT) if one.name in SCENES):
        shots = {shot.frame: shot for shot in slowly(round(scene.truth.duration * scene.truth.fps), scene.truth.fps)}
        pictures = scene.video.pictures(list(shots))
        found += compute([(shots[number].seconds, _grey(picture)) for number, picture in pictures])
    return found


def compute(frames: list[tuple[float, Any]]) -> list[dict[str, Any]]:
    begins_at = datetime.now(UTC) - timedelta(hours=1)
    with running_computation(OPTIONS) as device:
        for seconds, pixels in frames:
            device.begin(pixels, (begins_at + timedelta(seconds=seconds)).timestamp())
            device.end()
        computed = device.finish()
    return list({visit["id"]: visit for frame in computed for visit in frame.visits}.values())


def _grey(picture: Any) -> Any:
    return cv2.cvtColor(shrink(picture)[0], cv2.COLOR_BGR2GRAY)
