"""Hypothesis strategies for worlds, mostly right at the thresholds of metrics and at edges of slots, hours and days."""

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st

from onlooker.metrics import definitions
from onlooker.metrics.extensions import CARRIED
from onlooker_pipeline.visits.visit import Visit
from testkit.cell_oracle import PARTS
from testkit.worlds.cameras import camera_logs
from testkit.worlds.clocks import BACK_OVER_MIDNIGHT, ERAS, WINTER, Era, unix_s
from testkit.worlds.people import draw_crowd, revisions
from testkit.worlds.world import ARRIVALS, Arrival, GroupPlan, Question, World

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
LONGEST_US = {"by_quarter_hour": DAY_US, "by_hour": 4 * DAY_US}
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
_times = st.sampled_from(("global", "by_hour", "by_day", "by_quarter_hour", "by_week", "by_month"))
_few = st.sampled_from((1, 2, 2, 2, 3, 3, 4, 5, 20))
_grouped = st.sampled_from((False, False, True))
"""Every third world has groups or a grid: to build blocks and to remove their streams takes time."""
_ks = st.one_of(
    st.just((1,) * ARRIVALS),
    st.integers(2, 20).map(lambda k: (k,) * ARRIVALS),
    _few.map(lambda k: (k,) * ARRIVALS),
    st.tuples(*(_few for _ in range(ARRIVALS))),
)
_wide = st.booleans()
"""Whole days: blocks lie inside them."""
_seeds = st.integers(0, 2**32)
_grids = st.sampled_from((False,) * 7 + (True,))
_builds_after = st.sampled_from((0, 900_000_000, 4 * 900_000_000, DAY_US, 2 * DAY_US, 31 * DAY_US, 40 * DAY_US))
_styles = st.sampled_from(("utc", "offset", "basic", "naive"))
_metrics = st.sampled_from((METRICS, METRICS, (*METRICS, *CARRIED), *SOME_METRICS))
_metrics_of_visits = st.sampled_from(((*METRICS, *CARRIED), *(one for one in SOME_METRICS if "quality" not in one)))


@st.composite
def _some_breakdowns(draw: Draw) -> dict[str, Any]:
    """Every dimension, alone and crossed, and filters that leave something."""
    by = tuple(draw(st.lists(st.sampled_from(tuple(PARTS)), max_size=2, unique=True)))
    named = draw(st.lists(st.sampled_from(tuple(PARTS)), min_size=not by, max_size=2, unique=True))
    kept = {name: draw(st.sets(st.sampled_from(PARTS[name]), min_size=1)) for name in named}
    filters = tuple((name, tuple(part for part in PARTS[name] if part in kept[name])) for name in PARTS if name in kept)
    return {"by": by, "filters": filters}


_breakdowns = st.one_of(st.just({}), st.just({}), _some_breakdowns())


@st.composite
def worlds(draw: Draw, *, expiring: bool = False) -> World:
    era = draw(st.just(WINTER) if expiring else _eras)
    zones = tuple(draw(st.lists(st.sampled_from(era.zones), min_size=1, max_size=3)))
    moments = draw(st.lists(st.sampled_from(era.moments), min_size=1, max_size=2))
    starts_ms = [1000 * unix_s(moment) for moment in moments]
    people = draw(st.lists(revisions(starts_ms, streams=len(zones)), min_size=1, max_size=8))
    plans = tuple(draw(_plans(era)) for _ in zones) if draw(_grouped) else ()
    for stream, plan in enumerate(plans):
        if max(plan.ks) > 1:
            people += [[one] for one in draw_crowd(draw(_seeds), starts_ms, stream=stream, k=max(plan.ks))]
    visits = [_numbered(revision, number) for number, person in enumerate(people) for revision in person]
    batches = _batches(draw, visits)
    edges_ms = sorted({edge for visit in visits for edge in _edges_of(visit)} | set(starts_ms))
    arrivals = []
    for number, batch in enumerate(batches):
        is_last = number == len(batches) - 1
        asked = draw(
            st.lists(
                _questions(era, zones, tuple(edges_ms), is_grouped=bool(plans)),
                min_size=2 * is_last,
                max_size=1 + 2 * is_last,
            )
        )
        fills = draw(_fills_before_deletion if expiring else _fills)
        arrivals.append(Arrival(tuple(batch), fills, draw(st.booleans()), tuple(asked)))
    expires_us = _moment_us(draw, edges_ms) if expiring else None
    cameras = tuple(draw(camera_logs(edges_ms)) for _ in zones)
    clocks_us = () if all(plan.is_plain for plan in plans) else _clocks(draw, edges_ms)
    return World(era, zones, tuple(arrivals), expires_us, cameras, plans, clocks_us)


@st.composite
def _plans(draw: Draw, era: Era) -> GroupPlan:
    """Where a clock goes back over midnight, slots that were told singly are put into other days."""
    ks = draw(_ks)
    if era is BACK_OVER_MIDNIGHT and 1 in ks[:-1]:
        ks = (ks[-1],) * ARRIVALS
    return GroupPlan(ks, draw(_grids))


def _clocks(draw: Draw, edges_ms: list[int]) -> tuple[int, ...]:
    """While the day goes on, after it, and long after."""
    found = [_moment_us(draw, edges_ms) + draw(_builds_after) for _ in range(ARRIVALS)]
    return tuple(sorted(found))


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
def _questions(
    draw: Draw, era: Era, zones: tuple[str, ...], edges_ms: tuple[int, ...], *, is_grouped: bool
) -> Question:
    time, breakdown = draw(_times), draw(_breakdowns)
    from_us, to_us = sorted((_moment_us(draw, edges_ms), _moment_us(draw, edges_ms)))
    if is_grouped and draw(_wide):
        from_us = 1000 * draw(st.sampled_from(edges_ms)) // DAY_US * DAY_US
        to_us = from_us + 2 * DAY_US
    to_us += from_us == to_us
    to_us = min(to_us, from_us + LONGEST_US.get(time, to_us - from_us))
    return Question(
        stream=draw(st.integers(0, len(zones) - 1)),
        metrics=draw(_metrics_of_visits if breakdown else _metrics),
        from_us=from_us,
        to_us=to_us,
        time=time,
        tz=draw(st.one_of(st.none(), st.sampled_from(era.zones))),
        style=draw(_styles),
        **breakdown,
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
