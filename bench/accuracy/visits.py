"""How right visits are on labelled scenes, through the whole product; `python -m bench.accuracy.visits --help`."""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2

from bench.accuracy.scene_report import as_text, clip_table, compare_counts, summarise, write_page
from bench.accuracy.vision import as_json, print_table
from bench.accuracy.visit_scores import ClipScore, score_clip
from bench.lib.camera import Camera
from bench.lib.figures import Figure
from bench.lib.frames import VARIANTS, Shot, Variant, as_filmed, as_shot
from bench.lib.product import conclude, running_product, say
from bench.lib.scenes import LabelledScene, find_scenes
from bench.lib.testdata import find_testdata
from bench.lib.visits import Followed, await_visits, read_answer, read_visits
from testkit import Stack

WORKERS = 2
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "log_level": "warning"}
HELD_OUT = (
    "The project's clips and scenes were used to choose the constants, so their figures are optimistic. Scenes "
    "that the generator composes from other seeds (name their folder) measure fairly."
)


def choose_scenes(folder: Path | None, only: str | None) -> list[LabelledScene]:
    if folder is None:
        data = find_testdata()
        scenes = [*find_scenes(data / "clips"), *find_scenes(data / "synth" / "out")]
    else:
        scenes = find_scenes(folder)
    names = only.split(",") if only else [scene.name for scene in scenes]
    if unknown := set(names) - {scene.name for scene in scenes}:
        raise SystemExit(f"No scene is called {', '.join(sorted(unknown))}.")
    if not scenes:
        raise SystemExit(f"No <clip>.gt.json in {folder}: name a folder of videos with their ground truth beside them.")
    return [scene for scene in scenes if scene.name in names]


def measure(scenes: list[LabelledScene], variants: list[str]) -> tuple[list[ClipScore], list[Figure]]:
    with running_product(workers=WORKERS, **ROOMY) as stack:
        say(f"{len(scenes)} scenes as they were filmed")
        scores = play_scenes(stack, scenes, as_filmed)
        figures = summarise(scores)
        say(as_text(clip_table(scores)))
        for name in variants:
            say(f"the same {name.replace('_', ' ')}")
            figures += compare_counts(name, play_scenes(stack, scenes, VARIANTS[name]), scores)
    return scores, figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of <clip>.mp4 with <clip>.gt.json; else the test data")
    parser.add_argument("--only", help="names of scenes, with commas between them")
    parser.add_argument("--variants", default=",".join(VARIANTS), help=f"of {', '.join(VARIANTS)}; or none")
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    variants = [] if arguments.variants == "none" else arguments.variants.split(",")
    if unknown := set(variants) - set(VARIANTS):
        raise SystemExit(f"Nothing is called {', '.join(sorted(unknown))}. There are: {', '.join(VARIANTS)}, none.")
    if arguments.write and (arguments.only or arguments.folder or set(variants) != set(VARIANTS)):
        raise SystemExit("--write needs all figures, of the data beside the project: leave out what narrows them.")
    scores, figures = measure(choose_scenes(arguments.folder, arguments.only), variants)
    if arguments.write:
        write_page(scores, figures, HELD_OUT)
    print(as_text(clip_table(scores)), end="\n\n")
    print_table(figures)
    print(HELD_OUT if arguments.folder is None else "")
    conclude(
        {"ok": all(f.met for f in figures), "scenes": len(scores), "figures": {f.name: as_json(f) for f in figures}}
    )


AT_ONCE = 4
REPEAT_S = 30.0
HOURS_AGO = 6


def play_scenes(stack: Stack, scenes: Sequence[LabelledScene], variant: Variant) -> list[ClipScore]:
    """Play all of them, each to a stream of its own; then compare what PostgreSQL has with the truth."""
    begins_at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=HOURS_AGO)
    cameras = [Camera(stack, stack.create_stream(), begins_at=begins_at) for _ in scenes]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        followed = list(threads.map(lambda scene, camera: _play(scene, camera, variant), scenes, cameras))
    await_visits(stack, [camera.stream.id for camera in cameras])
    return [
        score_clip(scene.truth, read_visits(stack, camera.stream.id, begins_at=begins_at), answers)
        for scene, camera, answers in zip(scenes, cameras, followed, strict=True)
    ]


def _play(scene: LabelledScene, camera: Camera, variant: Variant) -> list[Followed]:
    started = time.monotonic()
    frames = round(scene.truth.duration * scene.truth.fps)
    shots = {shot.frame: shot for shot in variant(frames, scene.truth.fps)}
    answers = []
    for number, picture in scene.video.pictures(list(shots)):
        bytes_, scale = as_shot(picture)
        answers.append(read_answer(number, _send(camera, bytes_, shots[number]), scale=scale))
    ended = camera.end()
    if ended.status_code != 204:
        raise RuntimeError(f"{scene.name}: the session could not be ended: {ended.text}")
    camera.close()
    say(f"  {scene.name}: {len(answers)} frames in {time.monotonic() - started:.0f} s")
    return answers


def _send(camera: Camera, picture: bytes, shot: Shot) -> dict[str, object]:
    """Until it is computed: a machine that is busy with other things must not decide what is counted."""
    give_up_at = time.monotonic() + REPEAT_S
    while True:
        answer: httpx2.Response = camera.send(picture, shot.seconds)
        if answer.status_code == 201 and "error" not in (result := answer.json()):
            return dict(result)
        if answer.status_code not in (429, 503) or time.monotonic() > give_up_at:
            raise RuntimeError(f"Frame {shot.frame} was refused: {answer.status_code} {answer.text}")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
