"""`onlooker-agent analyse`, as a person runs it: a video of somebody who stops and looks, against the whole product."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cv2
import pytest
from testkit import Stack, TestStream

from onlooker_client.bulk import report
from onlooker_client.command.agent import build_parser
from onlooker_client.command.program import run_command


@dataclass(frozen=True)
class Done:
    """How a run ended, and what it said."""

    code: int
    out: str
    err: str


Analyse = Callable[..., Done]


@pytest.fixture
def device(product: Stack, stream: TestStream, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials as a device has them."""
    monkeypatch.setenv("ONLOOKER_URL", product.url)
    monkeypatch.setenv("ONLOOKER_CLIENT_ID", stream.client_id)
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", stream.access_token)
    monkeypatch.setenv("ONLOOKER_CA_FILE", product.ca_file)


@pytest.fixture
def analyse(device: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Analyse:
    """Runs it in this process, which is quicker."""
    monkeypatch.setattr(report, "SETTLED_S", 1.0)

    def run(*words: object) -> Done:
        with pytest.raises(SystemExit) as ended:
            run_command(build_parser(), ["analyse", *map(str, words)])
        said = capsys.readouterr()
        return Done(int(str(ended.value.code)), said.out, said.err)

    return run


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).replace(microsecond=0).isoformat()


def test_without_an_account_it_says_what_the_answers_showed(analyse: Analyse, passing: str) -> None:
    done = analyse(passing, "--start", days_ago(1), "--from", "8")
    assert done.code == 0, done.err
    assert "20 frames in" in done.err
    assert "In view" in done.out
    assert "--username" in done.out


def test_an_account_that_does_not_see_the_stream_is_told_of_before_anything_is_sent(
    analyse: Analyse, passing: str
) -> None:
    done = analyse(passing, "--start", days_ago(1), "--from", "9", "--username", "stranger@example.org")
    assert done.code == 0
    assert done.err.index("will have no numbers") < done.err.index("10 frames")
    assert "No account stranger@example.org may see this stream" in done.err
    assert "stranger" not in done.out  # once is enough


def test_a_camera_and_a_film_that_can_not_be_are_refused_with_the_remedy(analyse: Analyse, passing: str) -> None:
    assert "For a camera: onlooker-agent run 0" in analyse("0", "--start", days_ago(1)).err
    done = analyse(passing, "--start", days_ago(1), "--save", "people.avi")
    assert done.code == 78
    assert "--save people.mp4" in done.err


@pytest.mark.usefixtures("device")
def test_ctrl_c_ends_the_session_and_says_how_to_go_on(
    product: Stack, stream: TestStream, passing: str, tmp_path: Path
) -> None:
    video = tmp_path / "long video.mp4"  # the same again and again: it does not reach the end of it
    copying = ["ffmpeg", "-v", "error", "-stream_loop", "20", "-i", passing, "-c", "copy", str(video)]
    subprocess.run(copying, check=True, timeout=60)
    main = "from onlooker_client.command.agent import main; main()"
    command = [sys.executable, "-c", main, "analyse", str(video), "--start", days_ago(1), "--json"]
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, env=os.environ, stdout=pipe, stderr=pipe, text=True)
    assert running.stderr is not None
    while "Server" not in running.stderr.readline():
        assert running.poll() is None
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 128 + signal.SIGINT
    said = json.loads(out)
    assert said["is_complete"] is False
    assert said["resume_s"] == pytest.approx(said["frames"] / 10, abs=0.01)
    assert f"'{video}'" in err
    assert f"--from {said['resume_s']:.2f}" in err
    await_no_open_visit(product, stream)


def await_no_open_visit(product: Stack, stream: TestStream) -> None:
    give_up_at = time.monotonic() + 5
    query = "SELECT count(*) FROM visits_visit WHERE stream_id = %s AND NOT ended"
    while product.execute(query, stream.id) != [(0,)]:
        assert time.monotonic() < give_up_at
        time.sleep(0.1)


def test_a_month_that_is_used_up_says_until_when(
    product: Stack, analyse: Analyse, passing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = product.create_stream(kind="developer")
    used = "INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), 10800)"
    product.execute(used, stream.id)
    monkeypatch.setenv("ONLOOKER_CLIENT_ID", stream.client_id)
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", stream.access_token)
    done = analyse(passing, "--start", days_ago(1))
    assert done.code == 78
    assert "month is used up" in done.err
    assert "next month begins" in done.err


def test_a_film_of_what_was_found_is_as_long_as_what_was_sent(analyse: Analyse, passing: str, tmp_path: Path) -> None:
    film = tmp_path / "out.mp4"
    assert analyse(passing, "--start", days_ago(1), "--from", "7", "--save", film).code == 0
    video = cv2.VideoCapture(str(film))
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) / video.get(cv2.CAP_PROP_FPS) == pytest.approx(3.0, abs=0.15)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ([], "--start"),
        (["--start", "2026-11-01T09:00"], "needs its UTC offset"),
        (["--start", "yesterday"], "not a valid time"),
        (["--start", "2001-01-01T09:00Z"], "keeps its visits for"),
        (["--start", "2090-01-01T09:00Z"], "in the future"),
        (["--start", days_ago(1), "--from", "1:00"], "past the end"),
        (["--start", days_ago(1), "--fps", "99"], "between 0.1 and 60"),
    ],
)
def test_what_can_not_go_well_is_refused_with_a_remedy_before_anything_is_sent(
    analyse: Analyse, passing: str, words: list[str], remedy: str
) -> None:
    done = analyse(passing, *words)
    assert done.code == 2
    assert remedy in done.err


def test_a_file_that_is_no_video_is_said_to_be_none(analyse: Analyse, tmp_path: Path) -> None:
    (tmp_path / "notes.mp4").write_text("no video")
    done = analyse(tmp_path / "notes.mp4", "--start", days_ago(1))
    assert done.code == 66
    assert "is not a video" in done.err
