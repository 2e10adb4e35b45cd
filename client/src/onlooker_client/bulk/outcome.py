"""Sends a recording from start to end, and records how that went."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Protocol

from onlooker_client.agent.sending.backoff import STREAM_CLOSED
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.progress import Progress
from onlooker_client.bulk.uploader import Answered
from onlooker_client.errors import BadArgument, ComputationFailed, OnlookerError
from onlooker_client.preview import Preview
from onlooker_client.scene import ids_in_view

PASSES_S = 1.0
"""Who is in view for so long passes by."""
WRONG_AT_FIRST = 20
"""When so many frames in a row fail at the very beginning, the rest would too."""


@dataclass
class PeopleCount:
    """When each was in view first and last; ids mean nothing beyond the session."""

    _seen: dict[str, tuple[float, float]] = field(default_factory=dict)
    most_at_once: int = 0

    def add(self, answer: Mapping[str, Any], seconds: float) -> None:
        present = ids_in_view(answer)
        self.most_at_once = max(self.most_at_once, len(present))
        for person in present:
            first_s, _ = self._seen.get(person, (seconds, seconds))
            self._seen[person] = (first_s, seconds)

    @property
    def passed(self) -> int:
        """About what `passing_by` will be: the server also knows the moments before it was sure of somebody."""
        return sum(last_s - first_s >= PASSES_S for first_s, last_s in self._seen.values())


@dataclass
class Outcome:
    """What was sent, and why it ended."""

    people: PeopleCount = field(default_factory=PeopleCount)
    frames: int = 0
    """Answered."""
    failed: int = 0
    """Answered with an error: the server could not compute them."""
    first_error: str = ""
    closed: int = 0
    """Taken outside the stream's opening hours: not computed."""
    overtaken: int = 0
    """Refused for the moment, while a later frame was taken: not computed."""
    reached_s: float | None = None
    """Position of the last frame that was answered."""
    took_s: float = 0.0
    stopped_by: OnlookerError | None = None
    """None: all of it was sent."""


class FilmSender(Protocol):
    """Takes the frames of a recording: the server, or this device."""

    overtaken: int
    on_wait: Callable[[OnlookerError, float], None]

    def answers(self, frames: Iterable[VideoFrame]) -> Iterator[Answered]: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


def send_all(frames: Iterable[VideoFrame], sender: FilmSender, progress: Progress, preview: Preview | None) -> Outcome:
    """Until the last frame, or until the server says no, or somebody stops it."""
    outcome, began = Outcome(), time.monotonic()
    try:
        for frame, answer in sender.answers(frames):
            outcome.reached_s = frame.seconds
            if answer.get("error_code") == STREAM_CLOSED:
                outcome.closed += 1
            elif "error" in answer:
                _count_failure(outcome, answer)
            else:
                outcome.frames += 1
                outcome.people.add(answer, frame.seconds)
                if preview is not None:
                    preview.show(frame.pixels, answer)
            progress.advance(frame.seconds, outcome.people.passed)
    except OnlookerError as error:
        outcome.stopped_by = error
    progress.end()
    outcome.overtaken = sender.overtaken
    outcome.took_s = time.monotonic() - began
    return outcome


def _count_failure(outcome: Outcome, answer: dict[str, Any]) -> None:
    failure = ComputationFailed(answer)
    if failure.code == "bad_timestamp":
        raise BadArgument(f"{answer['error']} Is the date in --start right, and this machine's clock?")
    outcome.failed += 1
    outcome.first_error = outcome.first_error or str(failure)
    if not outcome.frames and outcome.failed >= WRONG_AT_FIRST:
        raise failure


@contextmanager
def stop_on_signals(sender: FilmSender) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM stop the sender; the same once more ends the program. Gives the signals that came."""
    came: list[int] = []
    reader, writer = os.pipe()
    # A thread stops it: a signal may come while this one holds the very lock that stopping takes.
    listener = threading.Thread(target=_stop_when_told, args=(reader, sender), name="signals", daemon=True)
    listener.start()

    def handle(number: int, _: object) -> None:
        came.append(number)
        signal.signal(number, before[number])
        os.write(writer, b"!")

    before: dict[int, Any] = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writer)
        listener.join()
        os.close(reader)


def _stop_when_told(reader: int, sender: FilmSender) -> None:
    if os.read(reader, 1):
        sender.stop()
