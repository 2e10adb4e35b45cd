"""What a fleet takes of the server: CPU of its processes, rows and WAL of its database, by 1,000 devices and hour."""

import contextlib
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import psutil

from bench.lib.processes import cpu_seconds
from testkit import Stack

BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
WRITTEN = "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables"
WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
TABLES_TOLD = 8
THOUSAND, HOUR_S = 1000, 3600


@dataclass(frozen=True)
class ServerReading:
    """Counters at one moment; two of them make a figure."""

    at_s: float
    cpu_s: dict[tuple[str, int], float]
    """By name and number of the process."""
    rows: dict[str, int]
    wal_bytes: int
    commits: int


def read_server(stack: Stack) -> ServerReading:
    """All processes that the product started, and those of PostgreSQL that serve it, which run on this machine."""
    pids = [stack.process.pid, *(child.pid for child in psutil.Process(stack.process.pid).children(recursive=True))]
    pids += [row[0] for row in stack.execute(BACKENDS)]
    cpu_s: dict[tuple[str, int], float] = {}
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            cpu_s[_name(pid), pid] = cpu_seconds([pid])
    return ServerReading(
        time.monotonic(),
        cpu_s,
        {str(table): int(count) for table, count in stack.execute(WRITTEN)},
        int(stack.execute(WAL)[0][0]),
        int(stack.execute(COMMITS)[0][0]),
    )


def _name(pid: int) -> str:
    name = psutil.Process(pid).name()
    return "postgresql" if name.startswith("postgres") else name.rstrip("-0123456789")


def compare_readings(before: ServerReading, after: ServerReading, *, devices: int) -> dict[str, Any]:
    """By 1,000 devices and hour. A process that ended in between takes its figure along."""
    seconds = after.at_s - before.at_s
    scale = THOUSAND / devices * HOUR_S / seconds
    cpu_s: Counter[str] = Counter()
    for (name, pid), now_s in after.cpu_s.items():
        cpu_s[name] += now_s - before.cpu_s.get((name, pid), 0.0)  # type: ignore[assignment]
    rows = Counter({table: count - before.rows.get(table, 0) for table, count in after.rows.items()})
    return {
        "measured_s": round(seconds, 1),
        "cpu_s": round(cpu_s.total() * scale, 1),
        "cores": round(cpu_s.total() * scale / HOUR_S, 3),
        "cpu_s_by_process": {name: round(used * scale, 1) for name, used in cpu_s.most_common() if used * scale >= 0.1},
        "rows_written": round(rows.total() * scale),
        "rows_by_table": {name: round(count * scale) for name, count in rows.most_common(TABLES_TOLD) if count},
        "wal_mb": round((after.wal_bytes - before.wal_bytes) * scale / 1e6, 1),
        "commits": round((after.commits - before.commits) * scale),
    }
