"""Cameras that film while something happens, and the same frames undisturbed."""

import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from bench.chaos.visit_differences import Run, compare_runs, judge, written_twice
from bench.lib.camera import Filmed, Take, film
from bench.lib.product import say
from bench.lib.visits import await_visits, read_visits
from testkit import Stack, TestStream

SAY_EVERY = 10


class CameraRun:
    """Some cameras with the takes of each, one after another; each take has a stream of its own."""

    def __init__(self, stack: Stack, takes: Sequence[Sequence[Take]], *, begins_at: datetime) -> None:
        self._stack, self._takes, self._begins_at = stack, takes, begins_at

    def film(self) -> list[Filmed]:
        """All cameras at once, live."""
        # One after another: the streams of a test share an owner, who can be made once only.
        streams = [[self._stack.create_stream() for _ in planned] for planned in self._takes]
        began = time.monotonic()

        def play(planned: Sequence[Take], own: Sequence[TestStream]) -> list[Filmed]:
            return [self._film(take, stream, began=began) for take, stream in zip(planned, own, strict=True)]

        with ThreadPoolExecutor(len(self._takes) or 1) as threads:
            return [filmed for done in threads.map(play, self._takes, streams) for filmed in done]

    def film_again(self, disturbed: Sequence[Filmed], *, answered_only: bool) -> list[Filmed]:
        """The same frames, or those that were answered, as fast as can be; takes that are alike once."""
        wanted = [_answered(filmed) if answered_only else filmed.take for filmed in disturbed]
        takes = {_content(take): take for take in wanted}
        say(f"{sum(len(take.shots) for take in takes.values())} frames of {len(takes)} takes undisturbed ...")
        streams = [self._stack.create_stream() for _ in takes]
        with ThreadPoolExecutor(len(self._takes) or 1) as threads:
            filming = zip(takes, threads.map(self._film, takes.values(), streams), strict=True)
            filmed = {}
            for key, done in filming:
                filmed[key] = done
                if len(filmed) % SAY_EVERY == 0:
                    say(f"  {len(filmed)} of {len(takes)} takes")
        return [filmed[_content(take)] for take in wanted]

    def compare(self, disturbed: Sequence[Filmed], *, limit_s: float, answered_only: bool = False) -> dict[str, Any]:
        """Whether each visit that the frames give undisturbed is there, once.

        With `answered_only`, of the frames that were answered: where a camera is refused for longer than a person
        stays, nobody can know of that person.
        """
        quiet = self.film_again(disturbed, answered_only=answered_only)
        await_visits(self._stack, [one.stream.id for one in (*disturbed, *quiet)], limit_s=limit_s)
        pairs = [(self._found(one), self._found(two)) for one, two in zip(quiet, disturbed, strict=True)]
        figures = judge([compare_runs(*pair) for pair in pairs], disturbed)
        people, twice = sum(len(one.passing) for one, _ in pairs), written_twice(self._stack)
        not_replayed = sum(one.lost for one in quiet)
        return figures | {
            "ok": bool(figures["ok"] and people and not twice and not not_replayed),
            "people": people,
            "written_twice": twice,
            "frames_not_replayed": not_replayed,
        }

    def _film(self, take: Take, stream: TestStream, *, began: float | None = None) -> Filmed:
        return film(self._stack, take, stream, begins_at=self._second_0(take), began=began)

    def _second_0(self, take: Take) -> datetime:
        return self._begins_at + timedelta(seconds=take.starts_s)

    def _found(self, filmed: Filmed) -> Run:
        visits = read_visits(self._stack, filmed.stream.id, begins_at=self._second_0(filmed.take))
        return Run(visits, filmed.answers)


def _answered(filmed: Filmed) -> Take:
    frames = {answer.frame for answer in filmed.answers}
    return dataclasses.replace(filmed.take, shots=[shot for shot in filmed.take.shots if shot.frame in frames])


def _content(take: Take) -> tuple[object, ...]:
    """What a take is, wherever it stands in the run."""
    return take.reel.scene.name, take.is_ended, *(shot.frame for shot in take.shots)
