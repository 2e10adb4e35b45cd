"""Two runs of the same frames compared: is every visit of the one in the other, once?"""

import argparse
import secrets
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.accuracy.visit_scores import pick_pairs
from bench.lib.camera import Filmed, Reel, Take, film, plan_takes
from bench.lib.processes import Killer
from bench.lib.product import conclude, running_product, say
from bench.lib.scenes import LabelledScene, find_scenes, likeness, total
from bench.lib.testdata import find_testdata, overlap
from bench.lib.visits import Followed, Visit, await_visits, read_visits
from testkit import Stack, TestStream


@dataclass(frozen=True)
class Run:
    """What one run made of a scene."""

    visits: list[Visit]
    answers: list[Followed]

    @property
    def passing(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.is_passing]


@dataclass(frozen=True)
class Difference:
    """The second run of a scene against the first."""

    missing: list[str]
    """Visits of the first run that the second does not have."""
    extra: list[str]
    stop_changes_s: list[float]
    """Of those in both, how much longer they stood in the second."""


def compare_runs(first: Run, second: Run) -> Difference:
    by_id = {visit.id: visit for visit in (*first.visits, *second.visits)}
    # A visit that barely passes by in one run need not in the other: it is there all the same.
    near = _nearness(first, second)
    pairs = pick_pairs(near)
    matched = {one: other for one, other in pairs.items() if by_id[one].is_passing or by_id[other].is_passing}
    return Difference(
        missing=[visit.id for visit in first.passing if visit.id not in matched],
        extra=[visit.id for visit in second.passing if visit.id not in matched.values()],
        stop_changes_s=[total(by_id[other].still) - total(by_id[one].still) for one, other in matched.items()],
    )


def _nearness(first: Run, second: Run) -> dict[tuple[str, str], float]:
    """By time, and by place in the frames that both runs answered."""
    alike = {
        (one.id, other.id): likeness(one.present, other.present) for one in first.visits for other in second.visits
    }
    together = {pair: 0.0 for pair, shared in alike.items() if shared > 0}
    answered = {answer.frame: answer.places for answer in first.answers}
    for answer in second.answers:
        for one, here in answered.get(answer.frame, {}).items():
            for other, there in answer.places.items():
                rois = here.face or here.body, there.face or there.body
                if (one, other) in together and rois[0] and rois[1]:
                    together[one, other] += overlap(rois[0], rois[1])
    return {pair: alike[pair] + shared for pair, shared in together.items()}


CAMERAS = 4
FULL_S = 300
KILLS = 10
KILLED = ["worker-1", "worker-2", "recorder", "nats"]
STOP_CHANGE_S = 1.0
IDLE_S = 20
"""After which a session that goes silent has ended; shorter than usual, to see it."""
SETTINGS = {
    "workers": 2,
    "session_idle_s": IDLE_S,
    "rate_limit_per_second": 1e5,
    "rate_limit_burst": 10**5,
    "log_level": "info",
}


def run(stack: Stack, takes: Sequence[Sequence[Take]], begins_at: datetime, *, live: bool) -> list[Filmed]:
    """All cameras at once; each take has a stream of its own."""
    # One after another: the streams of a test share an owner, who can be made once only.
    streams = [[stack.create_stream() for _ in planned] for planned in takes]
    began = time.monotonic() if live else None

    def play(planned: Sequence[Take], own: Sequence[TestStream]) -> list[Filmed]:
        return [
            film(stack, take, stream, begins_at=_second_0(begins_at, take), began=began)
            for take, stream in zip(planned, own, strict=True)
        ]

    with ThreadPoolExecutor(CAMERAS) as threads:
        return [filmed for done in threads.map(play, takes, streams) for filmed in done]


def _second_0(begins_at: datetime, take: Take) -> datetime:
    return begins_at + timedelta(seconds=take.starts_s)


def measure(scenes: list[LabelledScene], *, seconds: int, seed: int) -> dict[str, Any]:
    reels = [Reel.of(scene) for scene in scenes]
    takes = [plan_takes(reels, seconds=seconds, first=camera) for camera in range(CAMERAS)]
    kills = max(1, round(KILLS * seconds / FULL_S))
    with running_product(**SETTINGS) as stack:
        begins_at = datetime.now(UTC).replace(microsecond=0)
        killer = Killer(stack, KILLED, kills=kills, seed=seed, pause_s=_pause(seconds, kills))
        killer.start()
        say(f"{CAMERAS} cameras for {seconds} s, {kills} kills, seed {seed}")
        disturbed = run(stack, takes, begins_at, live=True)
        killer.wait()
        say("the same frames undisturbed")
        quiet = run(stack, takes, begins_at, live=False)
        await_visits(stack, [filmed.stream.id for filmed in (*disturbed, *quiet)])
        pairs = [
            (_found(stack, one, begins_at), _found(stack, two, begins_at))
            for one, two in zip(quiet, disturbed, strict=True)
        ]
        figures = judge([compare_runs(*pair) for pair in pairs], disturbed)
        figures |= {
            "people": sum(len(undisturbed.passing) for undisturbed, _ in pairs),
            "written_twice": written_twice(stack),
            "kills": dict(killer.killed),
            "kills_target": kills,
        }
        ok = figures["ok"] and figures["people"] and not figures["written_twice"] and killer.done
        if not ok:
            print(stack.output.read_text()[-20_000:], file=sys.stderr)
    return figures | {"ok": bool(ok), "seconds": seconds, "seed": seed}


def _pause(seconds: float, kills: int) -> tuple[float, float]:
    """So that the kills are spread over the whole run."""
    return 0.2 * seconds / kills, 1.4 * seconds / kills


def _found(stack: Stack, filmed: Filmed, begins_at: datetime) -> Run:
    return Run(read_visits(stack, filmed.stream.id, begins_at=_second_0(begins_at, filmed.take)), filmed.answers)


def written_twice(stack: Stack) -> int:
    query = "SELECT count(*) FROM (SELECT FROM visits_visit GROUP BY stream_id, id HAVING count(*) > 1) AS twice"
    return int(stack.execute(query)[0][0])


def judge(differences: Sequence[Difference], disturbed: Sequence[Filmed]) -> dict[str, Any]:
    changes = [abs(change) for difference in differences for change in difference.stop_changes_s]
    missing, extra = (sum(len(getattr(d, kind)) for d in differences) for kind in ("missing", "extra"))
    return {
        "ok": not missing and not extra and max(changes, default=0.0) <= STOP_CHANGE_S,
        "visits_missing": missing,
        "visits_extra": extra,
        "stop_change_worst_s": round(max(changes, default=0.0), 2),
        "stop_change_target_s": STOP_CHANGE_S,
        "stop_change_mean_s": round(statistics.fmean(changes), 3) if changes else None,
        "frames_answered": sum(len(filmed.answers) for filmed in disturbed),
        "frames_lost": sum(filmed.lost for filmed in disturbed),
        "refusals": dict(sum((filmed.refusals for filmed in disturbed), Counter())),
        "worse": [
            f"{filmed.take.reel.scene.name}: {difference}"
            for filmed, difference in zip(disturbed, differences, strict=True)
            if difference.missing
            or difference.extra
            or max(map(abs, difference.stop_changes_s), default=0) > STOP_CHANGE_S
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=int, default=FULL_S)
    parser.add_argument("seed", nargs="?", type=int, default=secrets.randbelow(10**6))
    arguments = parser.parse_args()
    scenes = find_scenes(find_testdata() / "synth" / "out")
    conclude(measure(scenes, seconds=arguments.seconds, seed=arguments.seed))


if __name__ == "__main__":
    main()
