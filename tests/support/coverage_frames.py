"""Frames that are covered, and reading what was written down of them."""

import subprocess
import sys
from datetime import datetime
from typing import Any

import httpx2

from testkit import Stack, TestStream
from wire import multipart, new_state, wait_for

QUOTA_S = 2.0
"""Of a developer stream of the watched stack."""


def watch(client: httpx2.Client, data: bytes = b"pixels", **fields: Any) -> httpx2.Response:
    """A synchronous job of the test service `watch`, the first of a session, that is to be stored; or as told."""
    meta = {"image": "attachment://shot", "async": False, "store": True, "state": new_state()} | fields
    return client.post("/services/watch/1/jobs", files=multipart(meta, shot=data))


def coverage_of(stack: Stack, stream: TestStream) -> dict[datetime, float]:
    """Seconds of video by the moment their slot begins."""
    query = "SELECT slot_at, video_s FROM streams_coverage WHERE stream_id = %s"
    return {slot_at: round(video_s, 4) for slot_at, video_s in stack.execute(query, stream.id)}


def blindness_of(stack: Stack, stream: TestStream) -> dict[tuple[datetime, str], float]:
    """Seconds in which the camera saw nothing, by the moment their slot begins and by fault."""
    query = "SELECT slot_at, fault, video_s FROM streams_blindness WHERE stream_id = %s"
    return {(slot_at, fault): round(video_s, 4) for slot_at, fault, video_s in stack.execute(query, stream.id)}


def refusals_of(stack: Stack, stream: TestStream) -> dict[str, int]:
    """Refused frames by reason, over all slots."""
    query = "SELECT reason, sum(frames)::int FROM streams_refusal WHERE stream_id = %s GROUP BY reason"
    return dict(stack.execute(query, stream.id))  # type: ignore[arg-type]


def await_refusals(stack: Stack, stream: TestStream, expected: dict[str, int]) -> None:
    wait_for(lambda: refusals_of(stack, stream), lambda found: found == expected, limit_s=8)


def states_of(stack: Stack, stream_id: int) -> list[str]:
    """The log of a stream's states, oldest first."""
    return [
        row[0]
        for row in stack.execute("SELECT state FROM streams_statechange WHERE stream_id = %s ORDER BY id", stream_id)
    ]


def run_cli(stack: Stack, *arguments: str) -> str:
    """What the command line prints."""
    command = [sys.executable, "-m", "onlooker", *arguments]
    done = subprocess.run(command, env=stack.environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
