"""Many numbers of the data endpoint, read as programs read them, to compare before and after."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx2

from bench.cost.data_queries import Asking, NumbersQuery
from bench.cost.data_world import DataWorld
from bench.lib.clients import ENTITIES, fetch_token, open_data_client
from onlooker.metrics.query import Time
from testkit import Stack, TestStream
from testkit.worlds.data_reader import OWNER

SEED = 41
ASKED_STREAMS = 25

Answers = list[dict[str, Any]]


@dataclass(frozen=True)
class Readings:
    """What is asked again and again, and with which tokens."""

    queries: Sequence[NumbersQuery]
    tokens: dict[int, str]
    """By the number of a stream."""

    def take(self, stack: Stack) -> Answers:
        answers = []
        for query in self.queries:
            with open_data_client(stack, self.tokens[query.stream.id]) as client:
                answer = client.get(ENTITIES, params=query.parameters)
                answer.raise_for_status()
                answers.append(answer.json())
        return answers


def draw_queries(world: DataWorld, *, count: int) -> list[NumbersQuery]:
    """Pages of all metrics, with what was watched and how well: whole ranges, days and hours of some streams.

    All of ranges that are over: until then, the share that was watched depends on when one asks.
    """
    asking = Asking(replace(world, streams=world.streams[:ASKED_STREAMS]), seed=SEED)
    drawn = (asking.draw(kind) for kind in itertools.cycle(Time))
    over = (query for query in drawn if query.parse()[0].to_at < datetime.now(UTC))
    return [query.with_quality() for query in itertools.islice(over, count)]


def streams_of(stack: Stack, queries: Sequence[NumbersQuery]) -> list[TestStream]:
    """With their Passwords: a world's streams have their client_id for it."""
    numbers = sorted({query.stream.id for query in queries})
    rows = stack.execute("SELECT id, client_id FROM streams_stream WHERE id = ANY(%s) ORDER BY id", numbers)
    return [TestStream(number, str(client_id), str(client_id)) for number, client_id in rows]


def fetch_tokens(stack: Stack, streams: Sequence[TestStream]) -> dict[int, str]:
    """From the console, for the streams' Passwords."""
    return {stream.id: fetch_token(stack, stream, username=OWNER) for stream in streams}


def is_known(stack: Stack, stream: TestStream) -> bool:
    """Whether the console gives a token for a Password."""
    try:
        fetch_token(stack, stream)
    except httpx2.HTTPStatusError as error:
        if error.response.status_code != 401:
            raise
        return False
    return True


def count_numbers(answers: Answers) -> int:
    return sum(1 for answer in answers for _ in _values_in(answer))


def differences(before: Answers, after: Answers) -> list[str]:
    """Values that are not the same in the same place."""
    found = []
    for one, other in zip(before, after, strict=True):
        values, others = dict(_values_in(one)), dict(_values_in(other))
        found += [
            f"{place}: {values.get(place)} was {others.get(place)} afterwards"
            for place in sorted(values.keys() | others.keys())
            if values.get(place) != others.get(place)
        ]
    return found


def _values_in(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in an answer that is not a name, with where it is."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _values_in(part, f"{place}/{name}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _values_in(part, f"{place}/{number}")
    else:
        yield place, value
