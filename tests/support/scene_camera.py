"""A camera before scene_analysis: sends frames of one session, reads what is said of the people."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from testkit.pictures import empty_wall, on_a_wall, portrait
from wire import multipart, new_state

Result = dict[str, Any]
COMMON = {"url", "uuid", "status", "expires_at"}
EVENTS = (
    *("appearance", "disappearance", "age_estimated", "gender_estimated"),
    *("focus_locked", "emotion_detected", "direction_estimated"),
)
EMOTIONS = ("anger", "surprise", "sadness", "neutral", "happiness")
ROIS = {"face_roi", "full_body_roi"}
CONFIDENCES = {
    *("face_roi_confidence", "full_body_roi_confidence", "age_confidence", "gender_confidence"),
    *("emotion_confidence", "face_confidence", "gaze_confidence", "head_confidence"),
}
SHARES = {f"emotion_{name}" for name in EMOTIONS} | {"emotion_smiling_degree"}
POINTS = {"face_mouth", "face_nose"}
ENTITY = ROIS | CONFIDENCES | SHARES | POINTS | {"age", "gender", "face_eye", "gaze", "head", "direction"}
LEFT, TOP = 200, 100
HERE, NOBODY = on_a_wall(portrait(), left=LEFT, top=TOP), empty_wall()


@dataclass
class Camera:
    """Ten frames a second of one session, taken a minute ago."""

    client: httpx2.Client
    state: dict[str, str] = field(default_factory=new_state)
    at: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(seconds=60))

    def post(self, picture: bytes, **fields: Any) -> httpx2.Response:
        meta = {"image": "attachment://shot", "async": False, "state": self.state} | fields
        return self.client.post("/services/scene_analysis/1/jobs", files=multipart(meta, shot=picture))

    def ask(self, picture: bytes, **fields: Any) -> Result:
        answer = self.post(picture, **fields)
        assert answer.status_code == 201, answer.text
        return {name: value for name, value in answer.json().items() if name not in COMMON}

    def see(self, *pictures: bytes, **fields: Any) -> list[Result]:
        """Results of the next frames."""
        results = []
        for picture in pictures:
            self.at += timedelta(seconds=0.1)
            results.append(self.ask(picture, timestamp=self.at.isoformat(), **fields))
        return results

    def see_at(self, picture: bytes, offset_s: float, **fields: Any) -> Result:
        """A frame that was taken so long after the last one, or before it."""
        return self.ask(picture, timestamp=(self.at + timedelta(seconds=offset_s)).isoformat(), **fields)


def only_entity(result: Result) -> Result:
    (entity,) = result["entities"].values()
    return dict(entity)


def types_of(results: Iterable[Result]) -> list[str]:
    return [event["type"] for result in results for event in result["events"]]


def walk_in(picture: bytes, *, frames: int = 12, step_px: int = 18) -> list[bytes]:
    """From the left edge to where HERE is, or as far."""
    return [on_a_wall(picture, left=step_px * number, top=TOP) for number in range(frames)]
