"""Ports that nobody listens on."""

import socket


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now, in one row, so that one can count up from the first."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = int(probe.getsockname()[1])
        if first + count < 60_000 and all(map(_is_free, range(first, first + count))):
            return list(range(first, first + count))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
