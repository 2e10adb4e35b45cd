"""Ports that nobody listens on, for tests that run side by side."""

import os

from onlooker.demo import ports
from onlooker.demo.ports import HIGHEST, LOWEST


def free_ports(count: int) -> list[int]:
    """Ports in one row. Each process of a test run has a share of its own: what one has chosen is not taken at once."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = (HIGHEST - LOWEST) // processes
    return ports.free_ports(count, lowest=LOWEST + number * share, highest=LOWEST + (number + 1) * share)
