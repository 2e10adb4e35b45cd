"""The README's ten lines, on a video of somebody who walks in, stands before the camera and walks out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "pipeline" / "README.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the video that the README names."""
    folder = tmp_path_factory.mktemp("readme")
    subprocess.run([sys.executable, str(ROOT / "docs/make_passing.py"), str(folder / "entrance.mp4")], check=True)
    return folder


def test_ten_lines_turn_a_video_into_visits(folder: Path) -> None:
    lines = [line for line in EXAMPLES[0].splitlines() if line]
    assert len(lines) <= 10
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXAMPLES[0]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (visit,) = done.stdout.splitlines()
    assert visit.startswith("2025-05-05 09:00:0")
    assert visit.endswith("female")


def test_live_example_runs() -> None:
    jpeg = (ROOT / "docs/pictures/portrait.jpg").read_bytes()
    names: dict[str, object] = {"jpeg": jpeg}
    exec(EXAMPLES[1], names)
    assert names["last"] == []
