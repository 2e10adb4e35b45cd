"""The process behind the window: reads pictures (PPM) from standard input, and shows the newest until input ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any, BinaryIO

NO_TKINTER, NO_SCREEN = 3, 4
"""Exit codes."""
OPEN = b"open\n"
"""Said when the window is there."""
TITLE = "Onlooker"
LOOK_EVERY_MS = 20
HEAD_LIMIT_BYTES = 64
LARGEST_BYTES = 64 * 1024 * 1024


class Inbox:
    """Holds the newest picture; filled by a thread."""

    def __init__(self) -> None:
        self.has_ended = False
        self._newest: bytes | None = None
        self._lock = threading.Lock()

    def fill(self, pipe: BinaryIO) -> None:
        try:
            while (picture := read_ppm(pipe)) is not None:
                with self._lock:
                    self._newest = picture
        finally:
            self.has_ended = True

    def take(self) -> bytes | None:
        with self._lock:
            picture, self._newest = self._newest, None
            return picture


def read_ppm(pipe: BinaryIO) -> bytes | None:
    """One picture, head and all; None at the end."""
    head = pipe.readline(HEAD_LIMIT_BYTES)
    if not head:
        return None
    _, width, height, _ = head.split()
    size = int(width) * int(height) * 3
    if size > LARGEST_BYTES:
        raise ValueError("The picture is too large.")
    pixels = pipe.read(size)
    return head + pixels if len(pixels) == size else None


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the agent; its end is the end of the input
    try:
        import tkinter
    except ImportError:
        return NO_TKINTER
    try:
        window = tkinter.Tk()
    except tkinter.TclError:
        return NO_SCREEN
    inbox = Inbox()
    _fit_out(window, tkinter, inbox)
    threading.Thread(target=inbox.fill, args=(sys.stdin.buffer,), daemon=True).start()
    sys.stdout.buffer.write(OPEN)
    sys.stdout.buffer.close()
    window.mainloop()
    return 0


def _fit_out(window: Any, tkinter: Any, inbox: Inbox) -> None:
    window.title(TITLE)
    window.configure(background="#181818")
    window.resizable(False, False)
    for key in ("<Escape>", "q"):
        window.bind(key, lambda _: window.destroy())
    shown = tkinter.Label(window, borderwidth=0, text="Waiting for the first answer ...", foreground="#cccccc")
    shown.configure(background="#181818", padx=120, pady=160)
    shown.pack()

    def look() -> None:
        picture = inbox.take()
        if picture is not None:
            image = tkinter.PhotoImage(data=picture, format="PPM")
            shown.configure(image=image, text="", padx=0, pady=0)
            shown.kept = image  # Tk keeps no reference of its own
        if inbox.has_ended:
            window.destroy()
        else:
            window.after(LOOK_EVERY_MS, look)

    look()


if __name__ == "__main__":
    code = main()
    os._exit(code)  # the thread may still wait for a picture
