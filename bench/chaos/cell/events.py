"""What happens to a cell, one event after another, and how long its devices were refused in each."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.lib.cell_hosts import OWN_PROGRAM, Cell

REFUSED_TARGET_S = 5.0
FAILOVER_TARGET_S = 15.0
DOWN_S = 20.0
UPGRADE_LIMIT_S = 60.0
UPGRADE = "upgrade of h1, h2 and h3 in turn"
UPGRADED_TOGETHER = (("recorder", "dispatcher", "data", "console"), ("worker-1",), ("gateway",))
CLOCK_JUMP_S = 40
PROCESSES = (
    ("h1", "gateway"),
    ("h2", "gateway"),
    ("h1", "worker-1"),
    ("h3", "worker-1"),
    ("h1", "recorder"),
    ("h2", "dispatcher"),
    ("h1", "nats"),
    ("h3", "nats"),
    ("h2", "pgbouncer"),
    ("h1", "haproxy"),
    ("edge", "haproxy"),
    ("h2", "etcd"),
    ("h2", "data"),
    ("h3", "console"),
    ("h3", "blobs"),
)


@dataclass(frozen=True)
class Event:
    """Something bad. `act` returns when what it did is over."""

    name: str
    act: Callable[[Cell], None]
    target_s: float = REFUSED_TARGET_S
    """For how long a device may be refused at most."""


@dataclass(frozen=True)
class Happened:
    """An event, and its time by the monotonic clock: until all was well again, or was not."""

    event: Event
    began: float
    ended: float
    is_healed: bool
    has_failed_over: bool
    """Whether another PostgreSQL is the primary since."""

    @property
    def target_s(self) -> float:
        return FAILOVER_TARGET_S if self.has_failed_over else self.event.target_s


def _kill(host: str, name: str) -> Event:
    def act(cell: Cell) -> None:
        if not cell.kill(host, name):
            raise RuntimeError(f"{name} does not run on {host}")

    return Event(f"SIGKILL {name} on {host}", act)


def _lasting(name: str, begin: Callable[[Cell], None], end: Callable[[Cell], None], *, target_s: float) -> Event:
    """Something that is over after a while."""

    def act(cell: Cell) -> None:
        begin(cell)
        time.sleep(DOWN_S)
        end(cell)

    return Event(f"{name} for {DOWN_S:g} s", act, target_s)


def _down(host: str, *, target_s: float) -> Event:
    return _lasting(f"{host} down", lambda cell: cell.crash(host), lambda cell: cell.boot(host), target_s=target_s)


def _cut_off(host: str, *, target_s: float) -> Event:
    return _lasting(
        f"{host} without network", lambda cell: cell.cut(host), lambda cell: cell.join(host), target_s=target_s
    )


def _jump(host: str) -> Event:
    return _lasting(
        f"the clock of {host} {CLOCK_JUMP_S} s ahead",
        lambda cell: cell.set_clock(host, CLOCK_JUMP_S),
        lambda cell: cell.set_clock(host, 0),
        target_s=REFUSED_TARGET_S,
    )


def _kill_primary(cell: Cell) -> None:
    cell.kill(cell.primary() or "h1", "postgresql")


def _upgrade(cell: Cell) -> None:
    cell.install(OWN_PROGRAM)
    for host in ("h1", "h2", "h3"):
        for names in UPGRADED_TOGETHER:
            for name in names:
                cell.restart(host, name)
            time.sleep(1)
            if not cell.await_ready(UPGRADE_LIMIT_S):
                raise RuntimeError(f"{' '.join(names)} of {host} are not ready after their upgrade")


def events_in_order() -> Iterator[Event]:
    """All of them."""
    yield Event(UPGRADE, _upgrade)
    for host, name in PROCESSES:
        yield _kill(host, name)
    yield Event("SIGKILL of PostgreSQL's primary", _kill_primary, FAILOVER_TARGET_S)
    yield Event("PostgreSQL fails over", Cell.fail_over, FAILOVER_TARGET_S)
    # A host that has the primary takes it along.
    for host in ("h3", "h2", "h1"):
        yield _down(host, target_s=REFUSED_TARGET_S if host == "h3" else FAILOVER_TARGET_S)
    for host in ("h3", "h2", "h1"):
        yield _cut_off(host, target_s=REFUSED_TARGET_S if host == "h3" else FAILOVER_TARGET_S)
    yield _jump("h2")
