"""How many people of a street are found by their bodies, and how precisely, by their height in the frame."""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.accuracy.vision import as_json, print_table
from bench.lib.figures import Figure
from bench.lib.motchallenge import StreetSequence, TruePerson, read_sequences
from bench.lib.product import conclude, concluding, say
from onlooker_pipeline.tracking.boxes import Box, overlap
from onlooker_pipeline.vision.person_model_file import load_person_model
from onlooker_pipeline.vision.persons import PersonBox, find_persons
from onlooker_pipeline.vision.picture import Picture, decode_picture

Detector = Callable[[Picture], Sequence[PersonBox]]

FOUND_OVERLAP = 0.5
HEIGHTS_PX = (50, 100, 150, 200, 300)
"""Lower limits of the bands; smaller people are left out."""
LARGE_PX = 200
LARGE_RECALL_TARGET = 0.95
PRECISION_TARGET = 0.72
EVERY = 2


@dataclass
class DetectorScore:
    """Counts by band of height: true people and how many were found, boxes and how many were right."""

    people: dict[int, int] = field(default_factory=lambda: dict.fromkeys(HEIGHTS_PX, 0))
    found: dict[int, int] = field(default_factory=lambda: dict.fromkeys(HEIGHTS_PX, 0))
    boxes: dict[int, int] = field(default_factory=lambda: dict.fromkeys(HEIGHTS_PX, 0))
    right: dict[int, int] = field(default_factory=lambda: dict.fromkeys(HEIGHTS_PX, 0))
    edge_errors: list[float] = field(default_factory=list)
    """Of what was found: how far its edges are off in the mean, as a share of its height."""

    def recall(self, at_least_px: float = 0, below_px: float = float("inf")) -> float:
        return _ratio(_within(self.found, at_least_px, below_px), _within(self.people, at_least_px, below_px))

    def precision(self, at_least_px: float = 0, below_px: float = float("inf")) -> float:
        return _ratio(_within(self.right, at_least_px, below_px), _within(self.boxes, at_least_px, below_px))

    def add(self, truth: Sequence[TruePerson], boxes: Sequence[Box]) -> None:
        """One picture."""
        matches = _match([person.box for person in truth], boxes)
        for index, person in enumerate(truth):
            band = _band(person.box.height)
            if band is None or not person.counts:
                continue
            self.people[band] += 1
            if index in matches:
                self.found[band] += 1
                self.edge_errors.append(_edge_error(person.box, boxes[matches[index]]))
        right = {j for i, j in matches.items() if truth[i].counts}
        neither = {j for i, j in matches.items() if not truth[i].counts}
        for index, box in enumerate(boxes):
            band = _band(box.height)
            if band is not None and index not in neither:
                self.boxes[band] += 1
                self.right[band] += index in right


@dataclass
class DetectionScore:
    """What a detector found on streets."""

    found: DetectorScore = field(default_factory=DetectorScore)
    search_ms: list[float] = field(default_factory=list)
    """CPU of each search."""


def score_detector(
    sequences: Iterable[StreetSequence], detector: Detector = find_persons, *, every: int = EVERY
) -> DetectionScore:
    """Every so many frames of the sequences, each searched by itself."""
    score = DetectionScore()
    for sequence in sequences:
        for number, jpeg in sequence.jpegs(every=every):
            picture = decode_picture(jpeg)
            started = time.process_time()
            found = detector(picture)
            score.search_ms.append((time.process_time() - started) * 1000)
            score.found.add(sequence.in_frame(number), [_box(body) for body in found])
    return score


def figures_of(score: DetectionScore) -> list[Figure]:
    """Recall and precision by height and of all people, with their targets."""
    return [
        *_by_height(score.found),
        _large_recall(score.found),
        Figure("precision_of_all", score.found.precision(), at_least=PRECISION_TARGET),
        Figure("edge_error", statistics.fmean(score.found.edge_errors), note="share of the height"),
        Figure("search_ms", statistics.fmean(score.search_ms), note="CPU, mean"),
    ]


def _large_recall(score: DetectorScore) -> Figure:
    """Without a target where nobody is that large."""
    recall = score.recall(LARGE_PX)
    target = None if math.isnan(recall) else LARGE_RECALL_TARGET
    return Figure(f"recall_of_{LARGE_PX}_px_and_more", recall, at_least=target)


def _by_height(score: DetectorScore) -> list[Figure]:
    figures = []
    for low, high in zip(HEIGHTS_PX, (*HEIGHTS_PX[1:], float("inf")), strict=True):
        note = f"{score.found[low]} of {score.people[low]} people"
        figures.append(Figure(f"recall_from_{low}_px", score.recall(low, high), note=note))
        note = f"{score.right[low]} of {score.boxes[low]} boxes"
        figures.append(Figure(f"precision_from_{low}_px", score.precision(low, high), note=note))
    return [*figures, Figure("recall", score.recall()), Figure("precision", score.precision())]


def _box(body: PersonBox) -> Box:
    return Box(body.left, body.top, body.right, body.bottom)


def _band(height_px: float) -> int | None:
    return max((low for low in HEIGHTS_PX if low <= height_px), default=None)


def _within(counts: dict[int, int], at_least_px: float, below_px: float) -> int:
    return sum(count for low, count in counts.items() if at_least_px <= low < below_px)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _match(truth: Sequence[Box], boxes: Sequence[Box]) -> dict[int, int]:
    """Index of its box for each true one; those that overlap most find each other first."""
    pairs = [(overlap(one, box), i, j) for i, one in enumerate(truth) for j, box in enumerate(boxes)]
    matches: dict[int, int] = {}
    taken: set[int] = set()
    for shared, i, j in sorted(pairs, reverse=True):
        if shared >= FOUND_OVERLAP and i not in matches and j not in taken:
            matches[i] = j
            taken.add(j)
    return matches


def _edge_error(truth: Box, box: Box) -> float:
    return statistics.fmean(abs(one - other) for one, other in zip(truth, box, strict=True)) / truth.height


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="sequences in the layout of the MOTChallenge")
    parser.add_argument("--only", help="names of sequences, with commas between them")
    parser.add_argument("--every", type=int, default=EVERY, help="search every so many frames")
    parser.add_argument("--model", type=Path, help="a person net with its card, instead of the bundled one")
    arguments = parser.parse_args()
    if arguments.model:
        load_person_model(arguments.model)
    wanted = arguments.only.split(",") if arguments.only else None
    sequences = [one for one in read_sequences(arguments.folder) if wanted is None or one.name in wanted]
    say(f"searching every {arguments.every} frames of {', '.join(one.name for one in sequences)}")
    figures = figures_of(score_detector(sequences, every=arguments.every))
    print_table(figures)
    document: dict[str, Any] = {"ok": all(figure.met for figure in figures if figure.target)}
    conclude(document | {"figures": {figure.name: as_json(figure) for figure in figures}})


if __name__ == "__main__":
    main()
