"""The example on the SDK, from a video file to events and stored visits."""

import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from testkit import Stack, TestStream

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "watch_scene.py"


def run(product: Stack, stream: TestStream, *arguments: str) -> subprocess.CompletedProcess[str]:
    credentials = {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
    }
    command = [sys.executable, "-W", "error", str(EXAMPLE), *arguments]
    return subprocess.run(
        command, env=os.environ | credentials, capture_output=True, text=True, timeout=90, check=False
    )


def test_the_example_prints_events_and_leaves_a_closed_visit(product: Stack, stream: TestStream, passing: str) -> None:
    started_at = datetime.now(timezone.utc)
    done = run(product, stream, passing)
    assert (done.returncode, done.stderr) == (0, "")
    assert {"appearance", "focus_locked", "disappearance"} <= set(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "1 people seen"
    query = "SELECT lower(present), ended FROM visits_visit WHERE stream_id = %s"
    deadline = datetime.now(timezone.utc) + timedelta(seconds=15)
    while not (rows := product.execute(query, stream.id)) or not rows[0][1]:
        assert datetime.now(timezone.utc) < deadline
        time.sleep(0.1)
    ((began_at, _),) = rows
    assert timedelta(seconds=-30) < began_at - started_at < timedelta(seconds=5)
