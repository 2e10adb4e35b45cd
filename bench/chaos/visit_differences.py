"""Two runs of the same frames compared: is every visit of the one in the other, once?"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.accuracy.visit_scores import pick_pairs
from bench.lib.camera import Filmed
from bench.lib.scenes import likeness, total
from bench.lib.testdata import overlap
from bench.lib.visits import Followed, Visit
from testkit import Stack

STOP_CHANGE_S = 1.0


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
        "slowest_call_s": round(max((filmed.slowest_s for filmed in disturbed), default=0.0), 2),
        "refusals": dict(sum((filmed.refusals for filmed in disturbed), Counter())),
        "worse": [
            f"{filmed.take.reel.scene.name}: {difference}"
            for filmed, difference in zip(disturbed, differences, strict=True)
            if difference.missing
            or difference.extra
            or max(map(abs, difference.stop_changes_s), default=0) > STOP_CHANGE_S
        ],
    }
