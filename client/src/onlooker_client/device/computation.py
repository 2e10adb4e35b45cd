"""The computing process as the agent sees it: started, handed one frame at a time, started again when it dies."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from typing import Any, Callable

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.device.compute_messages import (
    COMPUTED,
    FAILED,
    FINISH,
    FRAME,
    IDLE,
    LAST,
    READY,
    STATE_LIMIT_BYTES,
    STOP,
    ComputeMessage,
    UntrueAnswer,
    encode_head,
    read_computed,
    read_message,
)
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.errors import ConfigError

STARTING_S = 180.0
"""Loading the nets takes two seconds here, and far longer on a small board."""
COMPUTING_S = 60.0
"""A frame that takes longer never ends."""
SENDING_S = 10.0
ENDING_S = 5.0
WAIT_S = 0.2
PAUSES_S = (0.0, 1.0, 5.0, 30.0)
"""Before another start, after so many in a row that computed nothing."""
STATE_TRIES = 2
"""Starts with the same state that computed nothing, after which it begins without."""
VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TZ", "VIRTUAL_ENV")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""For what comes with NumPy; the nets have threads of their own."""
FAILED_REASON = "failed"
PROGRAM = "onlooker_client.device.compute_program"
PACKAGES = ("onlooker_pipeline", "onlooker_models", "msgspec", "cv2", "onnxruntime")
NOT_INSTALLED = (
    'Computing on this device needs more packages ({}), and Python 3.11 or later: pip install "onlooker-client[device]"'
)

OnFrame = Callable[[ComputedFrame], None]
Tell = Callable[[str], None]


def require_packages() -> None:
    """Raises ConfigError where this machine lacks what computes."""
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise ConfigError(NOT_INSTALLED.format(", ".join(missing)))


class ComputationEnded(Exception):
    """The process has ended, hangs, or said what can't be true."""


