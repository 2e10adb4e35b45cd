"""What boxes made against what the database has: no visit and no second of coverage lost, none counted twice."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from bench.fleet.expectation import Findings, StreamExpectation
from testkit import Stack

VISITS = """
SELECT stream.client_id::text, replace(visit.id::text, '-', ''), visit.ended
FROM visits_visit visit JOIN streams_stream stream ON stream.id = visit.stream_id
"""
SUMS = """
SELECT stream.client_id::text,
       coalesce((SELECT sum(day.passing_by) FROM metrics_day day WHERE day.stream_id = stream.id), 0)::bigint,
       coalesce((SELECT sum(day.watched_ms) FROM metrics_daycoverage day WHERE day.stream_id = stream.id), 0)::bigint
FROM streams_stream stream WHERE stream.removed_at IS NULL
"""


@dataclass(frozen=True)
class StoredNumbers:
    """Of one stream, in the tables."""

    visits: Counter[str]
    """How often each id is there."""
    passing_by: int
    watched_ms: int


def read_numbers(stack: Stack) -> dict[str, StoredNumbers]:
    visits: dict[str, Counter[str]] = defaultdict(Counter)
    for client_id, visit_id, _ in stack.execute(VISITS):
        visits[client_id][visit_id] += 1
    return {
        client_id: StoredNumbers(visits[client_id], int(passing_by), int(watched_ms))
        for client_id, passing_by, watched_ms in stack.execute(SUMS)
    }


def compare_numbers(
    made: dict[str, dict[str, Any]], stored: dict[str, StoredNumbers], streams: dict[str, StreamExpectation]
) -> tuple[Findings, dict[str, Any]]:
    """Stream by stream. What a revoked box could no longer send must still be in its journal, and in no sum."""
    found, figures = Findings(), Counter[str]()
    for client_id, expected in streams.items():
        boxes = [made[name] for name in expected.boxes]
        has = stored.get(client_id, StoredNumbers(Counter(), 0, 0))
        _compare_visits(found, figures, client_id, boxes, has)
        _compare_coverage(found, figures, client_id, boxes, has)
    return found, dict(figures)


def _compare_visits(
    found: Findings, figures: Counter[str], client_id: str, boxes: list[dict[str, Any]], has: StoredNumbers
) -> None:
    wanted = {visit_id for box in boxes for visit_id in box["visits"]}
    kept = {visit_id for box in boxes for visit_id in box["waiting"]}
    lost, strange = wanted - has.visits.keys() - kept, has.visits.keys() - wanted
    twice = [visit_id for visit_id, count in has.visits.items() if count > 1]
    figures["visits_made"] += len(wanted)
    figures["visits_stored"] += has.visits.total()
    figures["visits_kept_by_revoked_boxes"] += len(kept - has.visits.keys())
    for what, some in (("visits_lost", lost), ("visits_strange", strange), ("visits_twice", twice)):
        if some:
            found.add(what, f"stream {client_id}: {len(some)} {what}")
            found.counts[what] += len(some) - 1
    found.require(
        has.passing_by == has.visits.total(),
        "sums_wrong",
        f"stream {client_id}: {has.passing_by} people in its days, {has.visits.total()} visits",
    )


def _compare_coverage(
    found: Findings, figures: Counter[str], client_id: str, boxes: list[dict[str, Any]], has: StoredNumbers
) -> None:
    """Sums of a slot are sent as a whole: of a slot that waits, the server may have any earlier sum."""
    made_ms = sum(box["watched_ms"] for box in boxes)
    least_ms = made_ms - sum(box["waiting_watched_ms"] for box in boxes)
    figures["frames_made"] += sum(box["frames"] for box in boxes)
    figures["watched_made_s"] += made_ms // 1000
    figures["watched_stored_s"] += has.watched_ms // 1000
    figures["streams_exact"] += least_ms == made_ms
    words = f"stream {client_id}: {has.watched_ms} ms watched, {least_ms} to {made_ms} made"
    found.require(has.watched_ms >= least_ms, "coverage_lost", words)
    found.require(has.watched_ms <= made_ms, "coverage_twice", words)
    for box in boxes:
        if box["dropped"]:
            found.add("dropped", f"stream {client_id}: a journal dropped {box['dropped']}")
