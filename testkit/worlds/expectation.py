"""The answer that the oracle gives to a question, and where an actual answer differs from it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil
from typing import Any

from onlooker.metrics.definitions import AGE_KNOWN_ABOVE, GENDER_KNOWN_ABOVE, METRICS, Unit
from onlooker.metrics.extensions import CARRIED, EXTENSIONS, QUALITY
from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import EVER_US, SLOT_US, StreamGroups, untold
from testkit.coverage_oracle import CameraLog
from testkit.kept_sums import rounded
from testkit.oracle import Figures, Judged, Thresholds, count_judged, judge
from testkit.worlds.cameras import SECONDS_APART, expect_extensions, is_same_coverage, is_same_quality
from testkit.worlds.clocks import EDGES, Era, moment_at
from testkit.worlds.world import Question

PAGE = 50
KNOWN = Thresholds(senior_age=50, gender_above=GENDER_KNOWN_ABOVE, age_above=AGE_KNOWN_ABOVE)
TOLERANCES = {Unit.SECONDS: 1e-3, Unit.SHARE: 1e-6}
"""Seconds and shares may differ by this much; counts may not differ."""
UNITS = {name: metric.unit for name, metric in METRICS.items()}


@dataclass(frozen=True)
class Expected:
    """All buckets of a range."""

    zone: str
    edges_us: list[int]
    keys: list[str]
    figures: list[Figures]
    inexact_pages: frozenset[int]

    def add_coverage(self, question: Question, log: CameraLog) -> None:
        """The extension metrics of each bucket, as far as it lies inside the range."""
        for figures, (begins_us, ends_us) in zip(self.figures, pairwise(self.edges_us), strict=True):
            clipped_us = max(begins_us, question.from_us), min(ends_us, question.to_us)
            figures.update(expect_extensions(log, *clipped_us, figures))


def parameters_of(question: Question, zone: str) -> dict[str, str]:
    parameters = {
        "metrics": ",".join(question.metrics),
        "from_date": written(question.from_us, zone, question.style),
        "to_date": written(question.to_us, zone, question.style),
        "time": question.time,
    }
    filters = ",".join(f"{name}:{part}" for name, parts in question.filters for part in parts)
    others = {"tz": question.tz, "by": ",".join(question.by), "filter": filters}
    return parameters | {name: value for name, value in others.items() if value}


def written(at_us: int, zone: str, style: str) -> str:
    """A moment in one of the ways clients write it; in UTC if that way can't express it."""
    local = moment_at(at_us, zone)
    offset = local.utcoffset()
    assert offset is not None
    if style == "naive" and local.replace(fold=0).astimezone(UTC) == moment_at(at_us):
        return local.replace(tzinfo=None).isoformat()
    if style == "basic" and not offset.total_seconds() % 60:
        return f"{local.replace(tzinfo=None).isoformat()}{local:%z}"
    if style == "offset" and not offset.total_seconds() % 60:
        return local.isoformat()
    return moment_at(at_us).replace(tzinfo=None).isoformat() + "Z"


def asks_for_coverage_alone(question: Question) -> bool:
    """Then no visit is needed, and none that was deleted is missing."""
    return not any(name in METRICS or name == QUALITY.name for name in question.metrics)


def expect(
    question: Question,
    zone: str,
    era: Era,
    visits: Iterable[Visit],
    *,
    kept_us: int = -EVER_US,
    groups: StreamGroups | None = None,
) -> Expected:
    """Of visits before `kept_us` only the slots are known, which count whole even if an edge cuts one."""
    edges_us, keys = buckets_of(question, zone, era)
    slots = slots_of(visits)
    told = groups.told_in(question.from_us, question.to_us, edges_us) if groups else {}
    is_grid = groups is not None and groups.grid
    figures: list[Figures] = []
    inexact: set[int] = set()
    for page in range(1, pages_of(len(keys)) + 1):
        first, after = (page - 1) * PAGE, page * PAGE
        judged: list[Judged] = []
        for slot_us, members in slots.items():
            is_gone = slot_us < kept_us
            found = whole(slot_us, members, question) if is_gone or is_grid else clipped(members, question)
            found = rounded(found) if is_gone else found
            judged += untold(found) if groups and groups.is_grouped(slot_us) else found
            if (
                is_gone
                and not asks_for_coverage_alone(question)
                and cuts(question, edges_us[first : after + 1], slot_us, members)
            ):
                inexact.add(page)
        if is_grid:
            inexact.add(page)
        figures += count_judged(judged, edges_us, KNOWN, told)[first:after]
    return Expected(zone, edges_us, keys, figures, frozenset(inexact))


def on_grid(question: Question, groups: StreamGroups | None) -> Question:
    """A range is widened to whole slots where moments are told no finer."""
    if groups is None or not groups.grid:
        return question
    from_us, to_us = question.from_us // SLOT_US * SLOT_US, -(-question.to_us // SLOT_US) * SLOT_US
    return replace(question, from_us=from_us, to_us=to_us)


def slots_of(visits: Iterable[Visit]) -> dict[int, list[Visit]]:
    """By the slot in which they begin."""
    slots: dict[int, list[Visit]] = {}
    for visit in visits:
        slots.setdefault(slot_of(visit), []).append(visit)
    return slots


def clipped(visits: list[Visit], question: Question) -> list[Judged]:
    return [one for one in (judge(visit, question.from_us, question.to_us) for visit in visits) if one]


