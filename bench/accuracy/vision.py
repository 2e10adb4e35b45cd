"""How right the vision and sound services are on labelled data; `python -m bench.accuracy.vision --help`."""

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.accuracy import age_gender, detection, expression, gaze, motion, sound, vision_report
from bench.accuracy.page_section import PICTURES
from bench.lib.figures import Figure
from bench.lib.product import conclude, say
from bench.lib.testdata import find_testdata

Measure = Callable[[], list[Figure]]
HELD_OUT = (
    "The project's data was used to choose the constants for faces found, looking and expression, and for age to "
    "choose the network and the crop of a face, and in part for its correction. So these figures are optimistic. "
    "Ages of people and of a set without a part in the fit are told below, by `just age-fit`. Other data of the same "
    "format (--data) measures all of them fairly."
)


def measures(data: Path, pictures: Path | None) -> dict[str, Measure]:
    """What can be measured, by name."""
    return {
        "found": partial(detection.measure_faces, data),
        "age_gender": partial(age_gender.measure, data, pictures),
        "expression": partial(expression.measure, data, pictures),
        "looking": partial(gaze.measure_looking, data, pictures),
        "head_yaw": partial(gaze.measure_yaw, data),
        "persons": partial(detection.measure_persons, data),
        "motion": partial(motion.measure, data),
        "sound": sound.measure,
    }


def print_table(figures: list[Figure]) -> None:
    for f in figures:
        print(f"{f.name:42} {f.value:9.3f}  {f.target:16} {f.verdict:7} {f.note}")


def as_json(figure: Figure) -> dict[str, Any]:
    members: dict[str, Any] = {"value": round(figure.value, 4) if math.isfinite(figure.value) else None}
    members |= {key: limit for key in ("at_least", "at_most") if (limit := getattr(figure, key)) is not None}
    return members | {"met": figure.met, "note": figure.note}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of labelled pictures and scenes, instead of the one beside the project")
    parser.add_argument("--only", help="names of what to measure, with commas between them")
    parser.add_argument("--pictures", type=Path, help="folder to draw the errors into")
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation and model cards")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    if arguments.write and (arguments.only or arguments.data):
        raise SystemExit("--write needs all figures, of the data beside the project: leave out --only and --data.")
    drawn = PICTURES if arguments.write else arguments.pictures
    chosen = measures(find_testdata(arguments.data), drawn)
    names = arguments.only.split(",") if arguments.only else list(chosen)
    if unknown := set(names) - set(chosen):
        raise SystemExit(f"Nothing is called {', '.join(sorted(unknown))}. There are: {', '.join(chosen)}.")
    measured: dict[str, list[Figure]] = {}
    for name in names:
        started = time.monotonic()
        say(f"{name} ...")
        measured[name] = chosen[name]()
        say(f"{name}: {time.monotonic() - started:.0f} s")
    figures = [figure for found_figures in measured.values() for figure in found_figures]
    if arguments.write:
        vision_report.publish(measured, HELD_OUT)
    print_table(figures)
    print(HELD_OUT)
    conclude(
        {"ok": all(f.met for f in figures), "held_out": HELD_OUT, "figures": {f.name: as_json(f) for f in figures}}
    )


if __name__ == "__main__":
    main()
