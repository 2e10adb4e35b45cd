"""The whole agent against the real product: a video as its camera, answers, refusals, a clean end."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from agent_thread import await_true, config_of, running_agent
from bench.chaos.proxy import running_proxy
from testkit import Stack, TestStream
from testkit.ports import free_ports

from onlooker_client.agent.options import AgentOptions
from onlooker_client.command import exit_codes
from onlooker_client.errors import ConfigError, SourceError


def test_no_password_reaches_a_log(product: Stack, stream: TestStream, passing: str) -> None:
    with running_agent(AgentOptions(passing), lambda: config_of(product, stream)) as run:
        run.await_answers(5)
    assert stream.access_token not in run.out.getvalue()


def test_wrong_credentials_at_the_start_end_it(product: Stack, stream: TestStream, passing: str) -> None:
    wrong = replace(config_of(product, stream), access_token="wrong" * 8)
    with running_agent(AgentOptions(passing), lambda: wrong) as run:
        assert run.ended.wait(10)
    assert isinstance(run.error, ConfigError)
    assert "onlooker-agent setup" in str(run.error)


def test_a_server_that_is_not_there_yet_is_waited_for(product: Stack, stream: TestStream, passing: str) -> None:
    (port,) = free_ports(1)
    config = config_of(product, stream, url=f"https://localhost:{port}")
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config) as run:
        said = run.await_event("offline")
        assert "keeps trying" in said["message"]
        await_true(lambda: run.counts.dropped.get("unreachable", 0) >= 10, 10, "frames are dropped")
        with running_proxy(int(product.setting("https_port")), port=port):
            run.await_answers(5)
            run.agent.stop()
            run.ended.wait(10)
    assert run.exit_code == exit_codes.OK
    assert run.counts.adds_up


def test_a_wrong_path_is_said_at_once(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match="does not exist"),
        running_agent(AgentOptions(str(tmp_path / "no.mp4")), lambda: config_of(product, stream)),
    ):
        pass


def test_frames_from_another_century_are_refused_by_the_server_and_said(
    product: Stack, stream: TestStream, passing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device without a battery for its clock begins in 1970; time.time can't be set here, so it is replaced."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 40 * 365 * 86400)
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config_of(product, stream)) as run:
        said = run.await_event("computation_failed")
        assert "bad_timestamp" in said["message"]
        assert run.agent.health()["state"] == "degraded"
        monkeypatch.undo()
        run.await_answers(5)
    assert run.counts.dropped["computation_failed"] >= 1
    assert run.counts.adds_up
