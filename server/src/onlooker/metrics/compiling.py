"""From a query and the edges of its buckets to one SQL statement.

Visits that begin in one slot are counted with one row of the roll-up wherever the slot lies inside a bucket and all of
them inside the range. Of other slots, and of those that are marked, the visits themselves are read and judged over
the range. One statement sees one moment of the database, so nothing is counted twice or missed between the two.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from math import ceil, floor
from typing import Any

from psycopg.types.numeric import Int8

from onlooker.metrics.definitions import METRICS, figures_of
from onlooker.metrics.judging import judge
from onlooker.metrics.query import Query
from onlooker.streams.coverage import SLOT_S

NOTE = 0
"""Instead of a bucket's number: visits would have to be looked at that were deleted after their time, or that a quick
statement does not look at."""

VALUES = ("stream_id", "from_at", "to_at", "window_from", "window_to", "buckets", "edges_s", "cut_slots_s")
"""What the statement is about; they take their places in this order."""
_PLACES = {name: f"${number}" for number, name in enumerate(VALUES, start=1)}

_VISITS = """
    SELECT visit.* FROM raw CROSS JOIN LATERAL (
        SELECT * FROM visits_visit
        WHERE stream_id = {stream_id}
          AND began_at >= raw.slot_at AND began_at < least(raw.slot_at + interval '15 minutes', {window_to})
        OFFSET 0) visit
    WHERE NOT gone"""

# `cut`: slots in which an edge lies, and slots with visits that lie across an end of the range, as far as they matter
# in these buckets; those that reach far are read off a small index. Edges come as seconds: quicker to read than dates.
_SLOTS = """
WITH bucket AS MATERIALIZED (
    SELECT number, greatest(to_timestamp(begins_s), {from_at}) AS begins_at,
           least(to_timestamp(ends_s), {to_at}) AS ends_at
    FROM unnest(({edges_s}::bigint[])[:{buckets}], ({edges_s}::bigint[])[2:])
        WITH ORDINALITY AS given (begins_s, ends_s, number)),
cut AS (
    SELECT slot_at FROM metrics_slot
    WHERE stream_id = {stream_id}
      AND slot_at = ANY (ARRAY(SELECT to_timestamp(unnest({cut_slots_s}::bigint[]))))
    UNION ALL
    SELECT slot_at
    FROM (VALUES ({from_at}::timestamptz, {from_at}, {window_from}), ({to_at}, {window_to}, {to_at}))
        AS ends (at, before, beyond)
    CROSS JOIN LATERAL (
        SELECT slot_at FROM metrics_slot
        WHERE stream_id = {stream_id} AND slot_at >= ends.at - interval '30 minutes' AND slot_at < ends.before
          AND reaches_at > ends.beyond
        UNION ALL
        SELECT slot_at FROM (VALUES (1, interval '4 hours'), (2, '32 hours'), (3, '256 hours'), (4, '1000 years'))
            AS reach (far, at_most)
        CROSS JOIN LATERAL (
            SELECT slot_at FROM metrics_slot
            WHERE stream_id = {stream_id} AND far > 0 AND far = reach.far
              AND slot_at < ends.before AND slot_at > ends.beyond - reach.at_most
              AND reaches_at > ends.beyond) reaching
        WHERE (SELECT EXISTS (SELECT FROM metrics_slot WHERE stream_id = {stream_id} AND far > 0))) crossing),
