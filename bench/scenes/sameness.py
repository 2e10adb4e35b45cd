"""Two runs of the same frames compared: is every visit of the one in the other, once?"""

from dataclasses import dataclass

from bench.accuracy.scenes import overlap
from bench.scenes.found import Followed, Visit
from bench.scenes.intervals import likeness, total
from bench.scenes.matching import pick_pairs


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
