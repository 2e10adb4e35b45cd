"""The table of docs/reference/sizing.md: what is measured, and what is computed from it by formulas that it states."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from bench.lib.product import ROOT

PAGE = ROOT / "docs/reference/sizing.md"
FPS = 5
"""Of a camera: what the agent sends unless it is told otherwise."""
CAMERA_COUNTS = (1, 10, 100, 1000)
BUSY_SHARE = 0.7
"""Of a core that is planned for; the rest is for the moment in which all cameras see a crowd."""
OPEN_HOURS = 12
STAY_S = 10
QUIET_VISITS_A_DAY = 100
RETENTION_DAYS = 90
STATES_KEPT_S = 15 * 60
CAMERAS_A_WORKER = 10
WORKER_MB = 350
SYSTEM_GB = 10
CORE_PRICE, MEMORY_PRICE, DISK_PRICE = 30.0, 2.0, 0.1
"""Dollars a month: a core of a rented machine, a GB of memory beyond 2 GB a core, a GB of disk."""
MEMORY_OF_A_CORE_GB = 2


class MeasuredRun(Protocol):
    """What a row that was played live found."""

    @property
    def cores(self) -> float: ...

    @property
    def memory_mb(self) -> float: ...

    @property
    def missed(self) -> float: ...


@dataclass(frozen=True)
class ScenePart:
    """What one camera of a kind takes."""

    name: str
    people: int
    cores: float
    frame_bytes: float
    state_bytes: float
    """That a frame leaves on the bus for a while."""
    visit_bytes: float
    idle_mb: float

    @property
    def visits_a_day(self) -> float:
        return max(QUIET_VISITS_A_DAY, self.people * OPEN_HOURS * 3600 / STAY_S)


@dataclass(frozen=True)
class Load:
    """A row."""

    scene: str
    cameras: int
    cores: float
    """That are busy."""
    memory_gb: float
    disk_gb: float
    megabits: float
    is_measured: bool
    missed: float

    @property
    def cores_to_buy(self) -> float:
        return max(1.0, self.cores / BUSY_SHARE)

    @property
    def dollars(self) -> float:
        extra_gb = max(0.0, self.memory_gb - MEMORY_OF_A_CORE_GB * self.cores_to_buy)
        return CORE_PRICE * self.cores_to_buy + MEMORY_PRICE * extra_gb + DISK_PRICE * self.disk_gb


def load_of(part: ScenePart, cameras: int, *, lived: MeasuredRun | None) -> Load:
    workers = -(-cameras // CAMERAS_A_WORKER)
    bus_bytes = cameras * FPS * STATES_KEPT_S * part.state_bytes
    visits_bytes = cameras * part.visits_a_day * RETENTION_DAYS * part.visit_bytes
    return Load(
        part.name,
        cameras,
        cores=lived.cores if lived else part.cores * cameras,
        memory_gb=(lived.memory_mb if lived else part.idle_mb + WORKER_MB * (workers - 1)) / 1000,
        disk_gb=SYSTEM_GB + (bus_bytes + visits_bytes) / 1e9,
        megabits=cameras * FPS * part.frame_bytes * 8 / 1e6,
        is_measured=lived is not None,
        missed=lived.missed if lived else 0.0,
    )


def write_page(loads: list[Load], devices: str, *, machine: str, on: date) -> None:
    """`devices` is the part about devices that compute."""
    PAGE.write_text(_page(loads, machine=machine, on=on) + "\n" + devices, encoding="utf-8")


def _page(loads: list[Load], *, machine: str, on: date) -> str:
    rows = "\n".join(format_row(load) for load in loads)
    return f"""# Sizing

How large a machine must be for cameras whose frames are [computed on the server](#computed-on-the-server), and for
those that are [computed on the device](#computed-on-the-device). Measured by `just sizing --write` on {on.isoformat()}:
{machine}. Run it on yours; a core is not a core.

## Computed on the server

A camera sends {FPS} frames a second of 640 x 480. **Quiet** is a view without people, **busy** one with one
person at all times, **crowded** one with five. An agent sends fewer frames while nothing moves, so quiet hours cost
less than this.

| view | cameras | cores busy | cores to have | memory | disk | network in | dollars a month | |
|---|---|---|---|---|---|---|---|---|
{rows}

How the columns come about:

- **cores busy**: CPU time a second of all processes, PostgreSQL and NATS included. Measured rows: cameras that send
  live. Computed rows: the cores of one camera times the number of cameras.
- **cores to have**: cores busy / {BUSY_SHARE}, at least 1.
- **memory**: of Onlooker's processes and NATS, what they share counted once, without PostgreSQL's. Computed: what the
  product has at rest + {WORKER_MB} MB for each worker after the first, one worker for {CAMERAS_A_WORKER} cameras.
- **disk**: {SYSTEM_GB} GB for the system + visits a day x {RETENTION_DAYS} days x bytes a visit + frames a second x
  {STATES_KEPT_S // 60} minutes x bytes of a session's state. Visits a day: people in view x {OPEN_HOURS} hours /
  {STAY_S} s that one stays, at least {QUIET_VISITS_A_DAY}. Bytes of visits and states are measured.
  Computed in all rows.
- **network in**: mean bytes of a frame x frames a second. Computed in all rows.
- **dollars a month**: {CORE_PRICE:g} for a core with {MEMORY_OF_A_CORE_GB} GB, {MEMORY_PRICE:g} for a GB of memory
  beyond, {DISK_PRICE:g} for a GB of disk. An assumption about rented machines; your own cost what they cost. Computed
  in all rows.

From about 100 cameras on, one machine is no longer the way: [cells](../concepts/cells.md).
"""


def format_row(load: Load) -> str:
    figures = (
        load.scene,
        f"{load.cameras:,}",
        f"{load.cores:.2f}" if load.cores < 10 else f"{load.cores:.0f}",
        f"{load.cores_to_buy:.1f}" if load.cores_to_buy < 10 else f"{load.cores_to_buy:.0f}",
        f"{load.memory_gb:.1f} GB",
        f"{load.disk_gb:,.0f} GB",
        f"{load.megabits:,.1f} Mbit/s" if load.megabits >= 0.1 else f"{1000 * load.megabits:.1f} kbit/s",
        f"{load.dollars:,.0f}",
        "measured" if load.is_measured else "computed",
    )
    return f"| {' | '.join(figures)} |"
