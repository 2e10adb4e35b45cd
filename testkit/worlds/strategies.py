"""Hypothesis strategies for worlds, mostly right at the thresholds of metrics and at edges of slots, hours and days."""

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st

from onlooker.metrics import definitions
from onlooker.metrics.extensions import CARRIED
from onlooker_pipeline.visits.visit import Visit
from testkit.worlds.cameras import camera_logs
from testkit.worlds.clocks import ERAS, WINTER, Era, unix_s
from testkit.worlds.people import revisions
from testkit.worlds.world import ARRIVALS, Arrival, Question, World

Draw = Callable[[st.SearchStrategy[Any]], Any]

METRICS = tuple(definitions.METRICS)
SOME_METRICS = (
    METRICS[::-1],
    ("passing_by",),
    ("attention_time",),
    ("satisfaction",),
    ("interested", "category"),
    ("gender", "stop_time", "passing_by"),
    ("watched",),
    ("passing_by", "watched"),
    ("gaps", "interested", "watched"),
    ("quality",),
    ("passing_by", "watched", "quality"),
)
"""Few, so that the database does not have to plan a statement for every question."""
DAY_US = 86_400_000_000
LONGEST_BY_HOUR_US = 4 * DAY_US
"""Two pages are enough."""
NEAR_MS = (-3001, -3000, -2999, -1001, -1000, -999, -1, 0, 0, 1, 999, 1000, 1001, 2999, 3000, 3001)
SNAP_S = (0, 0, 0, 900, 900, 3600, 86_400)
FILLS = (0, 0, 1, 3, 1000)

_eras = st.sampled_from((WINTER,) * 4 + ERAS[1:])
_near_ms = st.sampled_from(NEAR_MS)
_astray_us = st.sampled_from((0, 0, 0, 0, -1, 1, 500))
_snaps = st.sampled_from(SNAP_S)
_aside = st.sampled_from((0, 0, 0, -1, 1, 3))
_fills = st.sampled_from(FILLS)
_fills_before_deletion = st.sampled_from((0, 3, 1000, 1000, 1000))
_arrivals = st.integers(0, ARRIVALS - 1)
_again = st.sampled_from((None, None, None, *range(ARRIVALS)))
_times = st.sampled_from(("global", "by_hour", "by_day"))
_styles = st.sampled_from(("utc", "offset", "basic", "naive"))
_metrics = st.sampled_from((METRICS, METRICS, (*METRICS, *CARRIED), *SOME_METRICS))


@st.composite
def worlds(draw: Draw, *, expiring: bool = False) -> World:
    era = draw(st.just(WINTER) if expiring else _eras)
    zones = tuple(draw(st.lists(st.sampled_from(era.zones), min_size=1, max_size=3)))
    moments = draw(st.lists(st.sampled_from(era.moments), min_size=1, max_size=2))
    starts_ms = [1000 * unix_s(moment) for moment in moments]
    people = draw(st.lists(revisions(starts_ms, streams=len(zones)), min_size=1, max_size=8))
    visits = [_numbered(revision, number) for number, person in enumerate(people) for revision in person]
    batches = _batches(draw, visits)
    edges_ms = sorted({edge for visit in visits for edge in _edges_of(visit)} | set(starts_ms))
    arrivals = []
    for number, batch in enumerate(batches):
        is_last = number == len(batches) - 1
        asked = draw(st.lists(_questions(era, zones, tuple(edges_ms)), min_size=2 * is_last, max_size=1 + 2 * is_last))
        fills = draw(_fills_before_deletion if expiring else _fills)
        arrivals.append(Arrival(tuple(batch), fills, draw(st.booleans()), tuple(asked)))
    expires_us = _moment_us(draw, edges_ms) if expiring else None
    cameras = tuple(draw(camera_logs(edges_ms)) for _ in zones)
    return World(era, zones, tuple(arrivals), expires_us, cameras)


def _numbered(visit: Visit, number: int) -> Visit:
    return msgspec.structs.replace(visit, id=number.to_bytes(16))


def _batches(draw: Draw, visits: list[Visit]) -> list[list[Visit]]:
    """Every revision arrives once, in any batch, and some arrive again."""
    batches: list[list[Visit]] = [[] for _ in range(ARRIVALS)]
    for visit in visits:
        batches[draw(_arrivals)].append(visit)
        again = draw(_again)
        if again is not None:
            batches[again].append(visit)
    return batches


def _edges_of(visit: Visit) -> list[int]:
    return [edge for intervals in (visit.present, visit.still, visit.looking) for pair in intervals for edge in pair]


@st.composite
def _questions(draw: Draw, era: Era, zones: tuple[str, ...], edges_ms: tuple[int, ...]) -> Question:
    time = draw(_times)
    from_us, to_us = sorted((_moment_us(draw, edges_ms), _moment_us(draw, edges_ms)))
    to_us += from_us == to_us
    if time == "by_hour" and to_us - from_us > LONGEST_BY_HOUR_US:
        to_us = from_us + LONGEST_BY_HOUR_US
    return Question(
        stream=draw(st.integers(0, len(zones) - 1)),
        metrics=draw(_metrics),
        from_us=from_us,
        to_us=to_us,
        time=time,
        tz=draw(st.one_of(st.none(), st.sampled_from(era.zones))),
        style=draw(_styles),
    )


def _moment_us(draw: Draw, edges_ms: tuple[int, ...] | list[int]) -> int:
    """Near the edge of some interval, or at the edge of a slot, an hour or a day close to it."""
    edge_ms: int = draw(st.sampled_from(edges_ms))
    snap_ms: int = 1000 * draw(_snaps)
    if snap_ms:
        snapped_ms: int = edge_ms - edge_ms % snap_ms + snap_ms * draw(_aside)
        return 1000 * snapped_ms
    astray_us: int = 1000 * draw(_near_ms) + draw(_astray_us)
    return 1000 * edge_ms + astray_us
