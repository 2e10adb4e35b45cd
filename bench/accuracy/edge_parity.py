"""Whether a device counts as the server does: labelled scenes through both with the same frames, field by field.

Then the same scenes from the camera's own frames, with no JPEG in between, against their ground truth.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.accuracy.scene_report import as_text, clip_table, compare_counts, summarise
from bench.accuracy.vision import as_json, print_table
from bench.accuracy.visit_scores import ClipScore, score_clip
from bench.accuracy.visits import choose_scenes
from bench.lib.device_computation import running_computation
from bench.lib.figures import Figure
from bench.lib.frames import VARIANTS, Shot, Variant, as_filmed, as_shot
from bench.lib.product import conclude, concluding, say
from bench.lib.scenes import LabelledScene
from bench.lib.visits import Followed, read_answer
from bench.lib.visits import Visit as SceneVisit
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.compute_program import describe_visit
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.jpeg import JpegEncoder
from onlooker_pipeline.frame_time import FrameClock, count_frame, read_timestamp_us, time_frame
from onlooker_pipeline.service_call import Call, Sender, SessionMemory
from onlooker_pipeline.services import scene_analysis
from onlooker_pipeline.vision.picture import decode_picture
from onlooker_pipeline.visits.fold import close_session, fold_call
from onlooker_pipeline.visits.visit import decode_visit

HOURS_AGO = 6
OPTIONS = ComputeOptions(reads_expression=True)
ARRIVES_LATER_S = 0.12
"""At a server, after it was taken."""
SLOW = "at_5_fps"
"""What a device computes where nothing else is said."""

WireVisit = dict[str, Any]


@dataclass
class WorkerSession:
    """A session as a worker computes it: the service, its state and clock, visits folded call by call."""

    begins_at: datetime
    state: Any = None
    clock: FrameClock | None = None
    memory: SessionMemory = field(default_factory=SessionMemory)
    remembered: bytes | None = None
    revisions: list[WireVisit] = field(default_factory=list)
    video_s: list[float] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)

    def compute(self, image: bytes, seconds: float) -> None:
        taken_at = self.begins_at + timedelta(milliseconds=round(seconds * 1000))
        params = {"timestamp": taken_at.isoformat(timespec="milliseconds"), "store": True}
        told_us = read_timestamp_us(params, time_zone="UTC")
        arrived_us = round((taken_at.timestamp() + ARRIVES_LATER_S) * 1e6)
        timed = time_frame(told_us, arrived_us, self.clock)
        call = Call(
            params,
            {"image": image},
            in_session=True,
            memory=self.memory,
            arrived_at=arrived_us / 1e6,
            sender=Sender(),
            timed=timed,
        )
        _, self.state = scene_analysis.compute(call, self.state)
        gap_s = None if self.clock is None else timed.at_s - self.clock.at_us / 1e6
        self.video_s.append(count_frame(gap_s))
        self.blind.append(call.blind[-1] if call.blind else "")
        self.clock = timed.clock
        self.remembered, visits = fold_call(self.remembered, call.seen, stream_id=7, session="key")
        self._keep(visits)

    def finish(self) -> None:
        self._keep(close_session(self.remembered))

    def _keep(self, encoded: list[bytes]) -> None:
        self.revisions += [describe_visit(decode_visit(visit)) for visit in encoded]


def find_differences(server: list[WireVisit], device: list[WireVisit]) -> list[str]:
    """Of all revisions in their order; ids are numbered as they appear."""
    ours, theirs = _numbered(server), _numbered(device)
    lines = [f"server {one}\n    device {other}" for one, other in zip(ours, theirs, strict=False) if one != other]
    if len(ours) != len(theirs):
        lines.append(f"{len(ours)} revisions on the server, {len(theirs)} on the device")
    return lines


def _numbered(visits: list[WireVisit]) -> list[WireVisit]:
    numbers: dict[str, int] = {}
    return [visit | {"id": numbers.setdefault(visit["id"], len(numbers))} for visit in visits]


@dataclass(frozen=True)
class Parity:
    """One scene with the same decoded frames."""

    name: str
    frames: int
    visits: int
    differences: list[str]


def compare_scene(scene: LabelledScene, begins_at: datetime) -> Parity:
    """The JPEG that a camera would send: the worker decodes it, and the device gets the decoded pixels."""
    session = WorkerSession(begins_at)
    with running_computation(OPTIONS) as device:
        for shot, picture in _pictures(scene, as_filmed):
            image = as_shot(picture)[0]
            taken_at = begins_at + timedelta(milliseconds=round(shot.seconds * 1000))
            device.begin(decode_picture(image), taken_at.timestamp())
            session.compute(image, shot.seconds)
            device.end()
        frames = device.finish()
    session.finish()
    differences = find_differences(session.revisions, [visit for frame in frames for visit in frame.visits])
    computed = frames[: len(session.video_s)]
    if [frame.video_s for frame in computed] != session.video_s:
        differences.append("frames count other seconds of video")
    if [frame.blind for frame in computed] != session.blind:
        differences.append("the camera is judged blind at other frames")
    visits = len({visit["id"] for visit in session.revisions})
    return Parity(scene.name, len(computed), visits, differences)


def score_scene(scene: LabelledScene, begins_at: datetime, variant: Variant) -> ClipScore:
    """The camera's own pixels, grey and small as the agent makes them."""
    encoder = JpegEncoder()
    answers: list[Followed] = []
    with running_computation(OPTIONS) as device:
        for shot, picture in _pictures(scene, variant):
            scaled = encoder.scaled(picture)
            taken_at = begins_at + timedelta(milliseconds=round(shot.seconds * 1000))
            device.begin(scaled, taken_at.timestamp())
            answers.append(read_answer(shot.frame, device.end().result, scale=scaled.shape[0] / picture.shape[0]))
        frames = device.finish()
    return score_clip(scene.truth, read_scene_visits(frames, begins_at), answers)


