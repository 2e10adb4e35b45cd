"""How right the vision and sound services are on labelled data; `python -m bench.accuracy_vision --help`."""

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.accuracy import age_gender, expression, found, head_yaw, looking, motion, persons, publishing, sound
from bench.accuracy.figures import Figure
from bench.accuracy.testdata import find_testdata
from bench.product import conclude, say

Measure = Callable[[], list[Figure]]
HELD_OUT = (
    "The data beside the project had a part in choosing the constants for faces found, looking and expression, and for "
    "age in choosing the net, how a face is cut out and where the correction begins. So these figures flatter. Of age "
    "only the years that are added and the confidence are held out. Other data of the same format (--data) measures "
    "them all fairly."
)


def measures(data: Path, pictures: Path | None) -> dict[str, Measure]:
    """What can be measured, by name."""
    return {
        "found": partial(found.measure, data),
        "age_gender": partial(age_gender.measure, data, pictures),
        "expression": partial(expression.measure, data, pictures),
        "looking": partial(looking.measure, data, pictures),
        "head_yaw": partial(head_yaw.measure, data),
        "persons": partial(persons.measure, data),
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
    drawn = publishing.PICTURES if arguments.write else arguments.pictures
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
        publishing.publish(measured, HELD_OUT)
    print_table(figures)
    print(HELD_OUT)
    conclude(
        {"ok": all(f.met for f in figures), "held_out": HELD_OUT, "figures": {f.name: as_json(f) for f in figures}}
    )


if __name__ == "__main__":
    main()
