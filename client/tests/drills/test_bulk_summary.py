"""`onlooker-agent analyse`, as a person runs it: a video of somebody who stops and looks, against the whole product."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from testkit import Stack, TestStream

from onlooker_client.bulk import report
from onlooker_client.command.agent import build_parser
from onlooker_client.command.program import run_command

OWNER = "owner@example.org"


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


def test_the_summary_has_the_numbers_of_the_video_which_is_not_counted_twice(analyse: Analyse, passing: str) -> None:
    words = (passing, "--start", days_ago(1), "--username", OWNER, "--fps", "5")
    done = analyse(*words, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["frames"], said["failed_frames"], said["overtaken_frames"]) == (50, 0, 0)
    assert said["is_complete"] is True
    found = said["numbers"]
    assert (found["passing_by"], found["interested"]) == (1, 1)
    assert 4 <= found["stop_time"] <= 6
    assert found["attention_time"] > 4
    assert sum(found["gender"].values()) == sum(found["age"].values()) == 1

    again = analyse(*words)
    assert again.code == 2
    assert "already has 1 person between" in again.err
    part = analyse(*words, "--from", "1")
    assert part.code == 2
    assert "Sent again" in part.err
    assert analyse(*words, "--from", "9.5", "--add").code == 0


def test_a_video_goes_on_where_an_earlier_part_stopped_and_people_read_a_table(
    analyse: Analyse, passing: str, tmp_path: Path
) -> None:
    first, start = tmp_path / "first.mp4", days_ago(1)
    cutting = ["ffmpeg", "-v", "error", "-i", passing, "-t", "4", str(first)]
    subprocess.run(cutting, check=True, timeout=60)
    assert analyse(first, "--start", start, "--username", OWNER, "--fps", "5").code == 0
    done = analyse(passing, "--start", start, "--username", OWNER, "--from", "4", "--fps", "5")
    assert done.code == 0, done.err
    assert "Passing by" in done.out
    assert "Stop time" in done.out
    assert "frames" not in done.out, "what they watch meanwhile stays out of it"
    assert "30 frames in" in done.err
    assert "\x1b" not in done.out + done.err
