"""Visits as PostgreSQL has them."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bench.scenes.found import Visit
from bench.scenes.intervals import Interval
from onlooker.testing import Stack

QUIET_S = 4.0
"""Without any change, after which nothing more is on its way."""
WRITE_LIMIT_S = 120.0


def await_visits(stack: Stack, streams: Sequence[int], *, limit_s: float = WRITE_LIMIT_S) -> None:
    """Until every visit of the streams has ended and no new one comes."""
    give_up_at = time.monotonic() + limit_s
    latest, since = None, time.monotonic()
    while time.monotonic() < give_up_at:
        state = stack.execute(
            "SELECT count(*), count(*) FILTER (WHERE NOT ended), sum(revision)"
            " FROM visits_visit WHERE stream_id = ANY(%s)",
            list(streams),
        )[0]
        if state != latest:
            latest, since = state, time.monotonic()
        elif state[1] == 0 and time.monotonic() - since >= QUIET_S:
            return
        time.sleep(0.25)
    raise TimeoutError(f"Of {latest and latest[0]} visits {latest and latest[1]} had not ended after {limit_s:.0f} s.")


def read_visits(stack: Stack, stream: int, *, begins_at: datetime) -> list[Visit]:
    """A stream's visits, in seconds since the scene began."""
    rows = stack.execute(
        "SELECT id, present, still, looking FROM visits_visit WHERE stream_id = %s ORDER BY began_at, id", stream
    )
    return [Visit(str(row[0]), *(_seconds(ranges, begins_at) for ranges in row[1:])) for row in rows]


def _seconds(ranges: Any, begins_at: datetime) -> list[Interval]:
    return [((one.lower - begins_at).total_seconds(), (one.upper - begins_at).total_seconds()) for one in ranges]
