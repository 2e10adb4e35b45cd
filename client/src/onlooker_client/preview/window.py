"""A preview window in a process of its own: the camera never waits for it, and Tk gets the main thread it needs."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any, Callable

from onlooker_client.errors import ConfigError
from onlooker_client.preview import viewer
from onlooker_client.preview.overlay import Caption, cv2, draw_answer, with_colours
from onlooker_client.scene import SceneAnswer

OPENING_S = 20.0
CLOSING_S = 3.0
REMEDIES = {
    viewer.NO_TKINTER: "A window needs tkinter, which this Python lacks. On Debian: apt install python3-tk. "
    "Or write a video: --save out.mp4",
    viewer.NO_SCREEN: "There is no screen to open a window on. Write a video instead: --save out.mp4",
}


class PreviewWindow:
    """Shows the newest picture; those that come quicker than it can show them are left out."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._viewer = _open_viewer()
        self._newest: tuple[Any, SceneAnswer] | None = None
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._feed, name="window", daemon=True)
        self._thread.start()

    @property
    def process_id(self) -> int:
        return self._viewer.pid

    def show(self, pixels: Any, answer: SceneAnswer) -> None:
        with self._changed:
            self._newest = (pixels, answer)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(CLOSING_S)
        try:
            self._viewer.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._viewer.kill()
            self._viewer.wait()

    def _feed(self) -> None:
        pipe, caption = self._viewer.stdin, Caption()
        assert pipe is not None
        try:
            with pipe:
                while (shown := self._next()) is not None:
                    pixels, answer = shown
                    drawn = with_colours(pixels)
                    draw_answer(drawn, answer, caption.read(answer))
                    height, width = drawn.shape[:2]
                    pipe.write(b"P6 %d %d 255\n" % (width, height))
                    pipe.write(cv2.cvtColor(drawn, cv2.COLOR_BGR2RGB).tobytes())
                    pipe.flush()
        except OSError:
            if not self._is_closed:
                self._warn("The window was closed. Everything else continues; Ctrl-C stops it.")
        except Exception as error:  # noqa: BLE001 - the edge of a thread: what can't be drawn must not be silent
            self._warn(f"The window stops: an answer can't be drawn ({error!r}). Everything else continues.")

    def _next(self) -> tuple[Any, SceneAnswer] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._newest is not None)
            shown, self._newest = self._newest, None
            return None if self._is_closed else shown


def _open_viewer() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        # By its path: with -m, a tkinter.py in the folder that one happens to be in would run.
        [sys.executable, viewer.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    overdue = threading.Timer(OPENING_S, process.kill)
    overdue.start()
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout as said:
        is_open = said.readline() == viewer.OPEN
    overdue.cancel()
    if not is_open:
        process.stdin.close()
        code = process.wait()
        raise ConfigError(REMEDIES.get(code, "The window could not be opened. Write a video instead: --save out.mp4"))
    return process
