"""What each process may reach, and the table of it in SECURITY.md."""

from bench.lib.product import ROOT
from testkit.page_section import MarkedPage

PROCESSES = ("gateway", "dispatcher", "recorder", "console", "data", "worker-1")
_ALL = set(PROCESSES)
_FRAMES = {"gateway", "dispatcher"}
_NONE: set[str] = set()

EXPECTED: dict[str, set[str]] = {
    "read the variables of another process": _NONE,
    "read the memory of another process": _NONE,
    "end another process": _NONE,
    "list the home folder": _NONE,
    "write to the home folder": _NONE,
    "read the console's secret key": {"console"},
    "read the key of the local authority": _NONE,
    "read the key of the certificate": {"gateway", "console", "data"},
    "read the passwords of the bus": _NONE,
    "read the passwords of the database": _NONE,
    "read what waits on the bus": _NONE,
    "read and write blobs": _FRAMES,
    "read other files of the user": _NONE,
    "read the system's files": _ALL,
    "read addresses and password hashes of accounts": {"console"},
    "change accounts": {"console"},
    "read the hashes of streams' Passwords": {"gateway", "console"},
    "give a stream another Password": {"console"},
    "change or delete streams": {"console"},
    "read the sealed keys that sign tokens": {"console"},
    "read frames of accepted jobs": {"gateway", "dispatcher", "console"},
    "read visits": {"recorder", "console", "data"},
    "write visits": {"recorder"},
    "delete visits": {"recorder", "console"},
    "change the roll-up": {"recorder"},
    "read what customers pay": {"console"},
    "create tables": _NONE,
    "drop tables": _NONE,
    "create a role": _NONE,
    "read files of the database's server": _NONE,
    "run a program on the database's server": _NONE,
    "become another role of the database": _NONE,
    "log in to the database as another": _NONE,
    "be given a worker's frames": {"worker-1"},
    "give workers tasks": _FRAMES,
    "publish visits": {"gateway", "worker-1"},
    "take visits off the bus": {"recorder"},
    "read session states": {"gateway", "recorder", "worker-1"},
    "write session states": {"gateway", "worker-1"},
    "delete a stream of the bus": _NONE,
    "hear everything on the bus": _NONE,
    "run a program": _ALL,
    "gain rights by a setuid program": _NONE,
    "connect to another host": _ALL,
}
"""By reach: the processes that need it for their work, or that nothing keeps from it."""

SINCE_LANDLOCK = {"end another process": 6}
"""Reaches that only a newer kernel prevents: Landlock's version 6 is Linux 6.12."""

PAGE = MarkedPage(ROOT / "SECURITY.md")
SECTION = "takeover"


def draw_table(reached: dict[str, set[str]]) -> str:
    """Markdown: a row for each reach, a column for each process."""
    names = [name.removesuffix("-1") for name in PROCESSES]
    lines = [f"| an attacker in the ... can | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for reach, processes in reached.items():
        cells = ["yes" if process in processes else "no" for process in PROCESSES]
        lines.append(f"| {reach} | {' | '.join(cells)} |")
    return "\n".join(lines)
