"""How soon a blind camera is in coverage, and how seldom a healthy one: clips turned black, covered, dark and so on."""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import cv2
import numpy as np

from bench.accuracy.blind_agent import run_agents
from bench.lib.camera import Camera
from bench.lib.camera_faults import CHANGES, Change, dim
from bench.lib.frames import as_sent, shrink
from bench.lib.product import conclude, concluding, running_product, say
from bench.lib.testdata import Video, find_testdata, read_clips, read_scenes
from onlooker.slots import SLOT
from onlooker_pipeline.service_call import PictureFault
from testkit import Stack, TestStream

FPS = 2.0
HEALTHY_S, FAULTY_S, AFTER_S = 35.0, 40.0, 20.0
KNOWN_WITHIN_S, OVER_WITHIN_S = 30.0, 10.0
MINUTES = 10.0
FALSE_AT_MOST_S = 60.0
CAMERAS = 4
TRIES = 5
WRITTEN_WITHIN_S = 8.0
FILMS = {"pyfeat_appear_disappear"}
"""It is cut from several takes: there is no camera that could be turned."""
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5}
FROZEN = "frozen"
ALL = (*CHANGES, FROZEN)
BLIND = """SELECT slot_at, fault, video_s FROM streams_blindness
           WHERE stream_id = %s AND slot_at >= %s AND slot_at < %s"""


@dataclass(frozen=True)
class Trial:
    """One session: a healthy view, something that goes wrong at the end of a slot, and the healthy view again."""

    scene: str
    what: str
    """What goes wrong: a name of CHANGES, or FROZEN."""
    edge_at: datetime
    """The beginning of a slot, at which it ends."""

    @property
    def fault(self) -> PictureFault:
        return PictureFault.FROZEN if self.what == FROZEN else CHANGES[self.what][0]

    @property
    def faulty_s(self) -> float:
        """Before the edge; a camera that is turned stays so."""
        return KNOWN_WITHIN_S if self.fault is PictureFault.MOVED else FAULTY_S

    def pictures(self, views: Sequence[Any]) -> Iterator[tuple[float, Any]]:
        """Seconds from the edge, and what the camera shows then."""
        dice = np.random.default_rng(len(self.what))
        stuck = views[0]
        for number in range(round((HEALTHY_S + self.faulty_s + AFTER_S) * FPS)):
            seconds, view = number / FPS - HEALTHY_S - self.faulty_s, views[number % len(views)]
            is_wrong = seconds >= -self.faulty_s and (seconds < 0 or self.fault is PictureFault.MOVED)
            if not is_wrong:
                stuck = view
            elif self.what == FROZEN:
                view = stuck
            else:
                view = CHANGES[self.what][1](view, dice)
            yield seconds, view


@dataclass(frozen=True)
class TrialResult:
    """What coverage has of a trial, in seconds after its fault began and ended; None where it has nothing."""

    trial: Trial
    known_after_s: float | None
    over_after_s: float
    others: dict[str, float]
    """Seconds of other faults."""

    @property
    def ok(self) -> bool:
        is_known = self.known_after_s is not None and self.known_after_s <= KNOWN_WITHIN_S
        return is_known and self.over_after_s <= OVER_WITHIN_S and not self.others


def read_views(video: Video) -> list[Any]:
    """Grey pictures as a camera has them, two a second; of a short clip all, unless slow motion would make its cuts
    those of a camera that is turned."""
    duration_s = float(video.truth["duration"])
    is_slow = duration_s <= AFTER_S and video.name not in FILMS
    numbers = range(0, round(duration_s * video.fps), 1 if is_slow else round(video.fps / FPS))
    return [cv2.cvtColor(shrink(picture)[0], cv2.COLOR_BGR2GRAY) for _, picture in video.pictures(numbers)]


def film_trial(stack: Stack, stream: TestStream, trial: Trial, views: Sequence[Any]) -> None:
    camera = Camera(stack, stream, begins_at=trial.edge_at)
    for seconds, picture in trial.pictures(views):
        _send(camera, picture, seconds)
    camera.end()
    camera.close()


