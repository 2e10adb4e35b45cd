"""A network camera whose video is decoded in a process of its own, which ends where it hangs or dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources import cameras
from onlooker_client.sources.camera_answer import address_of
from onlooker_client.sources.camera_program import DAMAGED, DONE, FAILED, GRAB, REASON_LIMIT_BYTES, RETRIEVE

LARGEST_PICTURE_BYTES = 128 * 1024 * 1024
"""Reserved, not used: memory is taken for pages that are written."""
STARTING_S = 6.0
MARGIN_S = 1.0
ENDING_S = 1.0
VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TZ", "VIRTUAL_ENV")
"""What the program gets, and what begins with OPENCV: no password, and no proxy."""
_SEALS = 0x1 | 0x2 | 0x4
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW: a picture's memory can't be taken away while it is read."""
_F_ADD_SEALS = 1033


class ProcessFeed:
    """Asks its process for each picture; used by one thread alone."""

    def __init__(self, address: str, *, name: str) -> None:
        self._address = address
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._pixels: mmap.mmap | None = None
        self.is_confined = False

    def open(self) -> None:
        self._reach()
        self._start()
        where = address_of(self._address)
        order = {
            "address": self._address,
            "name": self._name,
            "host": where.host if where else "localhost",
            "port": where.port if where else None,
            "opening_ms": cameras.OPENING_MS,
        }
        assert self._channel
        self._channel.send(json.dumps(order).encode())
        patience_s = STARTING_S + cameras.OPENING_MS / 1000 + cameras.LONGEST_SKIP_S + cameras.READING_MS / 1000
        self.is_confined = json.loads(self._answer(patience_s) or b"{}") == {"confined": True}

    def grab(self) -> bool:
        self._ask(GRAB)
        return True

    def retrieve(self) -> Any | None:
        import numpy

        said = self._ask(RETRIEVE)
        if said is None:
            return None
        assert self._pixels
        try:
            height, width, channels = json.loads(said)
            count = height * width * channels
            if not (min(height, width, channels) > 0 and count <= LARGEST_PICTURE_BYTES):
                raise ValueError
            picture = numpy.frombuffer(self._pixels, numpy.uint8, count).reshape(height, width, channels)
        except (ValueError, TypeError):
            raise SourceError(f"{self._name} was decoded to what is no picture.") from None
        return picture.copy()

    def release(self) -> None:
        """The process gets a moment to say goodbye to the camera."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING_S)
            self._process.kill()
            self._process.wait()

    def _reach(self) -> None:
        """A camera that is off costs no process."""
        where = address_of(self._address)
        if where is None:
            return
        try:
            socket.create_connection((where.host, where.port), timeout=cameras.OPENING_MS / 1000).close()
        except OSError:
            raise SourceError(f"{self._name} {cameras.UNOPENED}") from None

    def _start(self) -> None:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel = ours
        shared = os.memfd_create("picture", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(shared, LARGEST_PICTURE_BYTES)
            fcntl.fcntl(shared, _F_ADD_SEALS, _SEALS)
            self._pixels = mmap.mmap(shared, LARGEST_PICTURE_BYTES)
            numbers = [its.fileno(), shared]
            program = [sys.executable, "-m", "onlooker_client.sources.camera_program"]
            self._process = subprocess.Popen(
                [*program, *map(str, numbers), str(LARGEST_PICTURE_BYTES)],
                env=_environment(),
                pass_fds=numbers,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise SourceError(
                f"{self._name}: the process that decodes it can't be started: {error.strerror}."
            ) from None
        finally:
            its.close()
            os.close(shared)

    def _ask(self, question: bytes) -> bytes | None:
        assert self._channel
        with contextlib.suppress(BrokenPipeError):
            self._channel.send(question)
        return self._answer(cameras.READING_MS / 1000 + MARGIN_S)

    def _answer(self, patience_s: float) -> bytes | None:
        """What comes with it; None for a damaged picture. Raises SourceError where the process fails, hangs or died."""
        assert self._channel
        self._channel.settimeout(patience_s)
        try:
            said = self._channel.recv(REASON_LIMIT_BYTES + 1)
        except socket.timeout:
            raise SourceError(f"{self._name}: the process that decodes it hangs; it is started again.") from None
        except OSError:
            said = b""
        kind, rest = said[:1], said[1:]
        if kind == DONE:
            return rest
        if kind == DAMAGED:
            return None
        if kind == FAILED:
            raise SourceError(rest.decode(errors="replace"))
        raise SourceError(f"{self._name}: the process that decodes it ended{self._how()}; it is started again.")

    def _how(self) -> str:
        assert self._process
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(ENDING_S)
            return f" by {signal.Signals(-code).name}" if code < 0 else ""
        return ""


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in VARIABLES or name.startswith("OPENCV")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # one thread, until it is confined