def whole(slot_us: int, visits: list[Visit], question: Question) -> list[Judged]:
    """All of them at the start of their slot."""
    if not question.from_us <= slot_us < question.to_us:
        return []
    judged = [judge(visit, -EVER_US, EVER_US) for visit in visits]
    return [replace(one, first_us=slot_us) for one in judged if one]


def cuts(question: Question, edges_us: Sequence[int], slot_us: int, visits: list[Visit]) -> bool:
    """Whether a page with these edges would need the visits of a slot whose visits are deleted."""
    reaches_us = -(-1000 * max(visit.present[-1][1] for visit in visits) // SLOT_US) * SLOT_US
    across_from = slot_us < question.from_us < reaches_us and edges_us[0] < reaches_us
    across_to = slot_us < question.to_us < reaches_us and slot_us < edges_us[-1]
    inside = (edge for edge in edges_us if question.from_us < edge < question.to_us)
    return across_from or across_to or any(slot_us < edge < slot_us + SLOT_US for edge in inside)


def slot_of(visit: Visit) -> int:
    return 1000 * visit.began_ms // SLOT_US * SLOT_US


def pages_of(buckets: int) -> int:
    return ceil(buckets / PAGE)


def buckets_of(question: Question, zone: str, era: Era) -> tuple[list[int], list[str]]:
    """Their edges, and the keys under which they stand."""
    if question.time == "global":
        return [question.from_us, question.to_us], ["global"]
    known = [1_000_000 * edge for edge in EDGES[question.time](era, zone)]
    first = bisect_right(known, question.from_us) - 1
    edges = known[first : bisect_left(known, question.to_us) + 1]
    return edges, [moment_at(edge, zone).isoformat(timespec="seconds") for edge in edges[:-1]]


def differences(question: Question, expected: Expected, bodies: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the pages of an answer."""
    found: list[str] = []
    total, pages = len(expected.keys), pages_of(len(expected.keys))
    for number, body in enumerate(bodies, start=1):
        frame = {"time": question.time, "total_results": total, "nb_of_pages": pages, "page": number}
        if number in expected.inexact_pages:
            frame["exact"] = False
        said = {name: value for name, value in body.items() if name in frame or name == "exact"}
        if said != frame:
            found.append(f"page {number} says {said} instead of {frame}")
        for name, at_us in (("from_date", question.from_us), ("to_date", question.to_us)):
            if datetime.fromisoformat(body[name]) != moment_at(at_us):
                found.append(f"{name} is {body[name]} instead of {moment_at(at_us, expected.zone).isoformat()}")
    entities = [(key, values) for body in bodies for key, values in body["entities"].items()]
    if [key for key, _ in entities] != expected.keys:
        return [*found, f"buckets are {[key for key, _ in entities]} instead of {expected.keys}"]
    for (key, values), figures in zip(entities, expected.figures, strict=True):
        found += [f"{key}: {line}" for line in wrong_values(question, values, figures)]
    return found


def wrong_values(question: Question, values: dict[str, Any], figures: Figures) -> list[str]:
    if list(values) != list(question.metrics):
        return [f"metrics are {list(values)}"]
    wanted = {name: figures[name] for name in question.metrics}
    if values == wanted:
        return []
    return [f"{name} is {values[name]} instead of {wanted[name]}" for name in wanted if not same(name, values, wanted)]


def same(name: str, values: dict[str, Any], wanted: Figures) -> bool:
    one, other = values[name], wanted[name]
    if name == QUALITY.name:
        return is_same_quality(one, other)
    if name in EXTENSIONS:
        return is_same_coverage(one, other)
    unit = UNITS[name]
    if unit not in TOLERANCES or None in (one.get("value"), other["value"]):
        return bool(one == other)
    is_possible = unit is not Unit.SHARE or 0 <= one["value"] <= 1
    return list(one) == ["value"] and is_possible and abs(one["value"] - other["value"]) <= TOLERANCES[unit]


def wrong_sums(
    question: Question, bodies: list[dict[str, Any]], whole: dict[str, Any], *, is_grouped: bool = False
) -> list[str]:
    """Where the counts of the buckets do not add up to those of the whole range; parts need not if blocks tell them."""
    names = [name for name, unit in UNITS.items() if unit is Unit.PEOPLE or (unit is Unit.PARTS and not is_grouped)]
    buckets = [bucket for body in bodies for bucket in body["entities"].values()]
    wrong = []
    for name in (name for name in names if name in question.metrics):
        counted = whole["entities"]["global"][name]
        added = {part: sum(bucket[name][part] for bucket in buckets) for part in counted}
        if added != counted:
            wrong.append(f"buckets add up to {added} {name} instead of {counted}")
    return wrong + wrong_sums_of_coverage(buckets, whole["entities"]["global"])


def wrong_sums_of_coverage(buckets: list[dict[str, Any]], whole: dict[str, Any]) -> list[str]:
    """Seconds add up, too, except for what is rounded in each."""
    wrong = []
    for name in (name for name in whole if name in CARRIED):
        counted = {part: seconds for part, seconds in whole[name].items() if part != "share"}
        added = {part: sum(bucket[name][part] for bucket in buckets) for part in counted}
        if any(abs(added[part] - counted[part]) > SECONDS_APART * (1 + len(buckets)) for part in counted):
            wrong.append(f"buckets add up to {added} {name} instead of {counted}")
    return wrong
