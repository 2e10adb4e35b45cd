"""A camera as the reference clients are one: grey JPEG of quality 80, one session, one frame after another."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

import cv2
import httpx2

from bench.accuracy.pictures import FRAME_HEIGHT, FRAME_WIDTH, as_sent
from bench.https import open_client
from onlooker.testing import Stack, TestStream

ANSWER_LIMIT_S = 60.0


class Camera:
    """Sends what it sees to one session of `scene_analysis`, and has the visits kept."""

    def __init__(self, stack: Stack, stream: TestStream, *, begins_at: datetime) -> None:
        self.stream = stream
        self.begins_at = begins_at
        """The time of the scene's second 0."""
        self.session_id = str(uuid.uuid4())
        self._client = open_client(stack, stream, timeout_s=ANSWER_LIMIT_S)

    def send(self, picture: bytes, seconds: float) -> httpx2.Response:
        taken_at = self.begins_at + timedelta(seconds=seconds)
        meta = {
            "async": False,
            "store": True,
            "image": "attachment://frame",
            "timestamp": taken_at.isoformat(timespec="milliseconds"),
            "state": {"session_id": self.session_id},
        }
        files = {
            "meta": (None, json.dumps(meta).encode(), "application/json"),
            "attachment://frame": ("frame", picture, "image/jpeg"),
        }
        return self._client.post("/services/scene_analysis/1/jobs", files=files)

    def end(self) -> httpx2.Response:
        """End the session, as our own client does when it stops."""
        return self._client.delete(f"/services/scene_analysis/1/sessions/{self.session_id}")

    def close(self) -> None:
        self._client.close()


def shrink(picture: Any) -> tuple[Any, float]:
    """A picture of at most 640 x 480, and by how much it was made smaller."""
    height, width = picture.shape[:2]
    scale = min(1.0, FRAME_WIDTH / width, FRAME_HEIGHT / height)
    if scale == 1.0:
        return picture, scale
    return cv2.resize(picture, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA), scale


def as_shot(picture: Any) -> tuple[bytes, float]:
    """The bytes that are sent of a picture, and its scale."""
    small, scale = shrink(picture)
    return as_sent(small), scale
