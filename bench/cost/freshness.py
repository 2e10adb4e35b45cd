"""How long after the scene its numbers are there: frames in real time, and the data endpoint asked all the while."""

import argparse
import math
import statistics
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2

from bench.lib.camera import Filmed, Reel, Take, film
from bench.lib.clients import ENTITIES, fetch_token, open_data_client
from bench.lib.frames import as_filmed, as_shot
from bench.lib.product import conclude, running_product, say
from bench.lib.scenes import LabelledPerson, LabelledScene, Truth, find_scenes
from bench.lib.testdata import find_testdata
from bench.lib.visits import LOOK_S, PASSING_S, STOP_S
from testkit import Stack, TestStream

LAG_TARGET_S = 60.0
WAIT_LIMIT_S = 2 * LAG_TARGET_S
"""After the last frame: a number that comes too late is still told."""
ASK_EVERY_S = 0.25
SCENES = ("basic", "intel_walk_and_pause_extended")
"""Of which every person is counted rightly: of who is not counted no lag can be told."""
COUNTS = ("passing_by", "interested")


@dataclass(frozen=True)
class FreshnessReading:
    """What the data endpoint said, and when it had said it."""

    at_s: float
    """Unix time."""
    counts: dict[str, int]


@dataclass
class Watch:
    """Asks for one stream's numbers again and again, in a thread of its own."""

    client: httpx2.Client
    from_at: datetime
    readings: list[FreshnessReading] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.over.wait(ASK_EVERY_S):
            asked = {"metrics": ",".join(COUNTS), "from_date": self.from_at.isoformat()}
            answer = self.client.get(ENTITIES, params=asked)
            if answer.status_code != 200:
                self.refused.append(f"{answer.status_code} {answer.text[:200]}")
                continue
            (bucket,) = answer.json()["entities"].values()
            self.readings.append(FreshnessReading(time.time(), {name: bucket[name]["value"] for name in COUNTS}))

    def has_reached(self, wanted: dict[str, int]) -> bool:
        latest = self.readings[-1].counts if self.readings else {}
        return all(latest.get(name, 0) >= count for name, count in wanted.items())


@dataclass(frozen=True)
class Premiere:
    """A scene that was filmed in real time, and what was read of it."""

    truth: Truth
    due: dict[str, list[float]]
    began_s: float
    """Unix time of the scene's second 0."""
    readings: list[FreshnessReading]
    refused: list[str]
    filmed: Filmed

    def lags_s(self, name: str) -> list[float]:
        """For each person, from the frame that makes them count to the number that shows it for good."""
        due = enumerate(self.due[name], start=1)
        return [self._shown_s(name, number) - self.began_s - seconds for number, seconds in due]

    def _shown_s(self, name: str, count: int) -> float:
        """When the number had reached the count and never went below it again; infinite where it did not."""
        below = [place for place, reading in enumerate(self.readings) if reading.counts[name] < count]
        after = below[-1] + 1 if below else 0
        return self.readings[after].at_s if after < len(self.readings) else math.inf


def due_times(truth: Truth, *, stop_s: float) -> dict[str, list[float]]:
    """The seconds of the scene at which one person more counts, by number, as far as it is filmed."""
    passing = [person.present[0][0] + PASSING_S for person in truth.persons if person.passing]
    interested = [_interested_s(person, 1 / truth.fps) for person in truth.persons if person.interested]
    by_number = {"passing_by": sorted(passing), "interested": sorted(interested)}
    return {name: [seconds for seconds in due if seconds < stop_s] for name, due in by_number.items()}


def _interested_s(person: LabelledPerson, frame_s: float) -> float:
    """When they had stood for long enough and, with one frame more, looked for longer than that."""
    stood_s = min(start + STOP_S for start, end in person.still if end - start >= STOP_S)
    left_s = LOOK_S + frame_s
    for start, end in person.looking:
        if end - start >= left_s:
            return max(stood_s, start + left_s)
        left_s -= end - start
    return max(stood_s, person.looking[-1][1])


