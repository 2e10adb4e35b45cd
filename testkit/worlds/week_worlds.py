"""Worlds of streams that tell about people in groups, some weeks later: who was there is asked by gender and age."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st

from onlooker.metrics.definitions import WEEK_METRICS
from onlooker.metrics.extensions import CARRIED
from onlooker_pipeline.visits.visit import Visit
from testkit.cell_oracle import PARTS
from testkit.oracle import SECOND_US
from testkit.worlds.clocks import WINTER, unix_s, week_edges
from testkit.worlds.people import draw_crowd
from testkit.worlds.world import Arrival, GroupPlan, Question, World

Draw = Callable[[st.SearchStrategy[Any]], Any]

DAY_US = 86_400_000_000
BUILT_AFTER_DAYS = (1, 9, 25)
"""After the last visit: in its week, once that is over, and long after."""
FILTERS: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = (
    (),
    (("gender", ("female",)),),
    (("gender", ("?", "female")),),
    (("age", PARTS["age"][:4]),),
    (("gender", ("male",)), ("age", PARTS["age"][2:])),
)
_zones = st.sampled_from(WINTER.zones)
_moments = st.lists(st.sampled_from(WINTER.moments), min_size=1, max_size=4)
_seeds = st.integers(0, 2**32)
_ks = st.sampled_from(((2, 2, 2), (2, 2, 2), (3, 3, 3), (4, 4, 4), (3, 2, 2), (2, 4, 4), (1, 2, 2), (2, 2, 1)))
_arrivals = st.sampled_from((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2))
_beside = st.sampled_from((0, 0, 0, 1, 4))
_by = st.sampled_from((("age", "gender"), ("gender", "age"), ("age",), ("gender",), ()))
_metrics = st.sampled_from(((*WEEK_METRICS, *CARRIED), WEEK_METRICS, ("interested",)))


@st.composite
def week_worlds(draw: Draw) -> World:
    """Most people have arrived before the first blocks are built, and all questions come later."""
    zone, ks = draw(_zones), draw(_ks)
    starts_ms = [1000 * unix_s(moment) for moment in draw(_moments)]
    crowd = [one for _ in starts_ms for one in draw_crowd(draw(_seeds), starts_ms, stream=0, k=2 * max(ks))]
    visits = [msgspec.structs.replace(one, id=number.to_bytes(16)) for number, one in enumerate(crowd)]
    batches: list[list[Visit]] = [[], [], []]
    for visit in visits:
        batches[draw(_arrivals)].append(visit)
    last_us = 1000 * max(visit.present[-1][1] for visit in visits)
    arrivals = tuple(
        Arrival(tuple(batch), 1000, meanwhile=False, questions=tuple(_draw_questions(draw, zone, starts_ms, number)))
        for number, batch in enumerate(batches)
    )
    clocks_us = tuple(last_us + days * DAY_US for days in BUILT_AFTER_DAYS)
    return World(WINTER, (zone,), arrivals, plans=(GroupPlan(ks),), clocks_us=clocks_us)


def _draw_questions(draw: Draw, zone: str, starts_ms: list[int], number: int) -> list[Question]:
    return [_draw_question(draw, zone, starts_ms) for _ in range(4 * number)]


def _draw_question(draw: Draw, zone: str, starts_ms: list[int]) -> Question:
    """Of the week or the weeks around somebody."""
    edges_us = [SECOND_US * edge for edge in week_edges(WINTER, zone)]
    place = bisect_right(edges_us, 1000 * draw(st.sampled_from(starts_ms))) - 1
    by = draw(_by)
    return Question(
        stream=0,
        metrics=draw(_metrics),
        from_us=edges_us[max(0, place - draw(_beside))],
        to_us=edges_us[min(len(edges_us) - 1, place + 1 + draw(_beside))],
        time=draw(st.sampled_from(("global", "by_week"))),
        tz=None,
        style="utc",
        by=by,
        filters=draw(st.sampled_from(FILTERS if by else FILTERS[1:])),
    )
