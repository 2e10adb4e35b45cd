"""Ports that nobody listens on."""

import os
import random
import socket
from collections.abc import Iterable

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which the system gives ports to clients: one of those could be taken in between."""


def free_ports(count: int) -> list[int]:
    """Ports in one row, so that one can count up from the first."""
    lowest, highest = _own_share()
    while True:
        # Hypothesis seeds the common dice, in each process of a test run alike.
        first = random.SystemRandom().randint(lowest, highest - count)
        ports = list(range(first, first + count))
        if are_free(ports):
            return ports


def _own_share() -> tuple[int, int]:
    """Of the processes of one test run each has ports of its own: what one has chosen is not taken at once."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    size = (HIGHEST - LOWEST) // count
    return LOWEST + number * size, LOWEST + (number + 1) * size


def are_free(ports: Iterable[int]) -> bool:
    return all(map(_is_free, ports))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one that was just left is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
