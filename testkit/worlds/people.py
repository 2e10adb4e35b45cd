"""Drawing one person's visit: pieces of presence with gaps between them, stops and looks inside, several revisions."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from onlooker_pipeline.visits.visit import Interval, Visit

Draw = Callable[[st.SearchStrategy[Any]], Any]
Way = tuple[tuple[int, int | None], ...]
"""Parts of a piece, from and to: from its start on, or before its end where negative; None is its end."""

SLOT_MS = 900_000
STILL_APART_MS = 1_000
LENGTHS_MS = (1, 500, 999, 1000, 1001, 2999, 3000, 3001, 4500, 7000, 60_000, SLOT_MS)
GAPS_MS = (1, 999, 1000, 2500, SLOT_MS - 2000, SLOT_MS, 2 * SLOT_MS, 3_600_000, 90_000_000)
STOPS: tuple[Way, ...] = (
    (),
    ((0, None),),
    ((0, None),),
    ((0, 2999),),
    ((0, 3000),),
    ((-3000, None),),
    ((500, -500),),
    ((0, 1500), (2500, None)),
    ((0, 3000), (4000, None)),
)
LOOKS: tuple[Way, ...] = (
    (),
    ((0, None),),
    ((0, None),),
    ((0, 1000),),
    ((0, 1001),),
    ((-1000, None),),
    ((-1001, None),),
    ((0, 500), (501, 1001)),
    ((0, 500), (501, 1002)),
)
EXPRESSIONS = (
    None,
    (0.2, 0.5, 0.1, 0.1, 0.1),
    (0.0, 1.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.5, 0.5),
    (0.0, 0.0, 0.0, 1 / 3, 2 / 3),
    (0.2, 0.2, 0.2, 0.2, 0.2),
    (0.1, 0.1, 0.1, 0.1, 0.6),
    (0.1, 0.1, 0.4, 0.4, 0.0),
    (0.1, 0.315, 0.2, 0.2, 0.185),
    (0.1, 0.333, 0.2, 0.25, 0.117),
)
GENDERS = ((None, 0.0), ("female", 0.9), ("male", 0.8), ("female", 0.5), ("male", 0.51), ("male", 0.1))
AGES = (None, 0.0, 14.99, 15.0, 24.5, 25.0, 44.9, 49.99, 50.0, 64.9, 65.0, 120.0)
AGE_CONFIDENCES = (0.0, 0.5, 0.51, 0.8, 0.8, 0.9)

_starts = st.one_of(
    st.sampled_from([edge + aside for edge in (0, SLOT_MS, -SLOT_MS) for aside in (-3500, -1000, -1, 0, 1)]),
    st.integers(-2 * 3_600_000, 2 * 3_600_000),
)
_pieces = st.lists(
    st.tuples(st.sampled_from(LENGTHS_MS), st.sampled_from(GAPS_MS), st.sampled_from(STOPS), st.sampled_from(LOOKS)),
    min_size=1,
    max_size=3,
)
_bodies = st.lists(_pieces, min_size=1, max_size=2)
_traits = st.tuples(
    st.sampled_from(AGES), st.sampled_from(AGE_CONFIDENCES), st.sampled_from(GENDERS), st.sampled_from(EXPRESSIONS)
)


@st.composite
def revisions(draw: Draw, starts_ms: list[int], *, streams: int) -> list[Visit]:
    """The revisions of a visit: they share nothing but its start."""
    stream = draw(st.integers(0, streams - 1))
    start_ms = draw(st.sampled_from(starts_ms)) + draw(_starts)
    made = []
    for number, pieces in enumerate(draw(_bodies), start=1):
        age, age_confidence, (gender, gender_confidence), expression = draw(_traits)
        present, still, looking = _spread(pieces, start_ms)
        made.append(
            Visit(
                id=bytes(16),
                stream_id=stream,
                session="world",
                revision=number,
                ended=number > 1,
                present=present,
                still=still,
                looking=looking,
                age=age,
                age_confidence=age_confidence if age is not None else 0.0,
                gender=gender,
                gender_confidence=gender_confidence,
                expression=expression,
            )
        )
    return made


def draw_crowd(seed: int, starts_ms: list[int], *, stream: int, k: int) -> list[Visit]:
    """Interested people, enough for some groups of k, close to some moments; few of them cross a slot's end."""
    chance = random.Random(seed)  # noqa: S311 (a world)
    crowd = []
    for _ in range(chance.choice((k, 2 * k, 3 * k))):
        begins_ms = chance.choice(starts_ms) + SLOT_MS * chance.randrange(6) + chance.choice((0, 450_000, 895_000))
        span = [(begins_ms, begins_ms + chance.choice((3400, 7000, 61_250)))]
        gender, gender_confidence = chance.choice(GENDERS)
        crowd.append(
            Visit(
                id=bytes(16),
                stream_id=stream,
                session="world",
                revision=1,
                ended=chance.random() < 0.95,
                present=span,
                still=span,
                looking=span,
                age=chance.choice(AGES),
                age_confidence=chance.choice(AGE_CONFIDENCES),
                gender=gender,
                gender_confidence=gender_confidence,
                expression=chance.choice(EXPRESSIONS),
            )
        )
    return crowd


def _spread(pieces: Sequence[Any], start_ms: int) -> tuple[list[Interval], list[Interval], list[Interval]]:
    """Pieces one after another; stops that are less than a second apart become one, as when a visit is folded."""
    present: list[Interval] = []
    still: list[Interval] = []
    looking: list[Interval] = []
    for length_ms, gap_ms, stops, looks in pieces:
        piece = (start_ms, start_ms + length_ms)
        present.append(piece)
        still += _parts(piece, stops)
        looking += _parts(piece, looks)
        start_ms += length_ms + gap_ms
    return present, _joined(still), looking


def _parts(piece: Interval, way: Way) -> Iterable[Interval]:
    begins, ends = piece

    def place(at: int | None) -> int:
        return ends if at is None else max(begins, ends + at) if at < 0 else min(ends, begins + at)

    parts = [(place(start), place(end)) for start, end in way]
    return [(start, end) for start, end in parts if start < end]


def _joined(intervals: list[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for start, end in intervals:
        if joined and start - joined[-1][1] < STILL_APART_MS:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
