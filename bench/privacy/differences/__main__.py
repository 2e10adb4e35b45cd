"""Attacks random worlds with everything that their data endpoint answers; then some of them without protection.

That is without blocks, and with weeks whose cells are not merged.
"""

import argparse
import random
import time
from dataclasses import asdict
from typing import Any

from bench.lib.product import conclude, concluding, say
from bench.privacy.differences.attack import AttackCounts
from bench.privacy.differences.attack_processes import attack_all

WORLDS = 10_000
UNPROTECTED_SHARE = 20
"""For so many worlds one is attacked without blocks, too."""
LEAST_UNPROTECTED = 32
MUST_LEAK_SHARE = 0.5
FINDINGS_SHOWN = 10
ENOUGH = 200
MUST_NOT_HAPPEN = ("leaks", "broken_groups", "unexplained", "grid_leaks", "looks_told")
MUST_HAPPEN = (
    "worlds_told",
    "grid_worlds",
    "changed_worlds",
    "deleted_ranges",
    "expired_worlds",
    "device_worlds",
    "compared_answers",
    "tables",
    "quality_answers",
    "in_view_answers",
    "week_answers",
    "week_refusals",
    "week_worlds",
    "unprotected_looks_shown",
)
"""Else the worlds did not show what they are for; so many of them do."""


def measure(count: int, seed: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    started = time.perf_counter()
    chance = random.Random(seed)
    seeds = [chance.getrandbits(48) for _ in range(count)]
    found = attack_all(seeds, with_blocks=True)
    for line in found.findings[:FINDINGS_SHOWN]:
        say(line)
    some = seeds[: max(LEAST_UNPROTECTED, count // UNPROTECTED_SHARE)]
    unprotected = attack_all(some, with_blocks=False)
    unmerged = attack_all(some, with_merging=False)
    figures = {
        "seed": seed,
        "worlds_target": count,
        **{name: value for name, value in asdict(found).items() if name != "findings"},
        **unprotected_figures(unprotected),
        **unmerged_figures(unmerged),
        "seconds": round(time.perf_counter() - started, 1),
    }
    return {"ok": is_ok(figures)} | figures


def measure_unprotected(count: int, seed: int) -> dict[str, Any]:
    """Blocks taken out on purpose: a run that must find sums about few people."""
    chance = random.Random(seed)
    figures = unprotected_figures(attack_all([chance.getrandbits(48) for _ in range(count)], with_blocks=False))
    return {"ok": figures["unprotected_leak_share"] > MUST_LEAK_SHARE, "seed": seed} | figures


def unprotected_figures(tally: AttackCounts) -> dict[str, Any]:
    return {
        "unprotected_worlds": tally.worlds,
        "unprotected_leaks": tally.leaks,
        "unprotected_looks_shown": tally.looks_shown,
        "unprotected_leak_share": round(tally.leaks / tally.worlds, 3),
        "unprotected_leak_share_above": MUST_LEAK_SHARE,
    }


def measure_unmerged(count: int, seed: int) -> dict[str, Any]:
    """The merging of cells taken out on purpose: a run that must find sums about few people, too."""
    chance = random.Random(seed)
    figures = unmerged_figures(attack_all([chance.getrandbits(48) for _ in range(count)], with_merging=False))
    return {"ok": figures["unmerged_leaks"] > 0, "seed": seed} | figures


def unmerged_figures(tally: AttackCounts) -> dict[str, Any]:
    return {
        "unmerged_worlds": tally.worlds,
        "unmerged_week_worlds": tally.week_worlds,
        "unmerged_leaks": tally.leaks,
        "unmerged_leaks_above": 0,
    }


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["worlds"] >= figures["worlds_target"]
        and not any(figures[name] for name in MUST_NOT_HAPPEN)
        and figures["minutes_shown"] == figures["grid_worlds"]
        and figures["unprotected_leak_share"] > MUST_LEAK_SHARE
        and figures["unmerged_leaks"] > 0
        and (figures["worlds"] < ENOUGH or all(figures[name] for name in MUST_HAPPEN))
    )


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="?", type=int, default=WORLDS)
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(2**32))
    parser.add_argument("--without-blocks", action="store_true", help="take the blocks out: the attack must succeed")
    parser.add_argument("--without-merging", action="store_true", help="tell small cells: the attack must succeed")
    arguments = parser.parse_args()
    say(f"seed {arguments.seed}")
    measuring = measure_unprotected if arguments.without_blocks else measure
    measuring = measure_unmerged if arguments.without_merging else measuring
    conclude(measuring(arguments.worlds, arguments.seed))


if __name__ == "__main__":
    main()
