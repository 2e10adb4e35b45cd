"""Fits how ages are corrected and trusted, and says how it does on faces and sets that had no part in the fit."""

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.accuracy import age_report
from bench.accuracy.age_correction import CLEAR, JudgedReading, LabelledReading, fit, judge
from bench.accuracy.age_report import UNSEEN
from bench.accuracy.age_scores import CALIBRATED, summarise
from bench.accuracy.portrait_readings import measure_sizes, read_in
from bench.lib.degradation import GOOD, Condition
from bench.lib.figures import Figure
from bench.lib.portraits import Portrait, read_congress, read_utkface, sample_evenly
from bench.lib.product import conclude, say
from bench.lib.testdata import find_testdata
from onlooker_pipeline.vision.age_and_gender import CORRECTION, Correction

CONDITIONS = {
    "good": GOOD,
    "near": Condition(face_px=160),
    "small": Condition(face_px=48),
    "tiny": Condition(face_px=32),
    "blurred": Condition(blur_px=1.5),
    "small_blurred": Condition(face_px=48, blur_px=1.2),
    "noisy": Condition(noise=10),
    "small_noisy": Condition(face_px=48, noise=10),
}
SAMPLED = 1000
SEED = 26
HALVES = 2
BIAS_AT_MOST_YEARS = 4.0
CALIBRATION_AT_MOST = 0.07
Readings = list[LabelledReading]


def read_set(
    name: str, portraits: Sequence[Portrait], *, conditions: Iterable[str] = CONDITIONS
) -> Iterator[LabelledReading]:
    """Every face in every condition."""
    sized = list(measure_sizes(portraits))
    for condition_name in conditions:
        say(f"  {name}: {len(sized)} faces, {condition_name}")
        for one in read_in(CONDITIONS[condition_name], sized, looking=False):
            if one.reading:
                yield LabelledReading(
                    name,
                    one.portrait.name,
                    condition_name,
                    one.portrait.age_years,
                    one.reading.net_years,
                    one.reading.clarity.sharpness,
                    one.reading.clarity.detail,
                )


def split(readings: Readings) -> list[Readings]:
    """Two halves by person, in each set."""
    people = sorted({(r.set_name, r.person) for r in readings})
    order = np.random.default_rng(SEED).permutation(len(people))
    half_of = {people[i]: position % HALVES for position, i in enumerate(order)}
    return [[r for r in readings if half_of[r.set_name, r.person] == half] for half in range(HALVES)]


def judge_each_way(readings: Readings) -> dict[str, list[JudgedReading]]:
    """With their part in the fit; by a fit to the other half of the people; and by a fit to the other set alone.

    The fit's own constants were chosen with all of these in view. Faces that had no part in that either come last.
    """
    unseen = [r for r in readings if r.set_name == UNSEEN]
    readings = [r for r in readings if r.set_name != UNSEEN]
    one, other = split(readings)
    judged = {"part_of_the_fit": judge(readings, CORRECTION), "other_people": judge(one, fit(other))}
    judged["other_people"] += judge(other, fit(one))
    names = sorted({r.set_name for r in readings})
    if len(names) > 1:
        judged["other_set"] = [
            found
            for name in names
            for found in judge(
                [r for r in readings if r.set_name == name], fit([r for r in readings if r.set_name != name])
            )
        ]
    return judged | ({"looked_at_once": judge(unseen, CORRECTION)} if unseen else {})


def figures_of(ways: Mapping[str, Sequence[JudgedReading]]) -> list[Figure]:
    figures = []
    for way, judged in ways.items():
        for name in sorted({j.labelled.set_name for j in judged}):
            own = [j for j in judged if j.labelled.set_name == name]
            clear = [j for j in own if j.labelled.condition in CLEAR]
            for kind, value in summarise(clear).items():
                if math.isnan(value):
                    continue
                bound = BIAS_AT_MOST_YEARS if kind == "worst_bias" and way != "other_set" else None
                figures.append(Figure(f"{name}_{way}_{kind}", value, at_most=bound, note=f"{len(clear)} readings"))
            if way != "other_set":
                figures += [_calibration(name, way, condition, own) for condition in CALIBRATED]
    return figures


def _calibration(name: str, way: str, condition: str, judged: Sequence[JudgedReading]) -> Figure:
    own = [j for j in judged if j.labelled.condition == condition]
    stated, right = (float(np.mean(values)) for values in ([j.confidence for j in own], [j.is_within for j in own]))
    note = f"{len(own)} faces: stated {stated:.2f}, right {right:.2f}"
    return Figure(f"{name}_{way}_calibration_{condition}", abs(stated - right), at_most=CALIBRATION_AT_MOST, note=note)


def read_all(arguments: argparse.Namespace) -> Readings:
    """From the file that keeps them, if there is one."""
    kept: Path | None = arguments.keep
    if kept and kept.exists():
        return [LabelledReading(**row) for row in json.loads(kept.read_text(encoding="utf-8"))]
    readings = list(read_set("portraits", read_congress(find_testdata(arguments.data))))
    if arguments.utkface:
        everybody = read_utkface(arguments.utkface)
        chosen = sample_evenly(everybody, arguments.faces, seed=SEED)
        readings += read_set("utkface", chosen)
        others = sorted(set(everybody) - set(chosen), key=lambda portrait: portrait.name)
        readings += read_set(UNSEEN, sample_evenly(others, arguments.faces // 2, seed=SEED), conditions=CALIBRATED)
    if kept:
        kept.write_text(json.dumps([vars(r) for r in readings]), encoding="utf-8")
    return readings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the labelled pictures, instead of the one beside the project")
    parser.add_argument("--utkface", type=Path, metavar="DIR", help="folder of UTKFace's aligned faces")
    parser.add_argument("--faces", type=int, default=SAMPLED, metavar="N", help=f"faces of UTKFace ({SAMPLED})")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep what the nets say there, and start from it")
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation")
    arguments = parser.parse_args()
    if arguments.write and not arguments.utkface:
        raise SystemExit("--write needs both sets: name UTKFace's folder with --utkface.")
    readings = read_all(arguments)
    fitted = fit([r for r in readings if r.set_name != UNSEEN])
    ways = judge_each_way(readings)
    figures = figures_of(ways)
    if arguments.write:
        age_report.publish(ways)
    _tell(fitted, figures)


def _tell(fitted: Correction, figures: Sequence[Figure]) -> None:
    for figure in figures:
        print(f"{figure.name:52} {figure.value:7.3f}  {figure.target:14} {figure.verdict:9} {figure.note}")
    print(f"CORRECTION = {fitted}")
    print("The pipeline holds this one." if fitted == CORRECTION else f"The pipeline holds another: {CORRECTION}")
    told = {figure.name: {"value": round(figure.value, 4), "met": figure.met} for figure in figures}
    conclude({"ok": all(figure.met for figure in figures), "held": fitted == CORRECTION, "figures": told})


if __name__ == "__main__":
    main()
