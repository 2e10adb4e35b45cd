"""Scenes played through a running product, as fast as it answers, several at a time."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx2

from bench.product import say
from bench.scenes.camera import Camera, as_shot
from bench.scenes.found import Followed, read_answer
from bench.scenes.scoring import ClipScore, score_clip
from bench.scenes.truth import Scene
from bench.scenes.variants import Shot, Variant
from bench.scenes.written import await_visits, read_visits
from onlooker.testing import Stack

AT_ONCE = 4
REPEAT_S = 30.0
HOURS_AGO = 6


def play_scenes(stack: Stack, scenes: Sequence[Scene], variant: Variant) -> list[ClipScore]:
    """Play all of them, each to a stream of its own; then compare what PostgreSQL has with the truth."""
    begins_at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=HOURS_AGO)
    cameras = [Camera(stack, stack.create_stream(), begins_at=begins_at) for _ in scenes]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        followed = list(threads.map(lambda scene, camera: _play(scene, camera, variant), scenes, cameras))
    await_visits(stack, [camera.stream.id for camera in cameras])
    return [
        score_clip(scene.truth, read_visits(stack, camera.stream.id, begins_at=begins_at), answers)
        for scene, camera, answers in zip(scenes, cameras, followed, strict=True)
    ]


def _play(scene: Scene, camera: Camera, variant: Variant) -> list[Followed]:
    started = time.monotonic()
    frames = round(scene.truth.duration * scene.truth.fps)
    shots = {shot.frame: shot for shot in variant(frames, scene.truth.fps)}
    answers = []
    for number, picture in scene.video.pictures(list(shots)):
        bytes_, scale = as_shot(picture)
        answers.append(read_answer(number, _send(camera, bytes_, shots[number]), scale=scale))
    ended = camera.end()
    if ended.status_code != 204:
        raise RuntimeError(f"{scene.name}: the session could not be ended: {ended.text}")
    camera.close()
    say(f"  {scene.name}: {len(answers)} frames in {time.monotonic() - started:.0f} s")
    return answers


def _send(camera: Camera, picture: bytes, shot: Shot) -> dict[str, object]:
    """Until it is computed: a machine that is busy with other things must not decide what is counted."""
    give_up_at = time.monotonic() + REPEAT_S
    while True:
        answer: httpx2.Response = camera.send(picture, shot.seconds)
        if answer.status_code == 201 and "error" not in (result := answer.json()):
            return dict(result)
        if answer.status_code not in (429, 503) or time.monotonic() > give_up_at:
            raise RuntimeError(f"Frame {shot.frame} was refused: {answer.status_code} {answer.text}")
        time.sleep(0.2)
