"""Drawing one person's visit: how long they are there, whether they stop and look, and who they are."""

from bisect import bisect
from itertools import accumulate
from random import Random

from onlooker.demo.places import Crowd
from onlooker_pipeline.expressions import Expression
from onlooker_pipeline.visits.visit import Interval, Visit

READ_WHEN_LOOKING = 0.94
"""Share of faces that are seen well enough to estimate an age."""
GROWN_UP = 13
LONGEST_STOP_S = 240.0


def draw_visit(crowd: Crowd, began_ms: int, random: Random) -> Visit:
    """A whole visit of somebody; its stream and session are to be filled in."""
    stops = random.random() < crowd.stops
    looks = stops or random.random() < crowd.glances
    present, still, looking = _draw_stop(crowd, began_ms, random) if stops else _draw_pass(began_ms, looks, random)
    is_read = looks and random.random() < READ_WHEN_LOOKING
    age = _draw_age(crowd, random) if is_read else None
    is_sure = age is not None and age >= GROWN_UP and random.random() < 0.95
    return Visit(
        id=random.randbytes(16),
        stream_id=0,
        session="",
        revision=1,
        ended=True,
        present=present,
        still=still,
        looking=looking,
        age=age,
        age_confidence=round(random.uniform(0.6, 0.95), 3) if is_read else 0.0,
        gender=("female" if random.random() < crowd.women else "male") if is_read else None,
        gender_confidence=round(random.uniform(0.6, 0.99) if is_sure else random.uniform(0.1, 0.5), 3) * is_read,
        expression=_draw_expression(crowd, random) if is_read else None,
        confidence=round(random.uniform(0.8, 0.99), 3),
    )


Ways = tuple[list[Interval], list[Interval], list[Interval]]
"""When somebody was present, stood still and looked."""


def _draw_pass(began_ms: int, looks: bool, random: Random) -> Ways:
    """Somebody who walks by; a few leave before they count."""
    length_ms = int(1000 * max(0.6, random.lognormvariate(1.5, 0.45)))
    present = [(began_ms, began_ms + length_ms)]
    if not looks:
        return present, [], []
    look_ms = min(length_ms // 2, int(1000 * random.uniform(0.3, 1.8)))
    look_at_ms = began_ms + int(random.uniform(0.1, 0.5) * length_ms)
    return present, [], [(look_at_ms, look_at_ms + look_ms)]


def _draw_stop(crowd: Crowd, began_ms: int, random: Random) -> Ways:
    """Somebody who comes, stands for a while, looks once or several times, and leaves."""
    comes_ms, goes_ms = int(random.uniform(800, 3500)), int(random.uniform(800, 3500))
    stop_ms = int(1000 * min(LONGEST_STOP_S, 2.6 + random.lognormvariate(0, 0.75) * (crowd.stop_s - 2.6)))
    stopped_ms = began_ms + comes_ms
    left_ms = stopped_ms + stop_ms
    looking: list[Interval] = []
    at_ms = stopped_ms - int(random.uniform(0, 800))
    while at_ms < left_ms - 400:
        look_ms = int(1000 * (0.5 + random.lognormvariate(0.6, 0.7)))
        looking.append((at_ms, min(at_ms + look_ms, left_ms)))
        at_ms = looking[-1][1] + int(1000 * random.uniform(0.4, 4.0))
    return [(began_ms, left_ms + goes_ms)], [(stopped_ms, left_ms)], looking


def _draw_age(crowd: Crowd, random: Random) -> float:
    shares = list(accumulate(share for share, _, _ in crowd.ages))
    _, mean, spread = crowd.ages[bisect(shares, random.random() * shares[-1], hi=len(shares) - 1)]
    return round(min(max(random.gauss(mean, spread), 2.0), 95.0), 1)


def _draw_expression(crowd: Crowd, random: Random) -> Expression:
    """One mood dominates; together they add up to 1."""
    most = random.choices(range(5), crowd.moods)[0]
    weights = [random.random() ** 2 * usual + 0.01 for usual in crowd.moods]
    share, rest = random.uniform(0.5, 0.9), sum(weights) - weights[most]
    neutral, happiness, surprise, anger, sadness = (
        share if number == most else weight / rest * (1 - share) for number, weight in enumerate(weights)
    )
    return neutral, happiness, surprise, anger, sadness
