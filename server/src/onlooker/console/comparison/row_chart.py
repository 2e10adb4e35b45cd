"""The chart of a comparison: a line for each row, by hour, day or week of the local clock. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from onlooker.console.comparison.row_words import ShownRow, add_up
from onlooker.console.dashboard.figures import NO_VALUE
from onlooker.console.dashboard.period import DAY, HOUR, SECOND, Period
from onlooker.console.languages.locale_text import write_decimal, write_short_number
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.definitions import METRICS, Unit
from onlooker.metrics.pooled_figures import PooledCluster, clusters_of
from onlooker.metrics.side_by_side import ClockSpan, SideBySide

HOURS_UP_TO, DAYS_UP_TO = 3 * DAY + HOUR, 100 * DAY
WEEK_S = 7 * 86_400
MONDAY_S = 4 * 86_400
"""The first one of Unix time."""
HOUR_S, DAY_S = 3600, 86_400
_NAMES = {HOUR_S: "hour", DAY_S: "day", WEEK_S: "week"}


@dataclass(frozen=True)
class ChartBucket:
    """An hour, a day or a week of the clock, and what each row shows of it."""

    begins: datetime
    """As the clock shows it."""
    label: str
    compared: str
    """For how many hours of it rows are compared."""
    values: list[float | None]
    shown: list[str]


@dataclass(frozen=True)
class RowChart:
    """A metric of all rows over time."""

    by: str
    """`hour`, `day` or `week`."""
    is_rate: bool
    """Counts are drawn for each compared hour: buckets are not compared for equally long."""
    unit: str
    buckets: list[ChartBucket]

    def as_json(self, rows: Sequence[ShownRow]) -> dict[str, object]:
        return {
            "unit": self.unit,
            "points": [{"key": one.begins.isoformat(timespec="minutes"), "label": one.label} for one in self.buckets],
            "rows": [
                {
                    "mark": row.mark,
                    "name": row.chosen.name,
                    "values": [one.values[number] for one in self.buckets],
                    "shown": [one.shown[number] for one in self.buckets],
                }
                for number, row in enumerate(rows)
            ],
        }


def draw_rows(found: SideBySide, rows: Sequence[ShownRow], metric: str, period: Period) -> RowChart:
    length = period.to_at - period.from_at
    bucket_s = HOUR_S if length <= HOURS_UP_TO else DAY_S if length <= DAYS_UP_TO else WEEK_S
    is_rate = metric in METRICS and METRICS[metric].unit is Unit.PEOPLE
    compared_s = _sum_spans(found.common, bucket_s)
    columns = [_sum_clusters(row.row.clusters, bucket_s) for row in rows]
    hidden = [
        any(one.why and one.figure.metric == metric and not one.figure.value for one in row.figures) for row in rows
    ]
    buckets = []
    for begin_s in _list_buckets(period, bucket_s):
        cells = [
            (None, NO_VALUE)
            if hide or not compared_s.get(begin_s)
            else _show(metric, column.get(begin_s, []), compared_s[begin_s])
            for column, hide in zip(columns, hidden, strict=True)
        ]
        buckets.append(
            ChartBucket(
                begins=datetime.fromtimestamp(begin_s, UTC).replace(tzinfo=None),
                label=_write_label(begin_s, bucket_s),
                compared=f"{write_short_number(compared_s.get(begin_s, 0) / HOUR_S)} h",
                values=[value for value, _ in cells],
                shown=[shown for _, shown in cells],
            )
        )
    units = [one.figure.unit for row in rows for one in row.figures if one.figure.metric == metric and one.figure.unit]
    return RowChart(_NAMES[bucket_s], is_rate, units[0] if units else "", buckets)


def _list_buckets(period: Period, bucket_s: int) -> range:
    begins, ends = (_as_clock_s(at) for at in (period.begins, min(period.ends, _now_of(period))))
    return range(_bucket_of(begins, bucket_s), ends, bucket_s)


def _now_of(period: Period) -> datetime:
    return period.to_at.astimezone(period.zone).replace(tzinfo=None) + SECOND


def _as_clock_s(shown: datetime) -> int:
    return int(shown.replace(tzinfo=UTC).timestamp())


def _bucket_of(clock_s: int, bucket_s: int) -> int:
    """Where the bucket begins; weeks begin on Monday."""
    first_s = MONDAY_S if bucket_s == WEEK_S else 0
    return (clock_s - first_s) // bucket_s * bucket_s + first_s


def _sum_spans(spans: Iterable[ClockSpan], bucket_s: int) -> dict[int, int]:
    """For how long each bucket is compared."""
    found: dict[int, int] = {}
    for span in spans:
        for begin_s in range(_bucket_of(span.from_s, bucket_s), span.to_s, bucket_s):
            inside_s = min(span.to_s, begin_s + bucket_s) - max(span.from_s, begin_s)
            found[begin_s] = found.get(begin_s, 0) + inside_s
    return found


def _sum_clusters(clusters: Iterable[PooledCluster], bucket_s: int) -> dict[int, list[PooledCluster]]:
    """Those that lie inside a bucket: a block of people may lie across several."""
    found: dict[int, list[PooledCluster]] = {}
    for one in clusters:
        begin_s = _bucket_of(one.from_s, bucket_s)
        if one.to_s <= begin_s + bucket_s:
            found.setdefault(begin_s, []).append(one)
    return found


def _show(metric: str, clusters: Sequence[PooledCluster], compared_s: int) -> tuple[float | None, str]:
    """No mean and no share of fewer than ten people."""
    if metric in METRICS and METRICS[metric].unit is Unit.PEOPLE:
        [people] = sum_figures(clusters_of(metric, clusters))
        rate = people / (compared_s / HOUR_S)
        return round(rate, 3), write_decimal(rate, 1)
    figure = add_up(clusters).figure(metric)
    if not figure.value:
        return None, NO_VALUE
    value = float(figure.value)
    return round(100 * value if figure.unit == "%" else value, 3), f"{figure.shown} {figure.unit}".strip()


def _write_label(begin_s: int, bucket_s: int) -> str:
    at = datetime.fromtimestamp(begin_s, UTC)
    day = date_format(at, "WEEKDAY_DAY_FORMAT")
    if bucket_s == HOUR_S:
        return f"{day} {date_format(at, 'TIME_FORMAT')}"
    return _("Week of {day}").format(day=day) if bucket_s == WEEK_S else day
