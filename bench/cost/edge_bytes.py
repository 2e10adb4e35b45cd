"""What a visit is on the wire: real visits of labelled or drawn people, packed as a device packs them."""

import random
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


def measure_visit_bytes(known: list[dict[str, Any]], *, batch: int = BATCH) -> float:
    """Of a request with so many visits, its head included, divided by them."""
    chance = random.Random(1)
    visits = [vary_visit(known[number % len(known)], chance) for number in range(batch)]
    waiting = [WaitingVisit(visit["id"], visit["revision"], visit) for visit in visits]
    body, _ = VisitBatch(waiting, []).encode(str(uuid.uuid4()), round(time.time() * 1000))
    client = Client("https://vision.example.org", str(uuid.uuid4()), secrets.token_urlsafe(32))
    head = len(f"POST {PATH} HTTP/1.1\r\nHost: vision.example.org\r\n") + len(
        client.transport.headers(body.content_type)
    )
    client.close()
    return (head + len(body.content)) / batch


def vary_visit(visit: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Another person who does about the same: no number is that of the first, so that deflating gains nothing by it."""
    shift_ms = chance.randrange(60_000)
    varied = visit | {"id": secrets.token_hex(16)}
    for name in ("present", "still", "looking"):
        edges = [edge + shift_ms + chance.randrange(50) for pair in visit.get(name, []) for edge in pair]
        varied[name] = [edges[at : at + 2] for at in range(0, len(edges), 2)]
    for name in ("age_confidence", "gender_confidence", "confidence"):
        varied[name] = round(chance.random(), 3)
    shares = [chance.random() for _ in range(5)]
    return varied | {"age": round(chance.uniform(5, 80), 1), "expression": [share / sum(shares) for share in shares]}


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
