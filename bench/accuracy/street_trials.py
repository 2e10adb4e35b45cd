"""Whether a change of the tracker is more than chance: street sequences, searched once and followed many times.

One swap at one crossing moves IDF1 by hundredths. So each trial loses some boxes at random and shakes the others a
little; what a change does to the mean of many trials, it does to streets that were not filmed, too.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from bench.accuracy.scene_replay import BoxFrame, replay_boxes
from bench.accuracy.street_report import TUNED
from bench.accuracy.track_scores import TrackScore, add_scores, score_tracks
from bench.accuracy.vision import as_json, print_table
from bench.lib.figures import Figure
from bench.lib.frames import as_shot
from bench.lib.motchallenge import read_picture
from bench.lib.product import conclude, concluding, say
from bench.lib.true_tracks import TrueTracks, read_street_tracks
from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.scene.body_search import find_movement, shrink_picture
from onlooker_pipeline.scene.frame_vision import PictureVision
from onlooker_pipeline.vision.persons import PersonBox
from onlooker_pipeline.vision.picture import decode_picture

TRIALS = 5
LOST, SHAKEN = 0.05, 0.01
"""Share of boxes; standard deviation of an edge, relative to the body's height."""


def search_sequence(truth: TrueTracks) -> list[BoxFrame]:
    """Everything that the nets find, frame by frame, as the scene would find it."""
    frames: list[BoxFrame] = []
    before: Grey | None = None
    for seconds, path in zip(truth.seconds, truth.pictures, strict=True):
        picture = decode_picture(as_shot(read_picture(path))[0])
        vision, now = PictureVision(picture), shrink_picture(picture)
        moved = [] if before is None else find_movement(before, now, width=vision.width, height=vision.height)
        directions = vision.directions(vision.faces, [True] * len(vision.faces)) if vision.faces else []
        frames.append(BoxFrame(seconds, vision.bodies(), moved, vision.faces, directions))
        before = now
    return frames


def disturb(frames: Sequence[BoxFrame], *, seed: int) -> list[BoxFrame]:
    """The same frames with fewer and shaken bodies; the same seed gives the same ones."""
    chance = np.random.default_rng(seed)
    return [
        BoxFrame(
            frame.seconds,
            [_shaken(body, chance) for body in frame.bodies if chance.random() >= LOST],
            frame.moved,
            frame.faces,
            frame.directions,
        )
        for frame in frames
    ]


def _shaken(body: PersonBox, chance: np.random.Generator) -> PersonBox:
    left, top, right, bottom = chance.normal(size=4).tolist()
    edge = SHAKEN * (body.bottom - body.top)
    return PersonBox(
        body.left + edge * left,
        body.top + edge * top,
        body.right + edge * right,
        body.bottom + edge * bottom,
        body.confidence,
    )


def run_trial(sequences: Sequence[tuple[TrueTracks, list[BoxFrame]]], *, seed: int, haste: float = 1.0) -> TrackScore:
    scores = []
    for truth, frames in sequences:
        lossy = disturb(frames, seed=seed)
        followed = replay_boxes(lossy, width=truth.width, height=truth.height, haste=haste)
        scores.append(score_tracks(truth, followed))
    return add_scores(f"trial {seed}", scores)


def summarise_trials(trials: Sequence[TrackScore]) -> list[Figure]:
    """Means, with the standard error of each: differences below two of them are chance."""
    readings = {
        "people_off": [float(trial.off) for trial in trials],
        "idf1": [trial.idf1 for trial in trials],
        "splits": [float(trial.splits) for trial in trials],
        "switches": [float(trial.switches) for trial in trials],
        "missed": [float(trial.missed) for trial in trials],
    }
    return [
        Figure(name, statistics.fmean(values), note=f"+- {statistics.stdev(values) / len(values) ** 0.5:.3g}")
        for name, values in readings.items()
    ]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of sequences: <sequence>/img1, gt/gt.txt and seqinfo.ini")
    parser.add_argument("--only", default=",".join(TUNED), help="names of sequences, with commas between them")
    parser.add_argument("--trials", type=int, default=TRIALS, help="two or more")
    parser.add_argument("--haste", type=float, default=1.0, help="searches for bodies, times the product's")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    names = arguments.only.split(",")
    chosen = [truth for truth in read_street_tracks(arguments.folder) if truth.name in names]
    if not chosen or arguments.trials < 2:
        raise SystemExit(f"Needs two trials or more, and sequences in {arguments.folder} called {arguments.only}.")
    say(f"searching {', '.join(truth.name for truth in chosen)}")
    sequences = [(truth, search_sequence(truth)) for truth in chosen]
    seeds = range(1, arguments.trials + 1)
    figures = summarise_trials([run_trial(sequences, seed=seed, haste=arguments.haste) for seed in seeds])
    print_table(figures)
    people = sum(len(truth.counted) for truth in chosen)
    document = {"ok": all(figure.met for figure in figures), "people": people, "trials": arguments.trials}
    conclude(document | {"figures": {figure.name: as_json(figure) for figure in figures}})


if __name__ == "__main__":
    main()
