"""What an answer of the data endpoint costs beside a hand-written statement, how that grows, and visits a second."""

import argparse
import asyncio
from collections.abc import Iterator
from typing import Any

from bench.cost.data_breakdowns import measure_breakdowns
from bench.cost.data_ingest import REVISIONS, Ingest, measure_ingest
from bench.cost.data_queries import Measured, measure, measure_groups, measure_requests, percentile
from bench.cost.data_world import OPEN_HOURS, DataWorld, Filling, make_world, roll_up, tuned_cluster, tuning
from bench.lib.allowance import add_allowance
from bench.lib.product import conclude, say
from onlooker.metrics.query import Time

FULL = {"visits": 10_000_000, "grown": 30_000_000, "streams": 1000, "days": 90, "queries": 400, "rounds": 5}
INGESTED = 40_000
"""Visits of one round."""
RANKS = (50, 95)
RATIO_TARGET = 1.5
GROWTH_TARGET = 1.2
GROUPS_OF = 5
GROUPS_TARGET = 1.2
"""A page of a stream that tells about people in groups to the page of one that does not."""
QUALITY_TARGET = 1.3
"""A page with `watched` and `quality` to the page without."""
INGEST_TARGET = 10_000
INGEST_RATIO_TARGET = 0.5


def build(world: DataWorld, visits: int) -> Filling:
    """So many more visits, and the roll-up of all."""
    say(f"{visits} visits of {len(world.streams)} streams over {world.days} days")
    world.add_visits(visits)
    say("their roll-up")
    filling = roll_up(world)
    print(filling.describe())
    return filling


def describe_answers(name: str, measured: Measured) -> Iterator[str]:
    for kind, times in measured.items():
        parts = [
            f"p{rank} {percentile(times.ours, rank):6.2f} ms, by hand {percentile(times.by_hand, rank):6.2f} ms "
            f"({times.ratio(rank):.2f} x)"
            for rank in RANKS
        ]
        asked = f", as a request {percentile(times.request, 50):.2f} ms" if times.request else ""
        yield f"{name:>12} visits, {kind:8}: {'; '.join(parts)}{asked}"


def ratios_of(measured: dict[str, Measured]) -> dict[str, float]:
    """To the hand-written statement, the worse of both worlds."""
    return {
        f"{kind}_p{rank}_ratio": max(by_kind[kind].ratio(rank) for by_kind in measured.values())
        for kind in Time
        for rank in RANKS
    }


def growths_of(before: Measured, after: Measured) -> dict[str, float]:
    return {
        f"{kind}_p{rank}_growth": percentile(after[kind].ours, rank) / percentile(before[kind].ours, rank)
        for kind in Time
        for rank in RANKS
    }


def figures_of(
    measured: dict[str, Measured],
    groups: dict[Time, float],
    breakdowns: dict[str, float],
    ingests: list[Ingest],
    *,
    allow: float,
) -> dict[str, Any]:
    ratios, growths = ratios_of(measured), growths_of(*measured.values())
    best = max(ingests, key=lambda one: one.per_second)
    ratio = min(one.ratio for one in ingests)
    quality = {kind: times.quality_ratio for kind, times in list(measured.values())[-1].items()}
    limits = (
        (ratios, RATIO_TARGET),
        (growths, GROWTH_TARGET),
        (quality, QUALITY_TARGET),
        (groups, GROUPS_TARGET),
        (breakdowns, RATIO_TARGET),
    )
    answers_ok = all(max(found.values()) <= target * allow for found, target in limits)
    ingest_ok = best.per_second >= INGEST_TARGET / allow and ratio >= INGEST_RATIO_TARGET / allow
    return {
        "ok": answers_ok and ingest_ok,
        "allowed_factor": allow,
        **{name: round(value, 2) for name, value in ratios.items()},
        "ratio_target": RATIO_TARGET,
        **{name: round(value, 2) for name, value in growths.items()},
        "growth_target": GROWTH_TARGET,
        **{f"{kind}_quality_ratio": round(value, 2) for kind, value in quality.items()},
        "quality_ratio_target": QUALITY_TARGET,
        **{f"{kind}_groups_ratio": round(value, 2) for kind, value in groups.items()},
        "groups_ratio_target": GROUPS_TARGET,
        **{f"breakdown_{name}_p50_ratio": round(value, 2) for name, value in breakdowns.items()},
        "visits_per_second": round(best.per_second),
        "visits_per_second_target": INGEST_TARGET,
        "revisions_per_second": round(best.per_second * REVISIONS),
        "ingest_to_bare": round(ratio, 2),
        "ingest_to_bare_target": INGEST_RATIO_TARGET,
        "recorders": best.recorders,
        "batch": best.batch,
        "cpu_us_per_visit": round(best.cpu_us),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in FULL.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--ingested", type=int, default=INGESTED)
    add_allowance(parser)
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    with tuned_cluster() as cluster:
        print(f"PostgreSQL with {', '.join(f'{name} {value}' for name, value in tuning().items())}")
        world = make_world(cluster, streams=asked.streams, days=asked.days)
        world.add_quality()
        build(world, asked.visits)
        grown = world.copy("grown")
        build(grown, asked.grown - asked.visits)
        say("answers, ours and by hand")
        worlds = {str(asked.visits): world, str(asked.grown): grown}
        measured = asyncio.run(measure(worlds, queries=asked.queries))
        asyncio.run(measure_requests(grown, measured[str(asked.grown)], queries=asked.queries // 4))
        for name, by_kind in measured.items():
            print("\n".join(describe_answers(name, by_kind)))
        say(f"the same world in groups of at least {GROUPS_OF}")
        grouped = world.copy("grouped")
        print(f"put into blocks in {grouped.group(GROUPS_OF):.0f} s")
        groups = asyncio.run(measure_groups(world, grouped, queries=asked.queries // 2))
        print("; ".join(f"{kind}: {ratio:.2f} x" for kind, ratio in groups.items()))
        say("breakdowns and filters, ours and by hand")
        breakdowns = asyncio.run(measure_breakdowns(grown, queries=asked.queries // 8))
        print("; ".join(f"{name}: {ratio:.2f} x" for name, ratio in breakdowns.items()))
        say("visits a second")
        hourly = asked.grown / (asked.streams * asked.days * OPEN_HOURS)
        ingests = measure_ingest(grown, visits=asked.ingested, rounds=asked.rounds, hourly=hourly)
        print("\n".join(one.describe() for one in ingests))
    conclude(
        figures_of(measured, groups, breakdowns, ingests, allow=asked.allow),
        verdict=asked.allow > 1 or all(getattr(asked, name) >= FULL[name] for name in FULL),
    )


if __name__ == "__main__":
    main()
