"""Refuses frames of times that no visit may have."""

import time

from onlooker.compute.call import BAD_TIMESTAMP, Call, ComputeError

AHEAD_AT_MOST_S = 5 * 60
DAY_S = 86_400


def check_time(call: Call, *, stored: bool) -> None:
    taken_at = call.time.at_s
    if taken_at < DAY_S:
        raise ComputeError(BAD_TIMESTAMP, "The timestamp is of 1970 or before. Set the clock of the device.")
    if stored and taken_at > time.time() + AHEAD_AT_MOST_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            "The timestamp is more than 5 minutes ahead of the server's clock. Set the clock of the device.",
        )
    if stored and taken_at < time.time() - call.sender.retention_days * DAY_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            f"The timestamp is older than the {call.sender.retention_days} days for which this stream keeps its "
            "visits. Set the clock of the device, or send with `store` false.",
        )
