"""The window, on a screen that nobody sees (Xvfb)."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import pytest

from onlooker_client.errors import ConfigError
from onlooker_client.preview.window import PreviewWindow

ANSWER: dict[str, object] = {"entities": {}, "bodies": {}}
needs_screen = pytest.mark.skipif(
    not (shutil.which("Xvfb") and shutil.which("ffmpeg") and find_spec("_tkinter")),
    reason="needs Xvfb, ffmpeg and tkinter: apt install xvfb ffmpeg python3-tk",
)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A display of 640 x 480; its name."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    running = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as said:
        display = f":{said.readline().strip()}"
    monkeypatch.setenv("DISPLAY", display)
    yield display
    running.terminate()
    running.wait()


def brightness(display: str, path: Path) -> float:
    """Of the middle of the screen."""
    grab = ["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-video_size", "640x480", "-i", display]
    subprocess.run([*grab, "-frames:v", "1", str(path)], check=True, timeout=20)
    picture = cv2.imread(str(path))
    assert picture is not None
    return float(picture[100:140, 100:200].mean())


def await_true(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.1)


@needs_screen
def test_the_newest_picture_is_on_the_screen_and_gone_after_closing(screen: str, tmp_path: Path) -> None:
    window = PreviewWindow(pytest.fail)
    for level in (10, 90, 200):
        window.show(np.full((480, 640), level, np.uint8), ANSWER)
    await_true(lambda: abs(brightness(screen, tmp_path / "screen.png") - 200) < 5)
    window.close()
    await_true(lambda: brightness(screen, tmp_path / "screen.png") < 5)


@needs_screen
def test_a_window_that_somebody_closed_is_said_and_showing_goes_on(screen: str) -> None:
    warnings: list[str] = []
    window = PreviewWindow(warnings.append)
    os.kill(window.process_id, signal.SIGTERM)

    def shown() -> bool:
        window.show(np.zeros((480, 640), np.uint8), ANSWER)
        return bool(warnings)

    await_true(shown)
    assert "Everything else continues" in warnings[0]
    window.close()


def test_without_a_screen_the_remedy_is_a_film(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(ConfigError, match="--save"):
        PreviewWindow(pytest.fail)


def test_without_tkinter_the_remedy_is_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tkinter.py").write_text("raise ImportError\n")  # stands in for a Python that was built without it
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ConfigError, match="python3-tk"):
        PreviewWindow(pytest.fail)
