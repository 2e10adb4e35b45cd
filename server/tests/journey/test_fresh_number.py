"""A person before a camera is in the data endpoint's numbers within a minute."""

import itertools
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2
import httpx2
import pytest

from scene_camera import HERE, NOBODY, Camera
from testkit import Stack, TestStream
from testkit.pictures import TESTDATA, encoded
from wire import wait_for

FRESH_S = 60.0
FRAME_S = 0.1
PASSING_S, INTERESTED_S = 1.0, 3.0
"""When somebody who stands and looks from the first frame on has been there for long enough."""
CLIP = TESTDATA / "clips" / "intel_head_pose_face_detection_male.mp4"


@pytest.fixture(params=["drawn", "filmed"])
def pictures(request: pytest.FixtureRequest) -> list[bytes]:
    """Five seconds of somebody who looks into the camera."""
    if request.param == "drawn":
        return [HERE] * 50
    if not CLIP.is_file():
        pytest.skip(f"the labelled clips are not here: {CLIP}")
    return list(frames_of(CLIP))


def frames_of(clip: Path) -> Iterator[bytes]:
    video = cv2.VideoCapture(str(clip))
    while (frame := video.read())[0]:
        yield encoded(cv2.cvtColor(frame[1], cv2.COLOR_BGR2GRAY))


@dataclass(frozen=True)
class Numbers:
    """The data endpoint, as a program with a token of the console sees it."""

    client: httpx2.Client
    from_date: str

    def read(self) -> dict[str, Any]:
        asked = {"metrics": "passing_by,interested,attention_time", "from_date": self.from_date}
        answer = self.client.get("/api/1/entities", params=asked)
        assert answer.status_code == 200, answer.text
        return {name: value["value"] for name, value in answer.json()["entities"]["global"].items()}

    def await_one(self, name: str) -> float:
        """The moment at which the number is there."""
        wait_for(self.read, lambda numbers: numbers[name] == 1, limit_s=FRESH_S + INTERESTED_S, every_s=0.2)
        return time.monotonic()


@pytest.fixture
def numbers(stack: Stack, stream: TestStream) -> Iterator[Numbers]:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    credentials = {"username": "owner@example.org", "client_id": stream.client_id, "access_token": stream.access_token}
    with httpx2.Client(verify=trust, timeout=30) as console:
        token = console.post(f"{stack.console_url}/api-token-authstream/", json=credentials).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=stack.data_url, verify=trust, headers=headers, timeout=30) as client:
        yield Numbers(client, datetime.now(UTC).isoformat())


def film(camera: Camera, pictures: list[bytes], over: threading.Event) -> None:
    """In real time. The camera goes on when the person has left, as cameras do, until nobody watches any more."""
    began = time.monotonic()
    for number, picture in enumerate(itertools.chain(pictures, itertools.repeat(NOBODY))):
        if over.wait(max(0.0, began + number * FRAME_S - time.monotonic())):
            return
        camera.see_at(picture, number * FRAME_S, store=True)


def test_a_person_is_in_the_numbers_within_a_minute(
    client: httpx2.Client, numbers: Numbers, pictures: list[bytes]
) -> None:
    assert numbers.read() == {"passing_by": 0, "interested": 0, "attention_time": None}
    camera, over = Camera(client, at=datetime.now(UTC)), threading.Event()
    began = time.monotonic()
    with ThreadPoolExecutor(1) as thread:
        filming = thread.submit(film, camera, pictures, over)
        try:
            passing_lag_s = numbers.await_one("passing_by") - began - PASSING_S
            interested_lag_s = numbers.await_one("interested") - began - INTERESTED_S
        finally:
            over.set()
        filming.result()
    assert passing_lag_s <= FRESH_S
    assert interested_lag_s <= FRESH_S
    assert numbers.read()["attention_time"] > 1
