"""Turns of a session over several gateways: real processes, and the kernel's locks between them."""

import asyncio
import multiprocessing
import os
import random
import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

from onlooker.bus.connection import NoAnswer
from onlooker.errors import Problem
from onlooker.gateway.engine.suspects import Suspects
from onlooker.gateway.machine_turns import MachineTurns
from onlooker.gateway.stream_limits import SessionTurns

processes = multiprocessing.get_context("fork")
Turn = tuple[float, float, float, str]
"""When a request came, when its turn began and ended, and its session."""
SESSIONS = ("a", "b")


def _turns(path: Path, *, buckets: int = 1, wait_limit_s: float = 30) -> SessionTurns:
    return SessionTurns(limit=100, machine=MachineTurns(path, wait_limit_s=wait_limit_s, buckets=buckets))


def _take_turns(path: Path, seed: int, turns: "multiprocessing.Queue[list[Turn]]", *, dies: bool) -> None:
    chance, taken = random.Random(seed), list[Turn]()
    sessions = _turns(path)

    async def request(session: str, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        turn = sessions.take(session)
        try:
            async with asyncio.timeout(chance.choice([None, None, 0.05])), turn:
                began = time.monotonic()
                if dies and began > dies_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                await asyncio.sleep(chance.choice([0, 0.001, 0.004]))
                taken.append((turn._arrived_at, began, time.monotonic(), session))
        except TimeoutError:
            return

    async def run() -> None:
        await asyncio.gather(*(request(chance.choice(SESSIONS), chance.uniform(0, 1)) for _ in range(60)))

    dies_at = time.monotonic() + 0.3
    asyncio.run(run())
    turns.put(taken)


@pytest.mark.parametrize("seed", range(3))
def test_turns_of_a_session_do_not_overlap_and_come_in_order_of_arrival(tmp_path: Path, seed: int) -> None:
    """Over three gateways, while a fourth is killed inside a turn, and while clients leave."""
    turns: multiprocessing.Queue[list[Turn]] = processes.Queue()
    path = tmp_path / "turns"
    gateways = [
        processes.Process(target=_take_turns, args=(path, 10 * seed + number, turns), kwargs={"dies": number == 3})
        for number in range(4)
    ]
    for gateway in gateways:
        gateway.start()
    taken = [turns.get(timeout=60) for _ in range(3)]
    for gateway in gateways:
        gateway.join()
    assert gateways[3].exitcode == -signal.SIGKILL
    assert all(len(of_one) > 20 for of_one in taken)
    for session in SESSIONS:
        ordered = sorted(turn for of_one in taken for turn in of_one if turn[3] == session)
        assert all(before[2] <= after[1] for before, after in pairwise(ordered))


def _hold(path: Path, entered: "multiprocessing.Queue[bool]") -> None:
    async def run() -> None:
        async with _turns(path).take("a"):
            entered.put(True)
            await asyncio.sleep(60)

    asyncio.run(run())


def test_a_turn_is_waited_for_until_its_limit_or_its_holder_dies(tmp_path: Path) -> None:
    path = tmp_path / "turns"
    entered: multiprocessing.Queue[bool] = processes.Queue()
    holder = processes.Process(target=_hold, args=(path, entered))
    holder.start()
    entered.get(timeout=10)

    async def take(session: str, limit_s: float) -> float:
        began = time.monotonic()
        async with _turns(path, wait_limit_s=limit_s).take(session):
            return time.monotonic() - began

    assert asyncio.run(take("b", 0.2)) < 0.1
    with pytest.raises(Problem, match="wait already"):
        asyncio.run(take("a", 0.2))
    holder.kill()
    holder.join()
    assert asyncio.run(take("a", 20)) < 1


def test_more_sessions_than_there_is_room_for_are_not_held_up(tmp_path: Path) -> None:
    turns = _turns(tmp_path / "turns")

    async def run() -> int:
        entered = 0

        async def one(number: int) -> None:
            nonlocal entered
            async with turns.take(f"session {number}"):
                entered += 1
                await asyncio.sleep(0.01)

        await asyncio.gather(*(one(number) for number in range(20)))
        return entered

    assert asyncio.run(run()) == 20


def _suspect(path: Path, entered: "multiprocessing.Queue[float]", *, dies: bool) -> None:
    async def run() -> None:
        suspects = Suspects(path)
        async with suspects.turn(time.time() + 20):
            entered.put(time.monotonic())
            await asyncio.sleep(0.3)
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(run())


def test_suspects_of_a_machine_are_tried_one_at_a_time_even_if_one_kills_its_gateway(tmp_path: Path) -> None:
    entered: multiprocessing.Queue[float] = processes.Queue()
    started = [
        processes.Process(target=_suspect, args=(tmp_path / "suspects", entered), kwargs={"dies": number == 0})
        for number in range(3)
    ]
    for one in started:
        one.start()
    moments = sorted(entered.get(timeout=10) for _ in started)
    for one in started:
        one.join()
    assert all(after - before >= 0.3 for before, after in pairwise(moments))


def test_a_suspect_whose_time_is_over_waits_no_longer(tmp_path: Path) -> None:
    async def run() -> None:
        first, second = Suspects(tmp_path / "suspects"), Suspects(tmp_path / "suspects")
        async with first.turn(time.time() + 5):
            for waiting in (first, second):
                with pytest.raises(NoAnswer):
                    async with waiting.turn(time.time() + 0.1):
                        raise AssertionError("two at a time")

    asyncio.run(run())
