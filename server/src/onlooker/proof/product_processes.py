"""The processes of a running installation: everything below the `onlooker up` that holds the lock of a home."""

import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def find_processes(home: Path) -> dict[int, str]:
    """Name by process id, the supervisor first; none if no `onlooker up` of this machine uses the home."""
    found: dict[int, str] = {}
    for holder in lock_holders(home / "lock"):
        for pid in (holder, *_descendants(holder)):
            if name := _name(pid):
                found[pid] = name
    return found


def lock_holders(file: Path) -> list[int]:
    """Processes that hold a lock of this file."""
    try:
        at = file.stat()
        lines = (PROC / "locks").read_text().splitlines()
    except OSError:
        return []
    device = f"{os.major(at.st_dev):02x}:{os.minor(at.st_dev):02x}"
    found = []
    for row in map(str.split, lines):
        if len(row) < 6 or row[1] != "FLOCK" or int(row[4]) <= 0:
            continue
        where, _, inode = row[5].rpartition(":")
        # Some file systems show another device there than to those who ask for the file.
        if inode == str(at.st_ino) and (where == device or b"onlooker" in _command_line(int(row[4]))):
            found.append(int(row[4]))
    return found


def _command_line(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _children(pid: int) -> list[int]:
    """Of all its threads: any of them may have started one."""
    found = []
    for listed in PROC.glob(f"{pid}/task/*/children"):
        try:
            found += [int(child) for child in listed.read_text().split()]
        except OSError:
            continue
    return found


def _name(pid: int) -> str:
    """As `ps` shows it; empty if the process is gone."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""