def read_scene_visits(frames: list[ComputedFrame], begins_at: datetime) -> list[SceneVisit]:
    newest = {visit["id"]: visit for frame in frames for visit in frame.visits}
    begins_ms = round(begins_at.timestamp() * 1000)

    def seconds(visit: WireVisit, name: str) -> list[tuple[float, float]]:
        return [((start - begins_ms) / 1000, (end - begins_ms) / 1000) for start, end in visit.get(name, [])]

    return [
        SceneVisit(_as_uuid(id_), seconds(visit, "present"), seconds(visit, "still"), seconds(visit, "looking"))
        for id_, visit in newest.items()
    ]


def _as_uuid(id_: str) -> str:
    """As results name people."""
    return f"{id_[:8]}-{id_[8:12]}-{id_[12:16]}-{id_[16:20]}-{id_[20:]}"


def _pictures(scene: LabelledScene, variant: Variant) -> Iterator[tuple[Shot, Any]]:
    shots = {shot.frame: shot for shot in variant(round(scene.truth.duration * scene.truth.fps), scene.truth.fps)}
    for number, picture in scene.video.pictures(list(shots)):
        yield shots[number], picture


def measure(scenes: list[LabelledScene], *, scored: bool) -> list[Figure]:
    begins_at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=HOURS_AGO)
    compared: list[Parity] = []
    for scene in scenes:
        started = time.monotonic()
        compared.append(compare_scene(scene, begins_at))
        one = compared[-1]
        took_s = time.monotonic() - started
        say(f"  {one.name}: {one.frames} frames, {one.visits} visits, {len(one.differences)} differ, {took_s:.0f} s")
        say("\n".join(f"    {line}" for line in one.differences[:5]))
    frames, visits = sum(one.frames for one in compared), sum(one.visits for one in compared)
    figures = [
        Figure("frames_compared", frames, at_least=1),
        Figure("visits_compared", visits, at_least=1, note=f"of {len(scenes)} scenes"),
        Figure(
            "differences", sum(len(one.differences) for one in compared), at_most=0, note="in any field or revision"
        ),
    ]
    return figures + (score(scenes, begins_at) if scored else [])


def score(scenes: list[LabelledScene], begins_at: datetime) -> list[Figure]:
    say("from the camera's own frames")
    scores = [score_scene(scene, begins_at, as_filmed) for scene in scenes]
    say(as_text(clip_table(scores)))
    say("the same at 5 frames a second")
    slow = [score_scene(scene, begins_at, VARIANTS[SLOW]) for scene in scenes]
    return [*summarise(scores), *compare_counts(SLOW, slow, scores)]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of scenes, with commas between them")
    parser.add_argument("--no-scores", action="store_true", help="compare with the server only")
    arguments = parser.parse_args()
    scenes = choose_scenes(None, arguments.only)
    say(f"{len(scenes)} scenes, through the server's steps and through a device's computing process")
    figures = measure(scenes, scored=not arguments.no_scores)
    print_table(figures)
    # The targets hold for all scenes together.
    judged = [figure for figure in figures[:3] if arguments.only] or figures
    ok = all(figure.met for figure in judged)
    conclude({"ok": ok, "scenes": len(scenes), "figures": {figure.name: as_json(figure) for figure in figures}})


if __name__ == "__main__":
    main()
