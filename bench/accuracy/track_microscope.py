"""What misses, jitter and false boxes do to the tracker, without pictures; curves of IDF1 and people off."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.accuracy.box_faults import DetectorFaults, make_boxes
from bench.accuracy.diagrams import Panel, draw_panels
from bench.accuracy.scene_replay import replay_boxes
from bench.accuracy.track_scores import TrackScore, add_scores, score_tracks
from bench.accuracy.vision import as_json, print_table
from bench.lib.figures import Figure
from bench.lib.product import ROOT, conclude, concluding, say
from bench.lib.scenes import find_scenes
from bench.lib.testdata import find_testdata
from bench.lib.true_tracks import TrueTracks, read_drawn_tracks, read_street_tracks

PICTURE = ROOT / "docs/pictures/accuracy/tracker.svg"
SEEDS = 2
USUAL = DetectorFaults(missed=0.15, jitter=0.04)
"""What small detectors do, ours included."""
IDF1, OFF = 0.74, 0.22


EVERY_FRAME = 1e6
"""Haste enough that no frame goes unsearched."""


@dataclass(frozen=True)
class Sweep:
    """One fault at several strengths, the others left out."""

    name: str
    strengths: tuple[float, ...]
    faults: Callable[[float], DetectorFaults]
    haste: Callable[[float], float] = lambda strength: 1.0


SWEEPS = (
    Sweep("boxes missed", (0.0, 0.15, 0.3, 0.45), lambda share: DetectorFaults(missed=share)),
    Sweep("jitter of edges, in heights", (0.0, 0.04, 0.08, 0.12), lambda share: DetectorFaults(jitter=share)),
    Sweep("false boxes a frame", (0.0, 0.25, 0.5, 1.0), lambda rate: DetectorFaults(false_per_frame=rate)),
    Sweep("lower part hidden", (0.0, 0.25, 0.5), lambda share: DetectorFaults(hidden_below=share)),
    Sweep("searches, times the product's", (0.25, 0.5, 1.0, 2.0), lambda haste: USUAL, lambda haste: haste),
)


def follow(tracks: Sequence[TrueTracks], faults: DetectorFaults, *, haste: float = 1.0) -> TrackScore:
    """All sequences with boxes of this quality, with several seeds."""
    scores = []
    for truth in tracks:
        for seed in range(1, SEEDS + 1):
            frames = make_boxes(truth, faults, seed=seed)
            scene = replay_boxes(frames, width=truth.width, height=truth.height, haste=haste)
            scores.append(score_tracks(truth, scene))
    return add_scores("all", scores)


def measure(tracks: Sequence[TrueTracks]) -> list[Figure]:
    """The named points; those with misses and jitter together must be met."""
    points = {
        "true_boxes_in_every_frame": follow(tracks, DetectorFaults(), haste=EVERY_FRAME),
        "true_boxes": follow(tracks, DetectorFaults()),
        "missed": follow(tracks, DetectorFaults(missed=USUAL.missed)),
        "jitter": follow(tracks, DetectorFaults(jitter=USUAL.jitter)),
    }
    figures = [figure for name, score in points.items() for figure in _figures(name, score)]
    small = DetectorFaults(missed=USUAL.missed, jitter=USUAL.jitter, smallest_px=0.0)
    figures += _figures("missed_and_jitter_also_small_bodies", follow(tracks, small))
    return figures + _figures("missed_and_jitter", follow(tracks, USUAL), idf1=IDF1, off=OFF)


def draw(tracks: Sequence[TrueTracks], path: Path) -> None:
    panels = []
    for sweep in SWEEPS:
        say(sweep.name)
        scores = [follow(tracks, sweep.faults(s), haste=sweep.haste(s)) for s in sweep.strengths]
        lines = {"IDF1": [score.idf1 for score in scores], "people off": [score.off_share for score in scores]}
        panels.append(Panel(sweep.name, [f"{strength:g}" for strength in sweep.strengths], lines, lowest=0, highest=1))
    draw_panels(path, "The tracker with worse and worse boxes", panels, columns=3)


def _figures(name: str, score: TrackScore, *, idf1: float | None = None, off: float | None = None) -> list[Figure]:
    note = f"{score.passing} of {score.people}; {score.splits} splits, {score.switches} switches"
    return [
        Figure(f"{name}_idf1", score.idf1, at_least=idf1, note=f"HOTA {score.mean_hota:.3f}"),
        Figure(f"{name}_off", score.off_share, at_most=off, note=note),
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of sequences in MOTChallenge layout; else drawn scenes")
    parser.add_argument("--write", action="store_true", help="draw the curves into the documentation")
    return parser.parse_args()


@concluding
def main() -> None:
    arguments = _arguments()
    if arguments.write and arguments.folder:
        raise SystemExit("--write draws the generator's scenes: leave out the folder.")
    if arguments.folder:
        tracks = read_street_tracks(arguments.folder)
    else:
        tracks = read_drawn_tracks(find_scenes(find_testdata() / "synth" / "out"))
    figures = measure(tracks)
    if arguments.write:
        draw(tracks, PICTURE)
    print_table(figures)
    conclude(
        {"ok": all(f.met for f in figures), "scenes": len(tracks), "figures": {f.name: as_json(f) for f in figures}}
    )


if __name__ == "__main__":
    main()
