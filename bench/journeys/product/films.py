"""Films that stand for a camera, and who is in them."""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT
from bench.lib.scenes import LabelledPerson, LabelledScene, find_scenes, total
from bench.lib.testdata import BESIDE_THE_PROJECT

FILMED = "random7"
"""56 s, drawn: 12 people pass by, and 4 of them are interested."""
RECORDED = "intel_walk_and_pause_extended"
"""11 s, filmed: 3 people walk up to the camera and stay."""
DRAWN = "docs/make_passing.py"


@dataclass(frozen=True)
class Film:
    """A film with what is true of it."""

    name: str
    path: Path
    duration_s: float
    passing: int
    interested: int
    stop_time_s: float | None
    """On average of who is interested; None where nobody measured it."""
    attention_time_s: float | None


def choose_clip(name: str, folder: Path) -> Film:
    """The labelled one of this name; where no labelled ones are beside the project, one that is drawn now."""
    if not BESIDE_THE_PROJECT.is_dir():
        return _draw(folder)
    data = BESIDE_THE_PROJECT
    scenes = {scene.name: scene for scene in (*find_scenes(data / "clips"), *find_scenes(data / "synth" / "out"))}
    if name not in scenes:
        raise SystemExit(f"No scene is called {name}. There are: {', '.join(scenes)}.")
    return _labelled(scenes[name])


def _labelled(scene: LabelledScene) -> Film:
    truth = scene.truth
    if truth.passing is None or truth.interested is None:
        raise SystemExit(f"Nobody counted the people of {scene.name}: choose another scene.")
    interested = [person for person in truth.persons if person.interested]
    return Film(
        scene.name,
        scene.video.path,
        truth.duration,
        truth.passing,
        truth.interested,
        stop_time_s=_mean([total(person.still) for person in interested if _is_certain(person)]),
        attention_time_s=_mean([total(person.looking) for person in interested if _is_certain(person)]),
    )


def _is_certain(person: LabelledPerson) -> bool:
    return not person.still_uncertain and not person.looking_uncertain


def _mean(seconds: Sequence[float]) -> float | None:
    return statistics.fmean(seconds) if seconds else None


def _draw(folder: Path) -> Film:
    """Somebody who walks up to a shelf, stands and looks for five seconds, and goes."""
    path = folder / "passing.mp4"
    if not path.exists():
        subprocess.run([sys.executable, str(ROOT / DRAWN), str(path)], check=True, timeout=120)
    return Film("passing", path, 10.0, 1, 1, stop_time_s=None, attention_time_s=None)