class Computation:
    """Keeps one process running. A thread of its own starts it and hears its answers."""

    def __init__(
        self,
        options: ComputeOptions,
        *,
        state: bytes | None = None,
        on_frame: OnFrame,
        tell: Tell = lambda _: None,
    ) -> None:
        """`on_frame` gets each frame, computed or refused, from the thread; `tell` a sentence about each restart."""
        self.restarts = 0
        self.is_confined = False
        self._options = options
        self._state = state or b""
        self._on_frame = on_frame
        self._tell = tell
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._channel: socket.socket | None = None
        """While it is ready."""
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._pending: tuple[int, int, float] | None = None
        """Number, time in milliseconds and start of the frame that is being computed."""
        self._is_closing = threading.Event()
        self._settled = threading.Event()
        """Ready for the first time, or never."""
        self._failure = ""
        self._last: list[ComputedFrame] | None = None
        self._thread = threading.Thread(target=self._keep_running, name="computation", daemon=True)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def is_ready(self) -> bool:
        return self._channel is not None

    def start(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Until it is ready, or `is_over` says that nobody waits; raises ConfigError where it can't start."""
        require_packages()
        self._thread.start()
        while not self._settled.wait(WAIT_S) and not is_over():
            pass
        if self._failure:
            self._is_closing.set()
            raise ConfigError(self._failure)

    def refusal(self, now: float) -> Drop | None:
        """Why a frame of this moment can't be computed."""
        return Drop.BUSY if self._pending is not None or self._channel is None else None

    def busy_s(self, now: float) -> float:
        """For how long it has had the frame that it has; infinite while it is started again."""
        pending = self._pending
        if self._channel is None:
            return float("inf")
        return now - pending[2] if pending else 0.0

    def compute(self, pixels: Any, at_s: float) -> None:
        """Begin with a frame, where there was no refusal: grey values or blue, green, red, and Unix time."""
        at_us = round(at_s * 1e6)
        with self._lock:
            self._number += 1
            self._pending = (self._number, (at_us + 500) // 1000, time.monotonic())
            channel = self._channel
        if not pixels.flags.c_contiguous:
            pixels = pixels.copy()
        said = {"number": self._number, "at_us": at_us, "shape": list(pixels.shape)}
        if channel is None or not self._send(channel, ComputeMessage(FRAME, said, memoryview(pixels).cast("B"))):
            self._lose_pending()

    def close(self, *, source_ended: bool = False) -> list[ComputedFrame]:
        """The last frames: with closed visits where the source ended, else with the state to go on from."""
        give_up_at = time.monotonic() + ENDING_S
        while self._pending is not None and time.monotonic() < give_up_at:
            time.sleep(0.005)
        self._is_closing.set()
        channel = self._channel
        if channel is not None:
            self._send(channel, ComputeMessage(FINISH if source_ended else STOP))
        if self._thread.is_alive():
            self._thread.join(ENDING_S)
        self._kill()
        self._lose_pending()
        return self._last or []

    def _keep_running(self) -> None:
        """The thread. The process ends with the thread that started it, so this one does it."""
        fruitless = 0
        while not self._is_closing.is_set():
            if self._settled.is_set():
                self.restarts += 1
                self._is_closing.wait(PAUSES_S[min(fruitless, len(PAUSES_S) - 1)])
            computed = 0
            try:
                channel = self._launch(with_state=fruitless < STATE_TRIES)
                self._settled.set()
                computed = self._hear(channel)
            except ComputationEnded as error:
                if not self._settled.is_set():
                    self._failure = str(error)
                    self._settled.set()
                    break
                if not self._is_closing.is_set():
                    self._tell(f"{error} It is started again.")
            fruitless = 0 if computed else fruitless + 1
            self._kill()
            self._lose_pending()
        self._kill()

    def _launch(self, *, with_state: bool) -> socket.socket:
        from onlooker_pipeline.model_runtime import TELEMETRY_SWITCHES

        kept = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        ours, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", PROGRAM, str(its.fileno())],
                env={**kept, **ONE_THREAD, **TELEMETRY_SWITCHES},
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        ours.settimeout(SENDING_S)
        state = self._state if with_state else b""
        try:
            send_message(ours, ComputeMessage("order", self._options.as_dict(), state))
            said = self._next(ours, STARTING_S)
        except OSError as error:
            ours.close()
            raise ComputationEnded(f"The computing process does not start: {error}.") from None
        if said.kind != READY:
            ours.close()
            why = str(said.said.get("why", "")) if said.kind == FAILED else ""
            raise ComputationEnded(why or "The computing process does not start.")
        self.is_confined = said.said.get("confined") is True
        self._channel = ours
        return ours

    def _hear(self, channel: socket.socket) -> int:
        """Until it ends; how many frames it computed."""
        computed = 0
        try:
            while True:
                message = self._next(channel, None)
                if message.kind not in (COMPUTED, IDLE, LAST):
                    raise UntrueAnswer(f"a message of kind {message.kind!r}")
                frame = read_computed(message)
                self._state = frame.state or self._state
                if message.kind == LAST:
                    self._last = [frame]
                    return computed
                if message.kind == COMPUTED:
                    self._take_answer(message.said.get("number"), frame)
                    computed += not frame.refused
                self._on_frame(frame)
        except UntrueAnswer as error:
            raise ComputationEnded(f"The computing process said what can't be true ({error}).") from None
        except ComputationEnded:
            if self._is_closing.is_set():
                return computed
            raise
        finally:
            self._channel = None
            with self._sending:  # the number of a closed socket may soon be another's
                channel.close()

    def _take_answer(self, number: Any, frame: ComputedFrame) -> None:
        with self._lock:
            if self._pending is None or (number, frame.at_ms) != self._pending[:2]:
                raise UntrueAnswer("an answer to another frame")
            self._pending = None

    def _next(self, channel: socket.socket, limit_s: float | None) -> ComputeMessage:
        """The next message; raises ComputationEnded where none comes."""
        began = time.monotonic()

        def is_overdue() -> bool:
            now, pending = time.monotonic(), self._pending
            if limit_s is not None and now - began > limit_s:
                return True
            return limit_s is None and pending is not None and now - pending[2] > COMPUTING_S

        return read_message(lambda length: _receive(channel, length, is_overdue), attached_at_most=STATE_LIMIT_BYTES)

    def _lose_pending(self) -> None:
        """A frame that the process took along."""
        with self._lock:
            pending, self._pending = self._pending, None
        if pending is not None:
            self._on_frame(ComputedFrame(pending[1], refused=FAILED_REASON))

    def _send(self, channel: socket.socket, message: ComputeMessage) -> bool:
        """Whether all of it was taken; a process that took a part is of no use any more."""
        with self._sending:
            try:
                send_message(channel, message)
                return True
            except OSError:
                if self._channel is channel and self._process is not None:
                    self._channel = None  # no more frames until it is started again
                    self._process.kill()
                return False

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def send_message(channel: socket.socket, message: ComputeMessage) -> None:
    channel.sendall(encode_head(message))
    if len(message.attached):
        channel.sendall(message.attached)


def _receive(channel: socket.socket, length: int, is_overdue: Callable[[], bool]) -> bytes:
    got = bytearray()
    while len(got) < length:
        try:
            piece = channel.recv(min(length - len(got), 1 << 20))
        except socket.timeout:
            if is_overdue():
                raise ComputationEnded("The computing process hangs.") from None
            continue
        except OSError:
            piece = b""
        if not piece:
            raise ComputationEnded("The computing process ended.")
        got += piece
    return bytes(got)
