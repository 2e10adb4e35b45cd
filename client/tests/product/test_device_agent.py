"""The whole agent on a device that computes, against the real product: only visits travel, and none is lost."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_thread import config_of, running_agent
from testkit import Stack, TestStream

from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.preview.output import open_preview

pytest.importorskip("onlooker_models")


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


def test_frames_are_computed_here_which_health_says_and_a_preview_shows(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions], tmp_path: Path
) -> None:
    film = tmp_path / "seen.mp4"
    preview = open_preview(show=False, save=film, fps=5.0, warn=print)
    with running_agent(computing(is_looped=True), lambda: config_of(product, stream), preview=preview) as run:
        run.await_answers(10, 60)
        said = run.agent.health()
        assert said["compute"] == "device"
        assert said["device"]["where"] == "computed here"
        assert said["device"]["confined"] is True
        assert said["device"]["journal"]["journal_bytes"] > 0
        assert said["state"] == "running"
        json.dumps(said)
    assert "computed here" in run.events("start")[0]["message"]
    assert "computed here" in run.events("stop")[0]["message"]
    assert run.counts.adds_up
    assert run.counts.sent_bytes == 0, "only visits travel"
    assert film.stat().st_size > 5_000
