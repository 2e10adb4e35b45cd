"""Streams take turns by compute time, short calls never wait for long ones, and a crowd makes room."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.compute.fair_turns import LONG_S, OVERRUN_S, Crowded, FairTurns
from onlooker.fair_shares import FairShares


async def hold(turns: FairTurns, stream: int, seconds: float, done: list[int], service: str = "any") -> None:
    async with turns.take(stream, service):
        await asyncio.sleep(seconds)
    done.append(stream)


def with_turns(check: Callable[[FairTurns], Awaitable[None]], places: int = 1) -> None:
    async def run() -> None:
        await check(FairTurns(places))

    asyncio.run(run())


@given(
    prices=st.lists(st.floats(0.001, 5), min_size=2, max_size=6),
    turns=st.integers(200, 400),
)
def test_streams_that_always_wait_get_the_same_time(prices: list[float], turns: int) -> None:
    """Whatever a call costs them: nobody is ahead of another by more than one call of each."""
    shares = FairShares()
    had = dict.fromkeys(range(len(prices)), 0.0)
    for _ in range(turns):
        stream = shares.next(had)
        shares.charge(stream, prices[stream])
        had[stream] += prices[stream]
        assert max(had.values()) - min(had.values()) <= 2 * max(prices)


@given(away=st.integers(1, 500))
def test_a_stream_that_was_away_has_not_saved_up_time(away: int) -> None:
    shares = FairShares()
    for _ in range(away):
        shares.charge(shares.next([1]), 1.0)
    first = [shares.next([1, 2])]
    shares.charge(first[0], 1.0)
    for _ in range(9):
        first.append(shares.next([1, 2]))
        shares.charge(first[-1], 1.0)
    assert 4 <= first.count(2) <= 6


def test_a_stream_with_many_waiting_calls_does_not_hold_up_another() -> None:
    async def check(turns: FairTurns) -> None:
        done: list[int] = []
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(hold(turns, 1, 0.005, done))
            await asyncio.sleep(0.012)
            group.create_task(hold(turns, 2, 0.005, done))
        assert done.index(2) <= 5

    with_turns(check)


def test_a_short_call_does_not_wait_for_long_ones() -> None:
    async def check(turns: FairTurns) -> None:
        done: list[int] = []
        await hold(turns, 1, 2 * LONG_S, done)  # from now on its calls are known to be long
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(hold(turns, 1, 2 * LONG_S, done))
            await asyncio.sleep(0.01)
            started = time.monotonic()
            await hold(turns, 2, 0.001, done)
            assert time.monotonic() - started < LONG_S / 2

    with_turns(check)


def test_an_unexpectedly_long_call_lets_others_have_its_place() -> None:
    async def check(turns: FairTurns) -> None:
        done: list[int] = []
        async with asyncio.TaskGroup() as group:
            group.create_task(hold(turns, 1, 4 * OVERRUN_S, done))
            await asyncio.sleep(0.01)
            await hold(turns, 2, 0.001, done)
        assert done == [2, 1]

    with_turns(check)


@given(
    places=st.integers(1, 3),
    calls=st.lists(st.tuples(st.integers(1, 4), st.floats(0, 0.003), st.booleans()), max_size=30),
)
def test_places_are_never_exceeded_nor_lost(places: int, calls: list[tuple[int, float, bool]]) -> None:
    async def check(turns: FairTurns) -> None:
        async def one(stream: int, seconds: float) -> None:
            async with turns.take(stream, "any"):
                assert turns._short.running <= places >= turns._long.running
                await asyncio.sleep(seconds)

        tasks = [asyncio.create_task(one(stream, seconds)) for stream, seconds, _ in calls]
        await asyncio.sleep(0)
        for task, (*_, cancelled) in zip(tasks, calls, strict=True):
            if cancelled:
                task.cancel()
        for task, (*_, cancelled) in zip(tasks, calls, strict=True):
            with suppress(asyncio.CancelledError):
                await task
            assert cancelled or not task.cancelled()
        for lane in (turns._short, turns._long):
            assert not lane.waiting
            assert lane.running == 0

    with_turns(check, places)


def test_the_last_of_a_crowd_is_sent_away() -> None:
    async def check(turns: FairTurns) -> None:
        done: list[int] = []
        tasks = [asyncio.create_task(hold(turns, 1, 0.01, done)) for _ in range(3)]
        await asyncio.sleep(0)
        assert turns.send_away(1)
        assert not turns.send_away(2)
        with pytest.raises(Crowded):
            await tasks[2]
        await asyncio.gather(*tasks[:2])
        assert done == [1, 1]

    with_turns(check)


def test_calls_that_came_before_their_price_was_known_do_not_hold_up_a_short_one() -> None:
    async def check(turns: FairTurns) -> None:
        done: list[int] = []
        crowd = [asyncio.create_task(hold(turns, 1, 3 * OVERRUN_S, done)) for _ in range(5)]
        await asyncio.sleep(1.5 * OVERRUN_S)
        started = time.monotonic()
        await hold(turns, 2, 0.001, done)
        assert time.monotonic() - started < LONG_S / 2
        for task in crowd:
            task.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)

    with_turns(check)


def test_a_call_that_only_waited_for_a_core_stays_short() -> None:
    async def check(turns: FairTurns) -> None:
        for _ in range(3):
            async with turns.take(1, "any") as turn:
                assert not turn.is_long
                await asyncio.sleep(2 * LONG_S)
                turn.took_s = LONG_S / 5

    with_turns(check)
