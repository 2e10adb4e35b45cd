"""What the machine says of itself: temperature, disk, memory. A value that it does not tell is None."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

THERMAL_FOLDER = Path("/sys/class/thermal")
OWN_MEMORY_FILE = Path("/proc/self/statm")
ZONES_AT_MOST = 32
COLDEST_C, HOTTEST_C = -60.0, 150.0
"""Outside of these a sensor is broken."""
MB = 1_000_000


@dataclass(frozen=True)
class MachineHealth:
    """At one moment."""

    temperature_c: float | None
    """Of the hottest sensor."""
    disk_free_mb: int | None
    """Where the agent keeps its state."""
    disk_total_mb: int | None
    memory_mb: float | None
    """That the agent itself takes."""


def read_machine(folder: Path) -> MachineHealth:
    free_mb, total_mb = read_disk(folder)
    return MachineHealth(read_temperature_c(), free_mb, total_mb, read_memory_mb())


def read_temperature_c(folder: Path = THERMAL_FOLDER) -> float | None:
    found = []
    try:
        zones = sorted(folder.glob("thermal_zone*"))[:ZONES_AT_MOST]
    except OSError:
        return None
    for zone in zones:
        try:
            with (zone / "temp").open("rb") as file:
                found.append(int(file.read(20)) / 1000)
        except (OSError, ValueError):  # some zones have no value while they are off
            continue
    return max((round(one, 1) for one in found if COLDEST_C <= one <= HOTTEST_C), default=None)


def read_disk(folder: Path) -> tuple[int | None, int | None]:
    """Free and in all, in MB; of the folder that will hold it, where it is not there yet."""
    for place in (folder, *folder.parents):
        try:
            usage = shutil.disk_usage(place)
        except OSError:
            continue
        return usage.free // MB, usage.total // MB
    return None, None


def read_memory_mb(file: Path = OWN_MEMORY_FILE) -> float | None:
    try:
        with file.open("rb") as opened:
            pages = int(opened.read(200).split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / MB, 1)
    except (OSError, ValueError, IndexError, AttributeError):
        return None
