"""Attacking many worlds in several processes, each on a database of its own."""

import asyncio
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from unittest.mock import patch

from bench.lib.product import say
from bench.privacy.differences.attack import AttackCounts, open_attack
from onlooker.metrics import week_release
from onlooker.metrics.week_parts import AGES, GENDERS, Traits, WeekParts
from testkit import migrated_database

BATCH = 16
PROCESSES = 2
PROGRESS_EVERY = 256


def attack_worlds(seeds: Sequence[int], with_blocks: bool, with_merging: bool) -> AttackCounts:
    """In a process and on a database of its own."""
    with nullcontext() if with_merging else patch.object(week_release, "choose_parts", _choose_finest):
        return asyncio.run(_attack(seeds, with_blocks))


def _choose_finest(blocks: Sequence[Mapping[Traits, int]], *, least: int) -> WeekParts | None:
    """Every gender and every age by itself, however few people that are."""
    people = sum(sum(block.values()) for block in blocks)
    return WeekParts(tuple((one,) for one in GENDERS), tuple((one,) for one in AGES)) if people >= least else None


async def _attack(seeds: Sequence[int], with_blocks: bool) -> AttackCounts:
    started = time.perf_counter()
    with migrated_database() as url:
        async with open_attack(url, with_blocks=with_blocks) as attack:
            for first in range(0, len(seeds), BATCH):
                await attack.play(seeds[first : first + BATCH])
                done = attack.tally.worlds
                if done % PROGRESS_EVERY == 0 or done == len(seeds):
                    rate = done / (time.perf_counter() - started)
                    kind = "with" if with_blocks else "without"
                    leaks = attack.tally.leaks
                    say(f"  {done} of {len(seeds)} worlds {kind} blocks, {rate:.1f} a second, {leaks} leak")
            return attack.tally


def attack_all(seeds: Sequence[int], *, with_blocks: bool = True, with_merging: bool = True) -> AttackCounts:
    """All worlds, divided among processes. Without merging, cells of weeks are told whatever their size."""
    parts = [seeds[number::PROCESSES] for number in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(attack_worlds, parts, [with_blocks] * PROCESSES, [with_merging] * PROCESSES))
    total = AttackCounts()
    for tally in found:
        for name, value in vars(tally).items():
            setattr(total, name, getattr(total, name) + value)
    return total
