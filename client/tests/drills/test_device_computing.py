"""A device that computes, against the real product: a recording, opening hours without a line, a wrong Password."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true, config_of, running_agent
from testkit import Stack, TestStream
from testkit.ports import free_ports

from onlooker_client.agent import agent
from onlooker_client.agent.business_hours import WEEK_S, OpeningTimes
from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.command import exit_codes
from onlooker_client.device.compute_options import ComputeOptions

pytest.importorskip("onlooker_models")

FRESH_S = 60.0
VISITS = """
SELECT extract(epoch FROM upper(range_merge(present)) - lower(range_merge(present)))::float, ended
FROM visits_visit WHERE stream_id = %s
"""
WATCHED = "SELECT coalesce(sum(video_s), 0)::float FROM streams_coverage WHERE stream_id = %s"


@pytest.fixture
def computing(passing: str, tmp_path: Path) -> Callable[..., AgentOptions]:
    """Options of a run that computes here."""

    def make(**more: Any) -> AgentOptions:
        return AgentOptions(
            passing,
            fps=5.0,
            computes_here=True,
            is_compute_fixed=True,
            compute=ComputeOptions(reads_expression=True),  # as the stream: otherwise the agent starts itself again
            journal=JournalOptions(tmp_path / "journal"),
            **more,
        )

    return make


def test_outside_the_opening_hours_nothing_is_computed_also_without_a_line(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    (port,) = free_ports(1)
    nowhere = config_of(product, stream, url=f"https://localhost:{port}")
    closed = OpeningTimes(since_s=0.0, from_s=0.0, to_s=WEEK_S)
    with running_agent(computing(is_stream_known=True, opening=closed), lambda: nowhere) as run:
        await_true(lambda: run.counts.grabbed > 10, 60, "pictures")
    counts = run.counts
    assert counts.adds_up
    assert (counts.answered, counts.idle) == (0, 0)
    assert counts.dropped["closed"] == counts.grabbed > 10


def test_a_wrong_password_ends_it_unless_it_was_right_before(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "LOOK_AGAIN_S", 0.5)
    wrong = replace(config_of(product, stream), access_token="wrong" * 8)
    with running_agent(computing(), lambda: wrong) as run:
        assert run.ended.wait(30)
    assert "onlooker-agent setup" in str(run.error)
    config = wrong
    with running_agent(computing(is_stream_known=True, is_looped=True), lambda: config) as run:
        run.await_answers(2, 60)
        config = config_of(product, stream)
        run.await_event("credentials")
        run.agent.stop()
        assert run.ended.wait(20)
    assert run.exit_code == exit_codes.OK


def test_a_recording_can_be_computed_here(product: Stack, stream: TestStream, passing: str, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")} | {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "XDG_STATE_HOME": str(tmp_path),
    }
    filmed_at = (datetime.now(timezone.utc) - timedelta(hours=2)).isoformat(timespec="seconds")
    command = [str(Path(sys.executable).with_name("onlooker-agent")), "analyse", passing, "--start", filmed_at]
    done = subprocess.run(
        [*command, "--compute", "device"], env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    await_true(lambda: len(product.execute(VISITS, stream.id)) == 1, FRESH_S, "the visit")
    ((present_s, ended),) = product.execute(VISITS, stream.id)
    assert ended is True
    assert 7 < present_s < 10.5
    await_true(lambda: product.execute(WATCHED, stream.id)[0][0] > 5, FRESH_S, "the coverage")
    assert product.execute(WATCHED, stream.id)[0][0] <= 11
