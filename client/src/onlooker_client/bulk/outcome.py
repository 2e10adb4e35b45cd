"""Sends a recording from one end to the other, and knows afterwards how that went."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.bulk.frames import Frame
from onlooker_client.bulk.people import People
from onlooker_client.bulk.progress import Progress
from onlooker_client.bulk.sending import Sender
from onlooker_client.errors import BadArgument, ComputationFailed, OnlookerError
from onlooker_client.preview import Preview

WRONG_AT_FIRST = 20
"""When so many frames in a row fail at the very beginning, the rest would too."""


@dataclass
class Outcome:
    """What was sent, and why it ended."""

    people: People = field(default_factory=People)
    frames: int = 0
    """Answered."""
    failed: int = 0
    """Answered with an error: the server could not compute them."""
    first_error: str = ""
    overtaken: int = 0
    """Refused for the moment, while a later frame was taken: not computed."""
    reached_s: float | None = None
    """Position of the last frame that was answered."""
    took_s: float = 0.0
    stopped_by: OnlookerError | None = None
    """None: all of it was sent."""


def send_all(frames: Iterable[Frame], sender: Sender, progress: Progress, preview: Preview | None) -> Outcome:
    """Until the last frame, or until the server says no, or somebody stops it."""
    outcome, began = Outcome(), time.monotonic()
    try:
        for frame, answer in sender.answers(frames):
            outcome.reached_s = frame.seconds
            if "error" in answer:
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
def stopping_on_signals(sender: Sender) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM stop the sender; the same once more ends the program. Gives the signals that came."""
    came: list[int] = []
    ear, bell = os.pipe()
    # A thread stops it: a signal may come while this one holds the very lock that stopping takes.
    listener = threading.Thread(target=_stop_when_told, args=(ear, sender), name="signals", daemon=True)
    listener.start()

    def ring(number: int, _: object) -> None:
        came.append(number)
        signal.signal(number, before[number])
        os.write(bell, b"!")

    before: dict[int, Any] = {number: signal.signal(number, ring) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(bell)
        listener.join()
        os.close(ear)


def _stop_when_told(ear: int, sender: Sender) -> None:
    if os.read(ear, 1):
        sender.stop()
