"""Whether the pipeline alone finds the visits that the whole product finds in the same frames of labelled scenes."""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.accuracy.vision import as_json, print_table
from bench.lib.camera import Camera
from bench.lib.figures import Figure
from bench.lib.frames import as_filmed, as_shot
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from bench.lib.scenes import LabelledScene, find_scenes
from bench.lib.testdata import BESIDE_THE_PROJECT
from bench.lib.visits import await_visits
from testkit import Stack

SCENES = ("intel_walk_and_pause_extended", "pyfeat_appear_disappear")
"""Three people who come together, and one who comes and goes; any other can be named."""
HOURS_AGO = 6
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "log_level": "warning"}
INSIDE = Path(__file__).with_name("isolated_visits.py")
EXPRESSION_COLUMNS = "neutral, happiness, surprise, anger, sadness"

Visit = dict[str, Any]


@dataclass(frozen=True)
class Frames:
    """The frames of a scene as a camera sends them, in a folder."""

    scene: LabelledScene
    folder: Path
    begins_at: datetime

    def write(self) -> None:
        shots = as_filmed(round(self.scene.truth.duration * self.scene.truth.fps), self.scene.truth.fps)
        seconds = {shot.frame: shot.seconds for shot in shots}
        listed = []
        for number, picture in self.scene.video.pictures(list(seconds)):
            name = f"{number:06}.jpg"
            (self.folder / name).write_bytes(as_shot(picture)[0])
            taken_at = self.begins_at + timedelta(seconds=seconds[number])
            listed.append([name, taken_at.isoformat(timespec="milliseconds"), seconds[number]])
        (self.folder / "frames.json").write_text(json.dumps([[name, taken_at] for name, taken_at, _ in listed]))
        (self.folder / "seconds.json").write_text(json.dumps([[name, at_s] for name, _, at_s in listed]))

    def read(self) -> list[tuple[bytes, float]]:
        """Each frame with its second of the scene."""
        listed = json.loads((self.folder / "seconds.json").read_text())
        return [((self.folder / name).read_bytes(), at_s) for name, at_s in listed]


def install_pipeline(folder: Path) -> Path:
    """An environment with the pipeline and the models only; returns its interpreter."""
    models = sorted((ROOT / "models" / "dist").glob("*.whl"))
    if not models:
        raise SystemExit("No wheel in models/dist. Run `just models` first.")
    python = folder / "venv" / "bin" / "python"
    _run(["uv", "venv", "--quiet", "--python", "3.11", str(folder / "venv")])
    install = ["uv", "pip", "install", "--quiet", "--python", str(python)]
    _run([*install, "--require-hashes", "-r", str(ROOT / "requirements" / "pipeline.txt")])
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT / "pipeline")
    _run([*install, "--no-deps", *map(str, folder.glob("onlooker_pipeline-*.whl")), str(models[-1])])
    return python


def compute_alone(python: Path, frames: Frames) -> dict[str, Any]:
    done = _run([str(python), "-I", str(INSIDE), str(frames.folder)], cwd=frames.folder)
    report: dict[str, Any] = json.loads(done.splitlines()[-1])
    return report


def compute_by_product(stack: Stack, frames: Frames) -> list[Visit]:
    camera = Camera(stack, stack.create_stream(), begins_at=frames.begins_at)
    for picture, seconds in frames.read():
        answer = camera.send(picture, seconds)
        if answer.status_code != 201 or "error" in answer.json():
            raise RuntimeError(f"Second {seconds} of {frames.scene.name} was refused: {answer.text}")
    if (ended := camera.end()).status_code != 204:
        raise RuntimeError(f"{frames.scene.name}: the session could not be ended: {ended.text}")
    camera.close()
    await_visits(stack, [camera.stream.id])
    rows = stack.execute(
        f"SELECT present, still, looking, age, gender, {EXPRESSION_COLUMNS} FROM visits_visit WHERE stream_id = %s",
        camera.stream.id,
    )
    return [_as_visit(row) for row in rows]


def find_differences(alone: list[Visit], through_product: list[Visit]) -> list[str]:
    """A line for each visit of either side that the other has not."""
    rest = list(through_product)
    lines = []
    for visit in alone:
        same = next((other for other in rest if _comparable(other) == _comparable(visit)), None)
        if same is None:
            lines.append(f"alone: {visit}")
        else:
            rest.remove(same)
    return lines + [f"through the product: {visit}" for visit in rest]


def _as_visit(row: tuple[Any, ...]) -> Visit:
    intervals = [[[_unix_ms(one.lower), _unix_ms(one.upper)] for one in ranges] for ranges in row[:3]]
    present, still, looking = intervals
    expression = None if row[5] is None else list(row[5:])
    return {
        "present": present,
        "still": still,
        "looking": looking,
        "age": row[3],
        "gender": row[4],
        "expression": expression,
    }


def _comparable(visit: Visit) -> Visit:
    """The columns of the database have single precision."""
    shares = visit["expression"]
    return visit | {
        "age": None if visit["age"] is None else _single(visit["age"]),
        "expression": None if shares is None else [_single(share) for share in shares],
    }


def _single(value: float) -> bytes:
    return struct.pack("<f", value)


def _unix_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _run(command: list[str], *, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} ... failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


def measure(scenes: list[LabelledScene], folder: Path) -> list[Figure]:
    say("An environment with the pipeline and the models alone ...")
    python = install_pipeline(folder)
    begins_at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=HOURS_AGO)
    figures: list[Figure] = []
    with running_product(extra_services="", workers=1, **ROOMY) as stack:
        for scene in scenes:
            frames = Frames(scene, folder / scene.name, begins_at)
            frames.folder.mkdir()
            frames.write()
            report = compute_alone(python, frames)
            through_product = compute_by_product(stack, frames)
            differences = find_differences(report["visits"], through_product)
            say(f"{scene.name}: {len(report['visits'])} visits alone, {len(through_product)} through the product")
            say("\n".join(differences))
            figures += [
                Figure(f"{scene.name}_visits", len(report["visits"]), at_least=1),
                Figure(
                    f"{scene.name}_visits_that_differ",
                    len(differences),
                    at_most=0,
                    note="intervals, age, gender and expression",
                ),
                Figure(f"{scene.name}_peak_mb", report["peak_mb"], note="of the process without the server"),
            ]
            unwanted = report["importable"]
    figures.append(Figure("server_packages_importable", len(unwanted), at_most=0, note=", ".join(unwanted)))
    return figures


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(SCENES), help="names of labelled scenes, with commas between them")
    names = parser.parse_args().only.split(",")
    if not BESIDE_THE_PROJECT.is_dir():
        conclude({"ok": None, "skipped": f"no labelled scenes in {BESIDE_THE_PROJECT}"}, verdict=False)
    known = {scene.name: scene for scene in find_scenes(BESIDE_THE_PROJECT)}
    if unknown := set(names) - set(known):
        raise SystemExit(f"No scene is called {', '.join(sorted(unknown))}. There are: {', '.join(known)}.")
    with tempfile.TemporaryDirectory(prefix="onlooker-pipeline-") as folder:
        figures = measure([known[name] for name in names], Path(folder))
    print_table(figures)
    conclude({"ok": all(f.met for f in figures), "scenes": names, "figures": {f.name: as_json(f) for f in figures}})


if __name__ == "__main__":
    main()