raw AS MATERIALIZED (
    SELECT slot_at, slot_at < (SELECT since FROM visits_kept WHERE stream_id = {stream_id}) IS TRUE AS gone FROM cut
    UNION
    SELECT slot_at, false FROM visits_mark
    WHERE stream_id = {stream_id} AND slot_at < {window_to}
      AND slot_at < (SELECT since FROM visits_kept WHERE stream_id = {stream_id}) IS NOT TRUE
      AND (slot_at > {window_from} - interval '15 minutes'
           OR (slot_at < {from_at} AND reaches_at > {window_from})))"""

# Days are added up one by one, which is cheaper than to group: their slots follow one another in the index.
_ROLLED_UP = """
SELECT number, {asked}
FROM bucket CROSS JOIN LATERAL (
    SELECT {whole} FROM metrics_slot
    WHERE stream_id = {stream_id} AND slot_at >= bucket.begins_at AND slot_at < bucket.ends_at{but_raw}
    HAVING count(*) > 0) whole"""

# An hour has four slots at most: then it is the other way round.
_ROLLED_UP_HOURS = """
SELECT width_bucket(slot_at, ARRAY(SELECT begins_at FROM bucket ORDER BY number)) AS number, {summed}
FROM metrics_slot
WHERE stream_id = {stream_id} AND slot_at >= {window_from} AND slot_at < {window_to}{but_raw}
GROUP BY 1"""

_BUT_RAW = """
      AND slot_at NOT IN (SELECT slot_at FROM raw WHERE NOT gone)"""

_LOOKED_AT = """
(SELECT width_bucket(judged.begins_at, ARRAY(SELECT begins_at FROM bucket ORDER BY number)), {judged}
 FROM ({visits}) judged
 WHERE judged.begins_at >= {window_from} AND judged.begins_at < {window_to}
 GROUP BY 1)"""

_NOTE = """
SELECT {note}, {nothing} WHERE EXISTS (SELECT FROM raw WHERE {noted})"""


@lru_cache(maxsize=1024)
def compile_statement(metrics: tuple[str, ...], *, by_hour: bool) -> bytes:
    """Rows of a bucket's number, from 1 on, and then the figures of each metric in their order.

    A bucket may have no row, one or two, to be added up.
    """
    inexact = _NOTE.replace("{noted}", "gone")
    return _compile(metrics, [_rolled_up(by_hour).replace("{but_raw}", _BUT_RAW), _LOOKED_AT, inexact])


@lru_cache(maxsize=1024)
def compile_quick_statement(metrics: tuple[str, ...], *, by_hour: bool) -> bytes:
    """The same of the roll-up alone: half the work, but no answer where visits have to be looked at."""
    unanswered = _NOTE.replace("{noted}", "true")
    return _compile(metrics, [_rolled_up(by_hour).replace("{but_raw}", ""), unanswered])


def _rolled_up(by_hour: bool) -> str:
    return _ROLLED_UP_HOURS if by_hour else _ROLLED_UP


def _compile(metrics: tuple[str, ...], parts: list[str]) -> bytes:
    figures = figures_of(metrics)
    asked = [column for name in metrics for column in METRICS[name].figures]
    statement = (_SLOTS + " UNION ALL ".join(parts)).format(
        asked=", ".join(asked),
        whole=", ".join(f"sum({column})::bigint AS {column}" for column in figures),
        summed=", ".join(f"sum({column})::bigint" for column in asked),
        judged=", ".join(f"({figures[column]})::bigint" for column in asked),
        visits=judge(_VISITS, within="tstzmultirange(tstzrange({from_at}, {to_at}))").format(**_PLACES),
        note=NOTE,
        nothing=", ".join("NULL" for _ in asked),
        **_PLACES,
    )
    return statement.encode()


def is_quick(query: Query, edges: Sequence[datetime]) -> bool:
    """Whether the roll-up alone is likely to do: a page from the middle of a range, with no edge inside a slot."""
    inside = query.from_at < edges[0] and edges[-1] < query.to_at
    return inside and not any(edge.minute % 15 or edge.second for edge in edges)


def compile_values(query: Query, edges: Sequence[datetime]) -> tuple[Any, ...]:
    """In the order of VALUES; of the edges the last is the end of the last bucket."""
    edges_s = [*[floor(edge.timestamp()) for edge in edges[:-1]], ceil(edges[-1].timestamp())]
    inside_s = edges_s[edges[0] <= query.from_at : len(edges_s) - (edges[-1] >= query.to_at)]
    return (
        Int8(query.stream_id),
        query.from_at,
        query.to_at,
        max(query.from_at, edges[0]),
        min(query.to_at, edges[-1]),
        len(edges) - 1,
        as_array(edges_s),
        as_array([edge_s - edge_s % SLOT_S for edge_s in inside_s if edge_s % SLOT_S]),
    )


def as_array(numbers: Iterable[float]) -> str:
    """As PostgreSQL reads it; its driver takes ten times as long for a list."""
    return f"{{{','.join(map(str, numbers))}}}"
