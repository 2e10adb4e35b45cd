"""The map of where readings hold: found, gender, looking and age as pictures get worse, and by group of people."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from bench.accuracy import map_report
from bench.accuracy.clip_looks import ClipFrame, judge_looks, read_frames
from bench.accuracy.condition_axes import AXES, FAR_PX, NEAR_PX, Axis, MapCell, count_readings
from bench.accuracy.map_limits import limit_figures
from bench.accuracy.map_report import AxisMap, ConditionMap
from bench.accuracy.portrait_readings import PortraitReading, SizedPortrait, measure_sizes, read_in
from bench.lib.degradation import GOOD
from bench.lib.figures import Figure
from bench.lib.portraits import read_congress, read_photographs, read_utkface, sample_evenly
from bench.lib.product import conclude, say
from bench.lib.testdata import find_testdata

FAR_SHARE, QUICK_SHARE = 2, 6
"""Of the portraits, every so many: far ones cost time, and CI has little."""
GROUPED = 3000
SEED = 7
FOUND_AT_LEAST, GENDER_AT_LEAST, LOOKING_AT_LEAST = 0.99, 0.95, 0.9
"""In good condition."""


def measure_axis(
    axis: Axis, portraits: Sequence[SizedPortrait], frames: Sequence[ClipFrame], *, quick: bool
) -> AxisMap:
    """Near and far, where the axis is not the size itself; clips as they were filmed."""
    is_size = axis.name == "face_px"
    near = [count_readings(read_in(c, portraits, looking=True)) for c in axis.conditions(NEAR_PX, quick=quick)]
    far: list[MapCell] = []
    clips: list[float] = []
    if not is_size:
        few = portraits[::FAR_SHARE]
        far = [count_readings(read_in(c, few, looking=True)) for c in axis.conditions(FAR_PX, quick=quick)]
        clips = [_share_right(judge_looks(frames, c)) for c in axis.conditions(NEAR_PX, quick=quick)]
    return AxisMap(axis, axis.quick_steps if quick else axis.steps, near, far, clips)


def _share_right(judged: Sequence[tuple[bool, bool]]) -> float:
    return sum(labelled == said for labelled, said in judged) / len(judged) if judged else float("nan")


def measure_groups(folder: Path, count: int) -> list[PortraitReading]:
    """Faces of UTKFace in good condition, evenly over decades, genders and ethnic groups."""
    chosen = sample_evenly(read_utkface(folder), count, seed=SEED)
    return read_in(GOOD, list(measure_sizes(chosen)), looking=False)


def measure(arguments: argparse.Namespace) -> ConditionMap:
    data = find_testdata(arguments.data)
    share = QUICK_SHARE if arguments.quick else 1
    portraits = list(measure_sizes([*read_congress(data), *read_photographs(data)][::share]))
    frames = read_frames(data)[::share]
    good = count_readings(read_in(GOOD, portraits, looking=True))
    axes = []
    for axis in AXES:
        started = time.monotonic()
        axes.append(measure_axis(axis, portraits, frames, quick=arguments.quick))
        say(f"{axis.title}: {time.monotonic() - started:.0f} s")
    groups = measure_groups(arguments.utkface, GROUPED // share) if arguments.utkface else []
    return ConditionMap(good, axes, groups, limit_figures(axes, good, portraits))


def figures_of(measured: ConditionMap) -> list[Figure]:
    good = measured.good
    note = f"{good.faces} faces in good condition"
    return [
        Figure("good_found", good.found, at_least=FOUND_AT_LEAST, note=note),
        Figure("good_gender_right", good.gender_right, at_least=GENDER_AT_LEAST, note=note),
        Figure("good_looking", good.looking, at_least=LOOKING_AT_LEAST, note=note),
        Figure("good_age_error", good.age_error, note=note),
        *measured.limits,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the labelled pictures, instead of the one beside the project")
    parser.add_argument("--utkface", type=Path, metavar="DIR", help="folder of UTKFace's aligned faces, for the groups")
    parser.add_argument("--quick", action="store_true", help="few faces and few steps, for CI")
    parser.add_argument("--write", action="store_true", help="write tables and pictures into the documentation")
    arguments = parser.parse_args()
    if arguments.write and (arguments.quick or not arguments.utkface):
        raise SystemExit("--write needs all steps and the groups: leave out --quick, and name --utkface.")
    started = time.monotonic()
    measured = measure(arguments)
    if arguments.write:
        map_report.publish(measured)
    print("\n".join(map_report.tables(measured)))
    figures = figures_of(measured)
    told = {f.name: {"value": round(f.value, 4), "target": f.target, "met": f.met} for f in figures}
    conclude({"ok": all(f.met for f in figures), "seconds": round(time.monotonic() - started), "figures": told})


if __name__ == "__main__":
    main()
