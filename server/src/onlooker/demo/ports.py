"""Free ports."""

import random
import socket
from collections.abc import Iterable

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which the system assigns ports to clients: one of those could be taken in between."""


def free_ports(count: int, *, lowest: int = LOWEST, highest: int = HIGHEST) -> list[int]:
    """Consecutive ports."""
    while True:
        # Hypothesis seeds the shared generator identically in each process of a test run.
        first = random.SystemRandom().randint(lowest, highest - count)
        ports = list(range(first, first + count))
        if are_free(ports):
            return ports


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
