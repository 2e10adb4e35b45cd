"""The example on the SDK, from a video file to events and stored visits."""

import os
import subprocess
import sys
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


def test_a_source_that_is_none_is_named(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    done = run(product, stream, str(tmp_path / "none.mp4"))
    assert done.returncode == 1
    assert "none.mp4 can't be opened" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_example_is_short_enough_to_copy() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 60