def film_healthy(
    stack: Stack,
    stream: TestStream,
    views: Sequence[Any],
    *,
    begins_at: datetime,
    minutes: float,
    change: Change | None,
) -> None:
    camera, dice = Camera(stack, stream, begins_at=begins_at), np.random.default_rng(7)
    for number in range(round(minutes * 60 * FPS)):
        view = views[number % len(views)]
        _send(camera, change(view, dice) if change else view, number / FPS)
    camera.end()
    camera.close()


def _send(camera: Camera, picture: Any, seconds: float) -> None:
    """Again where the machine was too busy for it: coverage is measured here, not capacity."""
    encoded = as_sent(picture)
    for _ in range(TRIES):
        answer = camera.send(encoded, seconds)
        if answer.status_code == 201 and "error" not in answer.json():
            return
    raise AssertionError(answer.text)


def score_trial(rows: Sequence[tuple[datetime, str, float]], trial: Trial) -> TrialResult:
    """The fault ends with a slot: what is in that slot came late, what is in the next one stayed too long."""
    before_s = sum(video_s for at, fault, video_s in rows if fault == trial.fault and at < trial.edge_at)
    after_s = sum(video_s for at, fault, video_s in rows if fault == trial.fault and at >= trial.edge_at)
    others = {fault: round(video_s, 1) for _, fault, video_s in rows if fault != trial.fault}
    if trial.fault is PictureFault.MOVED:  # an event: it is told once, and the new view is watched
        known_after_s = trial.faulty_s if before_s else None  # at most
        return TrialResult(trial, known_after_s, before_s + after_s, others)
    known_after_s = round(FAULTY_S - before_s, 1) if before_s else None
    return TrialResult(trial, known_after_s, round(after_s, 1), others)


def plan_trials(scene: str, *, begins_at: datetime, faults: Sequence[str] = ALL) -> list[Trial]:
    kinds = [what for what in faults if what != "moved" or scene not in FILMS]
    return [Trial(scene, what, begins_at + (2 * number + 1) * SLOT) for number, what in enumerate(kinds)]


def plan_films(video: Video, faults: Sequence[str] = ALL) -> dict[str, tuple[str, list[Any], tuple[float, float]]]:
    """For agents, whose time is real: how long each fault may be in coverage, however its slots lie."""
    views = read_views(video)
    films = {}
    for trial in plan_trials(video.name, begins_at=datetime.now(UTC), faults=faults):
        least_s = 0.0 if trial.fault is PictureFault.MOVED else FAULTY_S - KNOWN_WITHIN_S
        most_s = OVER_WITHIN_S if trial.fault is PictureFault.MOVED else FAULTY_S + OVER_WITHIN_S
        films[trial.what] = (trial.fault.value, [picture for _, picture in trial.pictures(views)], (least_s, most_s))
    return films


def measure_scene(
    stack: Stack, video: Video, *, minutes: float, faults: Sequence[str] = ALL
) -> tuple[list[TrialResult], dict[str, float]]:
    """Its trials, and the false seconds of the healthy camera by day and by night."""
    views = read_views(video)
    faulty, healthy = stack.create_stream(), stack.create_stream()
    begins_at = (datetime.now(UTC) - timedelta(hours=12)).replace(minute=0, second=0, microsecond=0)
    trials = plan_trials(video.name, begins_at=begins_at, faults=faults)
    for trial in trials:
        film_trial(stack, faulty, trial, views)
    for number, change in enumerate((None, dim)):
        at = begins_at + number * timedelta(hours=1)
        film_healthy(stack, healthy, views, begins_at=at, minutes=minutes, change=change)
    _await_coverage(stack, healthy, 2 * minutes * 60)
    results = [
        score_trial(stack.execute(BLIND, faulty.id, trial.edge_at - SLOT, trial.edge_at + SLOT), trial)
        for trial in trials
    ]
    hours = {"day": begins_at, "night": begins_at + timedelta(hours=1)}
    rows = {name: stack.execute(BLIND, healthy.id, at, at + timedelta(hours=1)) for name, at in hours.items()}
    return results, {name: sum(row[2] for row in found) for name, found in rows.items()}


