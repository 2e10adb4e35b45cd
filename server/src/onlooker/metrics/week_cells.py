"""Breakdowns and filters of a stream that tells about people in groups: sums of the cells of whole, frozen weeks.

No visit is read. What is asked for is a sum of cells, or it is refused with a sentence that says what can be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise, product
from zoneinfo import ZoneInfo

from psycopg.rows import DictRow

from onlooker.database import Pool
from onlooker.errors import Code
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import Buckets, Week, week_around
from onlooker.metrics.cells import CellNote, CellRefusal, add_up
from onlooker.metrics.definitions import METRICS, UNKNOWN_FIGURES, WEEK_METRICS
from onlooker.metrics.query import Query, Time
from onlooker.metrics.statements import LIST_LAST_WEEKS, READ_TOLD_WEEKS, compile_week_reading
from onlooker.metrics.week_parts import AGES, GENDERS, JOINT, Partition, join_name, join_partitions

WEEK_DIMENSIONS = {"gender": GENDERS, "age": AGES}
"""What weeks are told by."""
_READ_WEEKS = compile_week_reading()

WeekCell = tuple[tuple[str, ...], tuple[int, ...]]
"""The parts of a cell as an answer names them, and its figures."""


@dataclass(frozen=True)
class ToldWeeks:
    """The weeks that are told and lie inside a range."""

    rows: Sequence[DictRow]
    """Their cells."""

    @property
    def weeks(self) -> list[Week]:
        return sorted({(row["begins_at"], row["ends_at"]) for row in self.rows})

    def inside(self, begins_at: datetime, ends_at: datetime) -> "ToldWeeks":
        return ToldWeeks([row for row in self.rows if begins_at <= row["begins_at"] and row["ends_at"] <= ends_at])

    def partition(self, dimension: str) -> Partition:
        """The finest parts that are told of each of them."""
        names = {tuple(row[f"{dimension}s"]) for row in self.rows}
        told = [tuple(tuple(name.split(JOINT)) for name in week) for week in sorted(names)]
        return join_partitions(told, WEEK_DIMENSIONS[dimension])

    def find_divided(self, breakdown: CellQuery) -> tuple[str, tuple[str, ...]] | None:
        """A dimension, and parts of it that are told only together, but of which the filters keep only some."""
        return next(
            (
                (name, group)
                for name, parts in breakdown.filters
                for group in self.partition(name)
                if 0 < len(set(group) & set(parts)) < len(group)
            ),
            None,
        )

    def add_cells(self, breakdown: CellQuery, metrics: tuple[str, ...]) -> list[WeekCell]:
        """Without dimensions there is one cell, of all that the filters keep."""
        kept = breakdown.kept
        groups = [
            [group for group in self.partition(name) if set(group) <= set(kept.get(name, group))]
            for name in breakdown.by
        ]
        rows = [row for row in self.rows if all(_is_in(row, name, parts) for name, parts in kept.items())]
        nobody = sum(len(METRICS[name].figures) for name in metrics)
        cells = []
        for cell in product(*groups):
            named = list(zip(breakdown.by, cell, strict=True))
            here = [row for row in rows if all(_is_in(row, name, group) for name, group in named)]
            figures = add_up([_figures_of(row, metrics) for row in here], count=nobody)
            cells.append((tuple(map(join_name, cell)), figures))
        return cells


async def find_week_cells(
    pool: Pool,
    query: Query,
    breakdown: CellQuery,
    metrics: tuple[str, ...],
    buckets: Buckets,
    *,
    later: datetime | None,
) -> list[list[WeekCell]]:
    """The cells of each bucket. Raises a CellRefusal; `later`: from when on the stream tells of single people."""
    try:
        _require_week_numbers(breakdown, metrics)
        values = {"stream_id": query.stream_id, "from_at": query.from_at, "to_at": query.to_at}
        async with pool.connection() as connection:
            stream = await (await connection.execute(READ_TOLD_WEEKS, values)).fetchone()
            _require_whole_weeks(query, stream)
            rows = await (await connection.execute(_READ_WEEKS, values, prepare=True)).fetchall()
        if not rows:
            raise _Untold("nothing can be told of these weeks by gender and age. Leave `by` and `filter` out.")
        told = ToldWeeks(rows)
        weeks = [told.inside(begins_at, ends_at) for begins_at, ends_at in pairwise(buckets.edges)]
        for key, here in zip(buckets.keys, weeks, strict=True):
            _require_told_parts(key, here, breakdown)
    except _Untold as untold:
        or_later = f" Or ask for a later range than {later.isoformat()}." if later else ""
        detail = f"This stream tells about people in groups: {untold}{or_later}"
        raise CellRefusal(Code.BAD_REQUEST, detail, note=CellNote.GROUPS, since=later) from None
    return [here.add_cells(breakdown, metrics) for here in weeks]


async def read_told_weeks(
    pool: Pool, stream_id: int, from_at: datetime, to_at: datetime
) -> tuple[datetime | None, ToldWeeks]:
    """Up to where weeks are told, or never will be; and the weeks of a range that are told."""
    values = {"stream_id": stream_id, "from_at": from_at, "to_at": to_at}
    async with pool.connection() as connection:
        stream = await (await connection.execute(READ_TOLD_WEEKS, values)).fetchone()
        rows = await (await connection.execute(_READ_WEEKS, values, prepare=True)).fetchall()
    return stream["weeks_until"] if stream else None, ToldWeeks(rows)


async def read_last_weeks(pool: Pool, stream_id: int, count: int) -> list[Week]:
    """The latest weeks that are told, the last one first."""
    async with pool.connection() as connection:
        cursor = await connection.execute(LIST_LAST_WEEKS, {"stream_id": stream_id, "count": count})
        return [(row["begins_at"], row["ends_at"]) for row in await cursor.fetchall()]


class _Untold(Exception):
    """What is asked for is no sum of cells; says what can be asked."""


def _require_week_numbers(breakdown: CellQuery, metrics: tuple[str, ...]) -> None:
    if not {*breakdown.by, *breakdown.kept} <= WEEK_DIMENSIONS.keys():
        raise _Untold(f"`by` and `filter` take only {' and '.join(WEEK_DIMENSIONS)} here.")
    if others := [name for name in metrics if name not in WEEK_METRICS]:
        raise _Untold(f"{others[0]} can't be broken down or filtered here. {', '.join(WEEK_METRICS)} can.")


def _require_whole_weeks(query: Query, stream: DictRow | None) -> None:
    zone = stream["time_zone"] if stream else query.zone.key
    until = stream["weeks_until"] if stream else None
    is_whole = all(week_around(at, query.zone)[0] == at for at in (query.from_at, query.to_at))
    if not (is_whole and query.zone.key == zone and query.time in (Time.GLOBAL, Time.BY_WEEK)):
        raise _Untold(
            "`by` and `filter` take only whole weeks, from Monday to Monday in its time zone, with `time` global or "
            f"by_week. {_say_week(query, until, ZoneInfo(zone))}"
        )
    if until is None or query.to_at > until:
        raise _Untold(
            "a week can be broken down or filtered once it is over and all of it is told, and this range has one that "
            f"is not. {_say_week(query, until, query.zone)}"
        )


def _say_week(query: Query, until: datetime | None, zone: ZoneInfo) -> str:
    """Weeks that can be asked for: those inside the range, as far as they are told; or else the last one that is."""
    if until is None:
        return "No week of it is told yet."
    ends_at = week_around(min(until, query.to_at).astimezone(UTC), zone)[0]
    begins_at = week_around(query.from_at, zone)[0]
    begins_at = begins_at if begins_at == query.from_at else week_around(query.from_at, zone)[1]
    if begins_at >= ends_at:
        begins_at, ends_at = _week_before(week_around(until.astimezone(UTC), zone)[0], zone)
    from_date, to_date = (at.astimezone(zone).isoformat() for at in (begins_at, ends_at))
    return f"Ask for from_date={from_date} and to_date={to_date}, with tz={zone.key}."


def _week_before(at: datetime, zone: ZoneInfo) -> Week:
    return week_around(at - datetime.resolution, zone)


def _require_told_parts(key: str, weeks: ToldWeeks, breakdown: CellQuery) -> None:
    """Each filter keeps whole parts."""
    if divided := weeks.find_divided(breakdown):
        name, group = divided
        where = "of this range" if key == "global" else f"of {key}"
        raise _Untold(f"{name} {join_name(group)} is told only together {where}. Filter by all of it, or none.")


def _is_in(row: DictRow, dimension: str, parts: Sequence[str]) -> bool:
    """Whether a cell lies in some parts, which never divide it."""
    return set(row[dimension].split(JOINT)) <= set(parts)


def _figures_of(row: DictRow, metrics: tuple[str, ...]) -> tuple[int, ...]:
    """All people of a cell are interested, and are told about."""
    people = row["told"]
    known = {"interested": people} | {
        column: people - sum(row[part] for part in parts)
        for column, parts in UNKNOWN_FIGURES.items()
        if all(part in row for part in parts)
    }
    columns = [column for name in metrics for column in METRICS[name].figures]
    return tuple(known[column] if column in known else row[column] for column in columns)
