"""A camera as the reference clients are one: grey JPEG of quality 80, one session, one frame after another."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import httpx2

from bench.lib.clients import open_client
from bench.lib.frames import SLOW_FPS, Shot, as_shot, slowly
from bench.lib.refused_times import RefusedTimes
from bench.lib.scenes import LabelledScene
from bench.lib.visits import Followed, read_answer
from testkit import Stack, TestStream

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


REPEAT_S = 3.0
REPLAY_S = 120.0
"""How long a frame is sent again, live and in a replay, which is compared with and must miss nothing."""
PAUSE_S = 0.1
BETWEEN_SCENES_S = 1.0


@dataclass(frozen=True)
class Reel:
    """A scene with what is sent of each frame, and its scale: made beforehand, a live camera has no time for it."""

    scene: LabelledScene
    shots: list[Shot]
    pictures: dict[int, tuple[bytes, float]]

    @staticmethod
    def of(scene: LabelledScene) -> "Reel":
        shots = slowly(round(scene.truth.duration * scene.truth.fps), scene.truth.fps)
        pictures = scene.video.pictures([shot.frame for shot in shots])
        return Reel(scene, shots, {number: as_shot(picture) for number, picture in pictures})


@dataclass(frozen=True)
class Take:
    """One scene as one session: the frames as they are sent, and when its second 0 is."""

    reel: Reel
    shots: list[Shot]
    starts_s: float
    """After the run began."""
    is_ended: bool
    """Whether the camera ends its session, or just stops, as historic clients do."""

    @property
    def ends_s(self) -> float:
        return self.starts_s + len(self.shots) / SLOW_FPS


@dataclass
class Filmed:
    """What came of a take."""

    take: Take
    stream: TestStream
    answers: list[Followed] = field(default_factory=list)
    refused: RefusedTimes = field(default_factory=RefusedTimes)
    lost: int = 0
    """Frames that were refused for too long, or that had waited for too long behind others."""
    slowest_s: float = 0.0
    """Of the calls that were answered."""

    @property
    def refusals(self) -> Counter[str]:
        return self.refused.reasons


def plan_takes(reels: Sequence[Reel], *, seconds: float, first: int) -> list[Take]:
    """Scenes one after another, from the `first` on, until the time is over; the last one is cut off."""
    takes: list[Take] = []
    starts_s = 0.0
    while starts_s < seconds:
        number = first + len(takes)
        reel = reels[number % len(reels)]
        shots = [shot for shot in reel.shots if starts_s + shot.seconds < seconds]
        takes.append(Take(reel, shots, starts_s, is_ended=number % 2 == 0))
        starts_s = takes[-1].ends_s + BETWEEN_SCENES_S
    return takes


def film(stack: Stack, take: Take, stream: TestStream, *, begins_at: datetime, began: float | None) -> Filmed:
    """Send a take's frames when they are due, from the clock's `began` on; without it as fast as can be."""
    filmed = Filmed(take, stream)
    camera = Camera(stack, stream, begins_at=begins_at)
    for shot in take.shots:
        if began is not None:
            late_s = time.monotonic() - (began + take.starts_s + shot.seconds)
            if late_s > REPEAT_S:
                filmed.lost += 1  # who gives up a refused frame by then has not kept this one either
                continue
            time.sleep(max(0.0, -late_s))
        _send(camera, filmed, shot, patience_s=REPEAT_S if began is not None else REPLAY_S)
    if take.is_ended:
        _repeat(camera.end, filmed, {204, 404})
    camera.close()
    return filmed


def _send(camera: Camera, filmed: Filmed, shot: Shot, *, patience_s: float) -> None:
    picture, scale = filmed.take.reel.pictures[shot.frame]
    answer = _repeat(lambda: camera.send(picture, shot.seconds), filmed, {201}, patience_s=patience_s)
    if answer is None:
        filmed.lost += 1
    else:
        filmed.answers.append(read_answer(shot.frame, answer.json(), scale=scale))


def _repeat(
    ask: Callable[[], httpx2.Response], filmed: Filmed, wanted: set[int], *, patience_s: float = REPEAT_S
) -> httpx2.Response | None:
    give_up_at = time.monotonic() + patience_s
    while True:
        asked_at = time.monotonic()
        try:
            answer = ask()
            if answer.status_code in wanted and b'"error"' not in answer.content:
                filmed.refused.answer()
                filmed.slowest_s = max(filmed.slowest_s, time.monotonic() - asked_at)
                return answer
            filmed.refused.refuse(asked_at, f"{answer.status_code} {_code(answer)}")
        except httpx2.TransportError as error:
            filmed.refused.refuse(asked_at, type(error).__name__)
        if time.monotonic() > give_up_at:
            return None
        time.sleep(PAUSE_S)


def _code(answer: httpx2.Response) -> str:
    try:
        body = answer.json()
    except ValueError:
        return "?"
    return str(body.get("code") or body.get("error_code") or "?")
