"""A device that computes by itself, in trouble: a month without a line, kills, torn journals, a full disk."""

import argparse
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.chaos.edge.agent_kills import measure_agent_kills
from bench.chaos.edge.damage import measure_damage
from bench.chaos.edge.kills import measure_full_disk, measure_kills
from bench.chaos.edge.month import measure_month
from bench.lib.product import conclude, concluding, running_product, say
from testkit import Stack

SETTINGS = {"workers": 1, "log_level": "info", "device_batches_per_second": 1e3, "device_visits_per_second": 1e5}
"""Each batch is sent five times as fast as it goes: rates are another matter."""
PARTS = ("month", "kills", "agent", "damage", "disk")


def measure(stack: Stack, folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    seed = chosen.seed
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "month": lambda: measure_month(stack, days=chosen.days, hours=chosen.hours, visits=chosen.visits, seed=seed),
        "kills": lambda: measure_kills(
            stack, folder / "kills", kills=chosen.kills, server_kills=chosen.server_kills, seed=seed
        ),
        "agent": lambda: measure_agent_kills(stack, folder / "agent", kills=chosen.agent_kills, seed=seed),
        "damage": lambda: measure_damage(trials=chosen.torn, seed=seed),
        "disk": lambda: measure_full_disk(stack, folder / "disk", seconds=chosen.full_s, seed=seed),
    }
    figures: dict[str, Any] = {"seed": seed}
    for name in chosen.only:
        say(name)
        figures[name] = parts[name]()
        say(f"{name}: {figures[name]}")
    return {"ok": all(figures[name]["ok"] for name in chosen.only), **figures}


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--hours", type=float, default=24.0, help="of each day in which the camera films")
    parser.add_argument("--visits", type=int, default=6000, help="people in front of the camera in these days")
    parser.add_argument("--kills", type=int, default=100, help="of the device")
    parser.add_argument("--agent-kills", type=int, default=10, help="of the real agent, which computes a film")
    parser.add_argument("--server-kills", type=int, default=8)
    parser.add_argument("--torn", type=int, default=100, help="journals that are torn")
    parser.add_argument(
        "--full-s", type=float, default=60.0, help="seconds with a disk that is full in their first half"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="onlooker-edge-") as folder, running_product(**SETTINGS) as stack:
        figures = measure(stack, Path(folder), chosen)
    conclude(figures)


if __name__ == "__main__":
    main()
