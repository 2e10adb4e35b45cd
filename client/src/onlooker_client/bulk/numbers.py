"""The numbers of what was sent, from the data endpoint, as soon as all of it is written there."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from onlooker_client.client import Client
from onlooker_client.numbers.bucket import Bucket

METRICS = (
    *("passing_by", "interested", "stop_time", "attention_time", "satisfaction"),
    *("gender", "age", "category", "emotion"),
)
LONGEST_S = 20.0
SETTLED_S, UNSETTLED_S = 2.0, 6.0
"""How long numbers must stay as they are: with everybody in them whom the answers showed, and without."""
ASK_EVERY_S = 0.5


def read_numbers(client: Client, from_date: datetime, to_date: datetime, *, expected: int) -> Bucket:
    """Waits until nothing changes any more: who was in view at the end is written a moment after the session ended."""
    began = known_since = time.monotonic()
    known = _ask(client, from_date, to_date)
    while True:
        now = time.monotonic()
        quiet_s = SETTLED_S if known.passing_by >= expected else UNSETTLED_S
        if now - known_since > quiet_s or now - began > LONGEST_S:
            return known
        time.sleep(ASK_EVERY_S)
        bucket = _ask(client, from_date, to_date)
        if bucket.values != known.values:
            known, known_since = bucket, now


def as_object(bucket: Bucket) -> dict[str, Any]:
    """For machines."""
    return {name: bucket[name] for name in METRICS}


def _ask(client: Client, from_date: datetime, to_date: datetime) -> Bucket:
    [bucket] = client.metrics(METRICS, from_date, to_date, time="global")
    return bucket
