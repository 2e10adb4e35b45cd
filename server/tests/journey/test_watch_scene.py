"""The example client, from a video file to a drawn picture and stored visits."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.message import Message
from pathlib import Path
from typing import Any

import cv2
import httpx2
import numpy as np
import pytest

from examples import watch_scene
from filming import HERE
from onlooker.testing import Stack, TestStream
from pictures import ROOT, TESTDATA, encoded
from wire import multipart, wait_for

EXAMPLE = ROOT / "examples/watch_scene.py"
SECONDS = 5.0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five seconds of a portrait on a wall."""
    file = tmp_path_factory.mktemp("video") / "made.mp4"
    picture = cv2.imdecode(np.frombuffer(HERE, np.uint8), cv2.IMREAD_COLOR)
    video = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"mp4v"), 10, (640, 480))
    for _ in range(int(SECONDS * 10)):
        video.write(picture)
    video.release()
    return file


@pytest.fixture(params=["made", "intel_head_pose_face_detection_male"])
def clip(request: pytest.FixtureRequest, made: Path) -> Path:
    """Somebody looks into the camera for about five seconds."""
    if request.param == "made":
        return made
    file = TESTDATA / "clips" / f"{request.param}.mp4"
    if not file.is_file():
        pytest.skip(f"the labelled clips are not here: {file}")
    return file


def run(stack: Stack, stream: TestStream, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    credentials = {"CLIENT_ID": stream.client_id, "ACCESS_TOKEN": stream.access_token} | environment
    command = [sys.executable, "-W", "error", str(EXAMPLE), "--url", stack.url, "--ca", stack.ca_file, *arguments]
    return subprocess.run(
        command, env=os.environ | credentials, capture_output=True, text=True, check=False, timeout=120
    )


def frames_computed(done: subprocess.CompletedProcess[str]) -> int:
    said = re.fullmatch(r"(\d+) frames computed, 1 people seen", done.stdout.splitlines()[-1])
    assert said, done.stdout
    return int(said[1])


def last_frame(clip: Path) -> Any:
    video, last = cv2.VideoCapture(str(clip)), None
    while (frame := video.read())[0]:
        last = frame[1]
    return last


def find_face(client: httpx2.Client, picture: Any) -> list[int]:
    """Where another service sees the face."""
    meta = {"image": "attachment://shot", "async": False}
    files = multipart(meta, shot=encoded(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)))
    (face,) = client.post("/services/face_detection/1/jobs", files=files).json()["faces"]
    roi: list[int] = face["roi"]
    return roi


def drawn(picture: Any, colour: tuple[int, int, int]) -> Any:
    """Rows and columns of the pixels that have exactly this colour."""
    return np.argwhere((picture == colour).all(axis=2))


def test_the_example_draws_whom_it_sees(
    stack: Stack, stream: TestStream, client: httpx2.Client, clip: Path, tmp_path: Path
) -> None:
    picture, video = tmp_path / "people.png", tmp_path / "people.mp4"
    done = run(stack, stream, str(clip), "--picture", str(picture), "--save", str(video))
    assert (done.returncode, done.stderr) == (0, "")
    assert {"appearance", "focus_locked"} <= set(re.findall(r"[a-z]+_?[a-z]+", done.stdout))
    assert cv2.VideoCapture(str(video)).get(cv2.CAP_PROP_FRAME_COUNT) == frames_computed(done) >= 50

    shown, clean = cv2.imread(str(picture)), last_frame(clip)
    x, y, width, height = find_face(client, clean)
    top, left = drawn(shown, watch_scene.FACE).min(axis=0)
    bottom, right = drawn(shown, watch_scene.FACE).max(axis=0)
    assert [left, top, right, bottom] == pytest.approx([x, y, x + width, y + height], abs=0.2 * width)
    eyes = drawn(shown, watch_scene.GAZE).mean(axis=0)
    assert x < eyes[1] < x + width
    assert y < eyes[0] < y + 0.6 * height
    assert len(drawn(shown, watch_scene.BODY)) > 2 * height
    assert len(drawn(clean, watch_scene.FACE)) == 0


def test_the_example_stores_visits(stack: Stack, stream: TestStream, clip: Path) -> None:
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=2)
    done = run(stack, stream, str(clip), "--store", "--start", start.isoformat())
    query = """SELECT lower(present), upper(present), ended, not isempty(looking), gender, age
                 FROM visits_visit WHERE stream_id = %s"""
    # The example ends its session, so nobody has to wait until that is idle.
    rows = wait_for(lambda: stack.execute(query, stream.id), lambda rows: len(rows) == 1 and rows[0][2], limit_s=15)
    began_at, left_at, _, looked, gender, age = rows[0]
    assert (began_at - start).total_seconds() == pytest.approx(0, abs=0.5)
    assert (left_at - start).total_seconds() == pytest.approx(frames_computed(done) / 10, abs=0.5)
    assert looked
    assert gender in ("male", "female")
    assert age > 0


def test_without_store_nothing_is_kept(stack: Stack, stream: TestStream, made: Path) -> None:
    done = run(stack, stream, str(made), "--fps", "5")
    assert done.stdout.splitlines()[-1] == "25 frames computed, 1 people seen"
    assert stack.execute("SELECT id FROM visits_visit WHERE stream_id = %s", stream.id) == []


def test_the_example_says_what_the_server_says(stack: Stack, stream: TestStream, made: Path) -> None:
    done = run(stack, stream, str(made), ACCESS_TOKEN="wrong")
    assert done.returncode == 1
    assert "access_token" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_result_with_an_error_is_reported(stack: Stack, stream: TestStream, made: Path) -> None:
    ahead = (datetime.now(UTC) + timedelta(minutes=10)).isoformat()
    done = run(stack, stream, str(made), "--store", "--fps", "1", "--start", ahead)
    assert done.returncode == 1
    assert done.stderr.count("more than 5 minutes ahead") == 5
    assert done.stdout.splitlines()[-1] == "0 frames computed, 0 people seen"


def test_a_source_that_is_none_is_named(stack: Stack, stream: TestStream, tmp_path: Path) -> None:
    done = run(stack, stream, str(tmp_path / "none.mp4"))
    assert done.returncode == 1
    assert "none.mp4 can't be opened" in done.stderr


class Refusing:
    """A connection whose first answers are refusals."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.reason = "refused"
        self.headers = Message()
        self.headers["Retry-After"] = "3"

    def request(self, *_: object) -> None:
        self.status = self.statuses.pop(0)

    def getresponse(self) -> "Refusing":
        return self

    def read(self) -> bytes:
        return b'{"detail": "Too many."}' if self.status != 201 else b'{"entities": {}}'


@pytest.mark.parametrize("status", [429, 503])
def test_the_example_waits_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    waited: list[float] = []
    monkeypatch.setattr(watch_scene.time, "sleep", waited.append)
    gateway = watch_scene.Gateway("https://localhost:1", "a:b", None)
    monkeypatch.setattr(gateway, "_connection", Refusing(status, status, 201))
    assert gateway.create_job("/jobs", {}, b"pixels") == (201, {"entities": {}})
    assert waited == [3, 3]


def test_every_option_is_in_the_readme() -> None:
    command = [sys.executable, str(EXAMPLE), "--help"]
    offered = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    readme = (ROOT / "examples/README.md").read_text()
    options = set(re.findall(r"--[a-z-]+", offered)) - {"--help"}
    assert options == set(re.findall(r"`(--[a-z-]+)`", readme))