def show(stack: Stack, reel: Reel, stream: TestStream, *, stop_s: float) -> Premiere:
    """Film a scene as it happens, then just stop, as historic clients do; wait for the numbers that are due."""
    begins_at = datetime.now(UTC)
    take = Take(reel, [shot for shot in reel.shots if shot.seconds < stop_s], starts_s=0.0, is_ended=False)
    due = due_times(reel.scene.truth, stop_s=stop_s)
    wanted = {name: len(seconds) for name, seconds in due.items()}
    with open_data_client(stack, fetch_token(stack, stream)) as client, ThreadPoolExecutor(1) as thread:
        # A range that began with the first frame, to the microsecond, would cut off what a camera rounds.
        watch = Watch(client, begins_at - timedelta(seconds=1))
        watching = thread.submit(watch.run)
        filmed = film(stack, take, stream, begins_at=begins_at, began=time.monotonic())
        give_up_at = time.monotonic() + WAIT_LIMIT_S
        while not watch.has_reached(wanted) and time.monotonic() < give_up_at:
            time.sleep(ASK_EVERY_S)
        watch.over.set()
        watching.result()
    return Premiere(reel.scene.truth, due, begins_at.timestamp(), watch.readings, watch.refused, filmed)


def load_reel(scene: LabelledScene) -> Reel:
    """Every frame as the reference client sends it: grey, ten a second."""
    pictures = {number: as_shot(picture) for number, picture in scene.video.pictures()}
    return Reel(scene, as_filmed(len(pictures), scene.truth.fps), pictures)


def judge(premieres: Sequence[Premiere]) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    figures: dict[str, Any] = {"scenes": [one.truth.name for one in premieres], "lag_target_s": LAG_TARGET_S}
    lags = {name: [lag for one in premieres for lag in one.lags_s(name)] for name in COUNTS}
    for name in COUNTS:
        shown = [lag for lag in lags[name] if lag < math.inf]
        figures |= {
            f"{name}_people": len(lags[name]),
            f"{name}_never_shown": len(lags[name]) - len(shown),
            f"{name}_lag_worst_s": round(max(shown), 2) if shown else None,
            f"{name}_lag_median_s": round(statistics.median(shown), 2) if shown else None,
            f"{name}_at_the_end": [one.readings[-1].counts[name] if one.readings else None for one in premieres],
        }
    figures |= {
        "readings": sum(len(one.readings) for one in premieres),
        "refused": [text for one in premieres for text in one.refused][:10],
        "frames_lost": sum(one.filmed.lost for one in premieres),
    }
    return {"ok": is_ok(figures, lags)} | figures


def is_ok(figures: dict[str, Any], lags: dict[str, list[float]]) -> bool:
    every = [lag for some in lags.values() for lag in some]
    return bool(every) and max(every) <= LAG_TARGET_S and not figures["refused"]


def _choose(names: str) -> list[LabelledScene]:
    data = find_testdata()
    known = {scene.name: scene for scene in (*find_scenes(data / "clips"), *find_scenes(data / "synth" / "out"))}
    if unknown := set(names.split(",")) - known.keys():
        raise SystemExit(f"No scene is called {', '.join(sorted(unknown))}. There are: {', '.join(known)}.")
    return [known[name] for name in names.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(SCENES), help="names of scenes, with commas between them")
    parser.add_argument("--stop", type=float, default=math.inf, help="the second at which every camera dies")
    arguments = parser.parse_args()
    reels = [load_reel(scene) for scene in _choose(arguments.only)]
    with running_product(log_level="warning") as stack, ThreadPoolExecutor(len(reels)) as cameras:
        say(f"{len(reels)} scenes, all at once, in real time")
        streams = [stack.create_stream() for _ in reels]
        showing = partial(show, stack, stop_s=arguments.stop)
        premieres = list(cameras.map(showing, reels, streams))
    for one in premieres:
        for name in COUNTS:
            say(f"  {one.truth.name} {name}: {', '.join(f'{lag:.1f}' for lag in one.lags_s(name))} s")
    conclude(judge(premieres))


if __name__ == "__main__":
    main()