def _await_coverage(stack: Stack, stream: TestStream, seconds: float) -> None:
    """Until all that was sent is written."""
    query = """SELECT coalesce(sum(video_s), 0) FROM (
                   SELECT video_s FROM streams_coverage WHERE stream_id = %(id)s
                   UNION ALL SELECT video_s FROM streams_blindness WHERE stream_id = %(id)s) written"""
    deadline = datetime.now(UTC) + timedelta(seconds=WRITTEN_WITHIN_S)
    while datetime.now(UTC) < deadline:
        [[written_s]] = stack.execute(query.replace("%(id)s", str(stream.id)))
        if written_s >= seconds - 2:
            return
    raise TimeoutError(f"{written_s:.0f} of {seconds:.0f} s were written")


def describe(result: TrialResult) -> str:
    known = "never" if result.known_after_s is None else f"after {result.known_after_s:.1f} s"
    more = f", and {result.others}" if result.others else ""
    verdict = "" if result.ok else "  NOT IN TIME"
    return (
        f"  {result.trial.scene} {result.trial.what}: known {known}, over after {result.over_after_s} s{more}{verdict}"
    )


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the folder with labelled clips and scenes")
    parser.add_argument("--only", nargs="+", default=[], help="parts of the names of scenes")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of each healthy scene, by day and by night")
    parser.add_argument("--faults", nargs="+", choices=ALL, default=ALL, help="only these")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--no-agent", action="store_true", help="only through a bare client")
    ways.add_argument("--only-agent", action="store_true", help="only through the agent, with the first of the scenes")
    arguments = parser.parse_args()
    faults = arguments.faults
    data = find_testdata(arguments.data)
    videos: list[Video] = [*read_clips(data), *read_scenes(data)]
    chosen = [video for video in videos if not arguments.only or any(part in video.name for part in arguments.only)]
    results: list[TrialResult] = []
    false_s: dict[str, float] = {}
    with running_product(workers=2, **ROOMY) as stack, ThreadPoolExecutor(CAMERAS) as threads:
        by_client = [] if arguments.only_agent else chosen
        measured = threads.map(
            lambda video: measure_scene(stack, video, minutes=arguments.minutes, faults=faults), by_client
        )
        for video, (found, false) in zip(by_client, measured, strict=True):
            results += found
            false_s |= {f"{video.name} by {light}": round(seconds, 1) for light, seconds in false.items() if seconds}
            for result in found:
                say(describe(result))
            say(f"  {video.name} healthy: {false} false seconds")
        agent = {} if arguments.no_agent else run_agents(stack, plan_films(chosen[0], faults), fps=FPS)
    is_short = arguments.only or arguments.no_agent or arguments.only_agent or len(faults) < len(ALL)
    is_whole = not is_short and arguments.minutes >= MINUTES
    _conclude(results, false_s, agent, minutes=2 * arguments.minutes * len(by_client), is_whole=is_whole)


def _conclude(
    results: list[TrialResult], false_s: dict[str, float], agent: dict[str, Any], *, minutes: float, is_whole: bool
) -> None:
    known = [result.known_after_s for result in results if result.known_after_s is not None]
    figures = {
        "ok": all(result.ok for result in results)
        and sum(false_s.values()) <= FALSE_AT_MOST_S
        and all(one["ok"] for one in agent.values()),
        "faults": len(results),
        "in_time": sum(result.ok for result in results),
        "known_after_s_at_most": max(known, default=None),
        "known_within_s": KNOWN_WITHIN_S,
        "over_after_s_at_most": max((result.over_after_s for result in results), default=None),
        "over_within_s": OVER_WITHIN_S,
        "healthy_minutes": minutes,
        "false_s": round(sum(false_s.values()), 1),
        "false_s_at_most": FALSE_AT_MOST_S,
        "false_by_scene": false_s,
        "through_the_agent": agent,
    }
    conclude(figures, verdict=is_whole)


if __name__ == "__main__":
    main()
