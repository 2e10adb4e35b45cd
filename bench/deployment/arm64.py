"""The pipeline on 64-bit ARM, emulated: a labelled scene must have the people that it has on this machine."""

import argparse
import json
import math
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.accuracy.pipeline_alone import INSIDE, Frames, Visit
from bench.accuracy.vision import as_json, print_table
from bench.lib.arm_root import PARTS, ArmRoot, unpack_arm_root
from bench.lib.figures import Figure
from bench.lib.product import ROOT, conclude, concluding, say
from bench.lib.scenes import LabelledScene, find_scenes
from bench.lib.testdata import BESIDE_THE_PROJECT

SCENE = "intel_head_pose_face_detection_female"
"""The shortest: one person, 1.9 seconds; about a minute of CPU. Any other can be named."""
CPU = "cortex-a72"
"""That of a Raspberry Pi 4; cortex-a76 is that of a Raspberry Pi 5."""
FRAMES_PER_SECOND = 5.0
"""The agent's, where the device computes."""
LIMIT_S = 3600.0
AGE_TARGET_YEARS = 0.5
BEGINS_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ABOUT_IT = "import json, platform; print(json.dumps([platform.machine(), platform.python_version()]))"


def install(root: ArmRoot, folder: Path) -> None:
    models = sorted((ROOT / "models" / "dist").glob("*.whl"))
    if not models:
        raise SystemExit("No wheel in models/dist. Run `just models` first.")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT / "pipeline", check=True, capture_output=True, timeout=300)
    root.install(ROOT / "requirements" / "pipeline.txt", *folder.glob("onlooker_pipeline-*.whl"), models[-1])


def thin_out(frames: Frames, *, fps: float, seconds: float) -> float:
    """Leave only so many frames a second, and so many seconds; how long a frame lasts then."""
    listed = json.loads((frames.folder / "frames.json").read_text())
    step = max(1, round(frames.scene.truth.fps / fps))
    kept = listed[: math.ceil(seconds * frames.scene.truth.fps)][::step]
    (frames.folder / "frames.json").write_text(json.dumps(kept))
    say(f"{frames.scene.name}: {len(kept)} of {len(listed)} frames")
    return step / frames.scene.truth.fps


def compute_here(folder: Path) -> list[Visit]:
    command = [sys.executable, str(INSIDE), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return _visits(done.stdout)


def compute_on_arm(root: ArmRoot, folder: Path) -> list[Visit]:
    inside = root.path / "opt" / "frames"
    shutil.copytree(folder, inside)
    shutil.copy(INSIDE, root.path / "opt" / INSIDE.name)
    return _visits(root.run_python("-u", f"/opt/{INSIDE.name}", "/opt/frames", limit_s=LIMIT_S))


def _visits(printed: str) -> list[Visit]:
    found: list[Visit] = json.loads(printed.splitlines()[-1])["visits"]
    return sorted(found, key=lambda visit: (visit["present"], visit["looking"]))


def apart_ms(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> float:
    """How far the beginnings and ends of intervals lie apart at most; infinite if one side has more of them."""
    if len(one) != len(other):
        return math.inf
    edges = (abs(a - b) for left, right in zip(one, other, strict=True) for a, b in zip(left, right, strict=True))
    return float(max(edges, default=0))


def compare(here: list[Visit], there: list[Visit], *, frame_s: float) -> list[Figure]:
    """Person by person, in the order in which they came."""
    pairs = list(zip(here, there, strict=False))
    times = [apart_ms(one[name], two[name]) for one, two in pairs for name in ("present", "still", "looking")]
    ages = [_apart(one["age"], two["age"]) for one, two in pairs]
    genders = sum(one["gender"] != two["gender"] for one, two in pairs)
    return [
        Figure("people_here", len(here), at_least=1),
        Figure("people_on_arm", len(there), at_least=len(here), at_most=len(here)),
        Figure(
            "times_apart_ms",
            min(max(times, default=math.inf), 1e9),
            at_most=frame_s * 1000,
            note="present, still and looking; at most a frame",
        ),
        Figure("ages_apart_years", min(max(ages, default=math.inf), 1e9), at_most=AGE_TARGET_YEARS),
        Figure("genders_that_differ", genders, at_most=0),
    ]


def _apart(one: float | None, other: float | None) -> float:
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    return abs(one - other)


def measure(scene: LabelledScene, folder: Path, *, cpu: str, seconds: float) -> dict[str, Any]:
    root = unpack_arm_root(folder, cpu=cpu)
    install(root, folder)
    machine, python = json.loads(root.run_python("-c", ABOUT_IT, limit_s=300))
    say(f"{cpu}: {machine}, Python {python}; here {platform.machine()}")
    frames = Frames(scene, folder / scene.name, BEGINS_AT)
    frames.folder.mkdir()
    frames.write()
    frame_s = thin_out(frames, fps=FRAMES_PER_SECOND, seconds=seconds)
    here = compute_here(frames.folder)
    began_s = time.monotonic()
    there = compute_on_arm(root, frames.folder)
    took_s = time.monotonic() - began_s
    for side, visits in (("here", here), ("on ARM", there)):
        say("\n".join(f"{side}: {visit}" for visit in visits))
    figures = [
        Figure("is_arm", float(machine == "aarch64"), at_least=1),
        *compare(here, there, frame_s=frame_s),
        Figure("took_s", took_s, note="emulated: says nothing about a device"),
    ]
    print_table(figures)
    return {"ok": all(f.met for f in figures), "scene": scene.name, "cpu": cpu, "seconds": seconds} | {
        "figures": {f.name: as_json(f) for f in figures}
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", default=SCENE, help=f"name of a labelled scene ({SCENE})")
    parser.add_argument("--cpu", default=CPU, choices=sorted(PARTS), help=f"which processor is emulated ({CPU})")
    parser.add_argument("--seconds", type=float, help="only so many seconds of the scene")
    arguments = parser.parse_args()
    if not BESIDE_THE_PROJECT.is_dir():
        conclude({"ok": None, "skipped": f"no labelled scenes in {BESIDE_THE_PROJECT}"}, verdict=False)
    known = {scene.name: scene for scene in find_scenes(BESIDE_THE_PROJECT)}
    if arguments.scene not in known:
        raise SystemExit(f"No scene is called {arguments.scene}. There are: {', '.join(known)}.")
    scene = known[arguments.scene]
    with tempfile.TemporaryDirectory(prefix="onlooker-arm-", ignore_cleanup_errors=True) as folder:
        conclude(measure(scene, Path(folder), cpu=arguments.cpu, seconds=arguments.seconds or scene.truth.duration))


if __name__ == "__main__":
    main()
