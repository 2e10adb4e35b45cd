"""A developer stream uses up its whole month, is refused, and goes on: in the next month, or upgraded."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from onlooker.streams.video_time import month_end
from testkit import Stack, TestStream, migrated_database, running_stack
from wire import assert_problem, measure, new_state, wait_for

pytest_plugins = ["stacks"]
QUOTA_S = 3 * 3600
OVERSHOOT_S = 10
CAMERAS = 4
UPGRADE_LIMIT_S = 60
FIRST_FRAME_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """Default settings except for the rate: three hours of video come in a minute."""
    with (
        migrated_database() as database_url,
        running_stack(
            database_url, extra_services="extra.measure", rate_limit_per_second=10_000, rate_limit_burst=10_000
        ) as running,
    ):
        yield running


def drive(client: httpx2.Client, frames: int) -> tuple[int, httpx2.Response]:
    """Send frames until some are refused; how many were computed, and a refusal.

    Several cameras at once: one alone waits most of the time, and on a busy machine takes longer than a test may.
    """
    left = iter(range(frames))
    with ThreadPoolExecutor(CAMERAS) as cameras:
        driven = list(cameras.map(lambda _: drive_camera(client, left), range(CAMERAS)))
    refusals = [refusal for _, refusal in driven if refusal]
    assert refusals, f"{frames} frames, and none was refused"
    return sum(computed for computed, _ in driven), refusals[0]


def drive_camera(client: httpx2.Client, left: Iterator[int]) -> tuple[int, httpx2.Response | None]:
    """The timestamps of its frames are a second apart. It ends when one is refused, or when none is left."""
    state = new_state()
    for computed, _ in enumerate(left):
        timestamp = (FIRST_FRAME_AT + timedelta(seconds=computed)).isoformat()
        answer = measure(client, state=state, timestamp=timestamp)
        if answer.status_code != 201:
            return computed, answer
    return 0, None


def upgrade(stack: Stack, stream: TestStream) -> None:
    command = [sys.executable, "-m", "onlooker", "stream", "set", stream.client_id, "--kind", "enterprise"]
    subprocess.run(command, check=True, env=os.environ | stack.environment, stdout=subprocess.DEVNULL)


@pytest.mark.drill
def test_three_hours_are_computed_then_refused_then_lifted(
    stack: Stack, gateway_ahead: Callable[[float], AbstractContextManager[str]]
) -> None:
    """Refused at 3 h plus at most 10 s; works in the next month; an upgrade lifts it within 60 s."""
    stream = stack.create_stream(kind="developer")
    with httpx2.Client(base_url=stack.plain_url, auth=stream.auth, timeout=30) as client:
        computed, refusal = drive(client, QUOTA_S + OVERSHOOT_S + 2)
        assert QUOTA_S <= computed <= QUOTA_S + OVERSHOOT_S
        assert_problem(refusal, 403, "quota_exceeded")
        resets_at = datetime.fromisoformat(refusal.json()["resets_at"])
        assert resets_at == month_end(time.time())

        until_then_s = (resets_at - datetime.now(UTC)).total_seconds()
        with (
            gateway_ahead(until_then_s + 60) as next_month,
            httpx2.Client(base_url=next_month, auth=stream.auth, timeout=30) as later,
        ):
            assert measure(later).status_code == 201
        assert_problem(measure(client), 403, "quota_exceeded")

        upgrade(stack, stream)
        wait_for(lambda: measure(client).status_code, lambda status: status == 201, limit_s=UPGRADE_LIMIT_S, every_s=1)
