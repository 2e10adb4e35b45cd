"""How well followed boxes are true tracks: people counted, splits, switches, and IDF1 and HOTA by TrackEval."""

import contextlib
import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.lib.true_tracks import TrueTracks
from onlooker_pipeline.tracking.assignment import INFINITE, assign
from onlooker_pipeline.tracking.boxes import Box, overlap
from onlooker_pipeline.visits.visit import Visit

PASSING_MS = 1_000
SAME_PLACE = 0.4
"""Overlap from which a followed box counts as a person's."""
KEPT = 1.0
"""As the CLEAR MOT measures have it: a person keeps the id for as long as its place still fits."""

Frames = Sequence[Mapping[Any, Box]]
"""Boxes of each frame, by who they belong to."""


@dataclass(frozen=True)
class FollowedScene:
    """What the pipeline made of a sequence."""

    at_ms: list[int]
    places: list[dict[bytes, Box]]
    """Of each frame: every tracked person, seen or assumed."""
    visits: list[Visit]
    searched: float
    """Share of the frames that were searched for bodies."""

    def passing(self) -> list[Visit]:
        return [visit for visit in self.visits if sum(end - start for start, end in visit.present) >= PASSING_MS]

    def present(self, truth: TrueTracks) -> list[dict[bytes, Box]]:
        """The places of each frame at which a published visit is present."""
        intervals = {visit.id: visit.present for visit in self.passing()}
        return [
            {
                person: box.within(truth.width, truth.height)
                for person, box in places.items()
                if any(start <= at_ms < end for start, end in intervals.get(person, []))
            }
            for at_ms, places in zip(self.at_ms, self.places, strict=True)
        ]


@dataclass(frozen=True)
class TrackScore:
    """One sequence, or several together."""

    name: str
    people: int
    passing: int
    off: int
    splits: int
    """Further visits of people who have one."""
    switches: int
    missed: int
    """People without a visit."""
    uncounted: int
    """Visits at nobody's place, or at that of people who are too small or too brief to count."""
    identity: Mapping[str, Any]
    hota: Mapping[str, Any]

    @property
    def off_share(self) -> float:
        return self.off / self.people if self.people else float("nan")

    @property
    def idf1(self) -> float:
        return float(self.identity["IDF1"])

    @property
    def mean_hota(self) -> float:
        return float(np.mean(self.hota["HOTA"]))


def score_tracks(truth: TrueTracks, followed: FollowedScene) -> TrackScore:
    counted = truth.counted
    true, found = truth.of(counted), followed.present(truth)
    visits = [visit.id for visit in followed.passing()]
    owners, switches = _follow(true, found)
    owned = {visit: max(seen, key=lambda person: seen[person]) for visit, seen in owners.items()}
    identity, hota = _evaluate(true, found)
    return TrackScore(
        name=truth.name,
        people=len(counted),
        passing=len(visits),
        off=abs(len(visits) - len(counted)),
        splits=len(owned) - len(set(owned.values())),
        switches=switches,
        missed=len(counted - set(owned.values())),
        uncounted=len(set(visits) - set(owned)),
        identity=identity,
        hota=hota,
    )


def add_scores(name: str, scores: Sequence[TrackScore]) -> TrackScore:
    """One too many in one sequence does not make up for one too few in another."""
    numbers = ("people", "passing", "off", "splits", "switches", "missed", "uncounted")
    sums = {key: sum(getattr(score, key) for score in scores) for key in numbers}
    identity, hota = _measures()
    each = {str(number): score for number, score in enumerate(scores)}
    return TrackScore(
        name,
        **sums,
        identity=identity.combine_sequences({key: score.identity for key, score in each.items()}),
        hota=hota.combine_sequences({key: score.hota for key, score in each.items()}),
    )


def _follow(true: Frames, found: Frames) -> tuple[dict[bytes, Counter[int]], int]:
    """On whom each id was how often, and how often a person's id changed."""
    owners: dict[bytes, Counter[int]] = defaultdict(Counter)
    latest: dict[int, bytes] = {}
    switches = 0
    for people, boxes in zip(true, found, strict=True):
        ids, persons = list(boxes), list(people)
        costs = [[_cost(people[p], boxes[i], kept=latest.get(p) == i) for i in ids] for p in persons]
        for row, column in assign(costs).items():
            person, id_ = persons[row], ids[column]
            owners[id_][person] += 1
            switches += latest.get(person, id_) != id_
            latest[person] = id_
    return owners, switches


def _cost(person: Box, box: Box, *, kept: bool) -> float:
    shared = overlap(person, box)
    return INFINITE if shared < SAME_PLACE else 1 + KEPT - shared - KEPT * kept


def _evaluate(true: Frames, found: Frames) -> tuple[dict[str, Any], dict[str, Any]]:
    data = _numbered(true, "gt") | _numbered(found, "tracker")
    data["num_timesteps"] = len(true)
    data["similarity_scores"] = [_overlaps(a, b) for a, b in zip(true, found, strict=True)]
    identity, hota = _measures()
    return identity.eval_sequence(data), hota.eval_sequence(data)


def _measures() -> tuple[Any, Any]:
    """TrackEval's, which print what they are and which optional parts are missing."""
    with contextlib.redirect_stdout(io.StringIO()):
        from trackeval.metrics import HOTA, Identity

        return Identity({"PRINT_CONFIG": False}), HOTA()


def _numbered(frames: Frames, side: str) -> dict[str, Any]:
    numbers: dict[Any, int] = {}
    ids = [np.array([numbers.setdefault(one, len(numbers)) for one in frame], int) for frame in frames]
    return {f"{side}_ids": ids, f"num_{side}_ids": len(numbers), f"num_{side}_dets": sum(map(len, frames))}


def _overlaps(people: Mapping[Any, Box], boxes: Mapping[Any, Box]) -> NDArray[np.float64]:
    rows = [[overlap(person, box) for box in boxes.values()] for person in people.values()]
    return np.array(rows, float).reshape(len(people), len(boxes))
