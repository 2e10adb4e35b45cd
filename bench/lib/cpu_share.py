"""Processes that get so much of a core and no more, as on a machine of their own."""

import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

CONTROLLERS = Path("/sys/fs/cgroup")
PERIOD_US = 10_000
"""Short, so that a process that has used up its share waits for some milliseconds, not for tenths of a second."""


@contextmanager
def at_most(share: float, pid: int) -> Generator[None]:
    """A process and its children, while the block runs. Needs root."""
    first_version = (CONTROLLERS / "cpu").is_dir()
    parent = CONTROLLERS / "cpu" if first_version else CONTROLLERS
    group = parent / f"onlooker-{uuid.uuid4().hex[:8]}"
    group.mkdir()
    quota_us = round(share * PERIOD_US)
    if first_version:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))
    else:
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    try:
        _move(family, group)
        yield
    finally:
        _move([int(one) for one in (group / "cgroup.procs").read_text().split()], parent)
        group.rmdir()


def _move(pids: list[int], group: Path) -> None:
    for pid in pids:
        (group / "cgroup.procs").write_text(str(pid))
