"""The whole agent against the real product: a video as its camera, answers, refusals, a clean end."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from agent_thread import await_true, config_of, running_agent
from bench.chaos.proxy import Weather, running_proxy
from onlooker.streams.credentials import hash_access_token, new_access_token
from testkit import Stack, TestStream
from testkit.ports import free_ports

from onlooker_client.agent import hours_watch
from onlooker_client.agent.options import AgentOptions
from onlooker_client.command import exit_codes
from onlooker_client.errors import ConfigError, SourceError

ROOT = Path(__file__).resolve().parents[2]
CLOSE = """UPDATE streams_stream SET hours_since = now() - interval '1 day',
           hours = (ARRAY['mo','tu','we','th','fr','sa','su'])[extract(isodow FROM now() - interval '2 days')]
                   || ' 10:00-11:00' WHERE id = %s"""
"""Open for an hour of the day before yesterday, in UTC."""


@pytest.fixture(scope="session")
def passing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ten seconds of somebody who comes, looks and goes."""
    path = tmp_path_factory.mktemp("clips") / "passing.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(path)], check=True)
    return str(path)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nobody, and nothing moves."""
    path = tmp_path_factory.mktemp("clips") / "empty.mp4"
    drawing = ["-f", "lavfi", "-i", "color=c=gray:s=640x480:r=10:d=30", "-c:v", "mpeg4", str(path)]
    subprocess.run(["ffmpeg", "-loglevel", "error", *drawing], check=True)
    return str(path)


@pytest.mark.alone
def test_a_video_is_sent_whole_and_its_person_becomes_a_visit(product: Stack, stream: TestStream, passing: str) -> None:
    with running_agent(AgentOptions(passing), lambda: config_of(product, stream)) as run:
        assert run.ended.wait(25)
    assert run.exit_code == exit_codes.OK
    counts = run.counts
    assert counts.adds_up
    assert counts.grabbed == 100
    assert counts.answered + counts.idle >= 90
    # The session was ended, so the visit is there at once and not after a minute.
    visits = "SELECT count(*) FROM visits_visit WHERE stream_id = %s"
    await_true(lambda: product.execute(visits, stream.id)[0][0] == 1, 10, "the visit")
    assert run.events("stop")[0]["counts"]["adds_up"]


def test_an_empty_scene_is_sent_once_a_second(product: Stack, stream: TestStream, empty: str) -> None:
    with running_agent(AgentOptions(empty), lambda: config_of(product, stream)) as run:
        run.await_answers(1)
        time.sleep(2.2)  # what began with the first picture has calmed down
        before = run.counts
        time.sleep(2.5)
        after = run.counts
    assert 2 <= after.answered - before.answered <= 4
    assert after.idle - before.idle >= 18
    assert run.counts.adds_up


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


def test_a_password_that_is_changed_while_it_runs_is_taken_up(product: Stack, stream: TestStream, passing: str) -> None:
    config = config_of(product, stream)
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config) as run:
        run.await_answers(3)
        token = new_access_token()
        change = "UPDATE streams_accesstoken SET sha256 = %s WHERE stream_id = %s"
        product.execute(change, hash_access_token(token), stream.id)
        said = run.await_event("refused")
        assert "onlooker-agent setup" in said["message"]
        config = replace(config, access_token=token)
        run.await_event("credentials")
        run.await_answers(3)
        run.await_event("back")
    assert run.exit_code == exit_codes.OK
    assert run.counts.adds_up
    assert run.counts.dropped["bad_credentials"] >= 10


def test_a_stream_that_is_switched_off_is_said_once_and_asked_for(product: Stack, passing: str) -> None:
    stream = product.create_stream(enabled=False)
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config_of(product, stream)) as run:
        said = run.await_event("refused")
        assert "switched off" in said["message"]
        await_true(lambda: run.counts.dropped.get("stream_disabled", 0) > 20, 10, "frames are dropped")
        assert len(run.events("refused")) == 1
        assert run.agent.health()["state"] == "refused"
        product.execute("UPDATE streams_stream SET enabled = true WHERE id = %s", stream.id)
        run.agent.try_again()
        run.await_answers(3)
    assert run.exit_code == exit_codes.OK
    assert run.counts.adds_up


def test_a_closed_stream_is_sent_nothing(product: Stack, passing: str) -> None:
    stream = product.create_stream()
    product.execute(CLOSE, stream.id)
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config_of(product, stream)) as run:
        said = run.await_event("closed")
        assert "no frame is sent or computed" in said["message"]
        await_true(lambda: run.counts.dropped.get("closed", 0) > 20, 10, "frames are dropped")
        assert run.agent.health()["state"] == "closed"
        assert run.counts.sent_bytes == run.counts.answered == 0
    assert run.counts.adds_up


def test_an_agent_that_does_not_know_the_hours_is_refused_and_learns_them(
    product: Stack, passing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hours_watch, "ASK_SOON_S", 1.0)
    stream = product.create_stream()
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config_of(product, stream)) as run:
        run.await_answers(3)
        product.execute(CLOSE, stream.id)
        said = run.await_event("refused")
        assert "The stream is closed until" in said["message"]
        said = run.await_event("closed")
        assert "no frame is sent or computed" in said["message"], "it knows by itself now"
        assert run.agent.health()["state"] == "closed"
        time.sleep(1.0)  # what was on its way has come back
        before = run.counts
        await_true(lambda: run.counts.dropped["closed"] > before.dropped["closed"] + 20, 10, "frames are dropped")
        assert run.counts.sent_bytes == before.sent_bytes, "and asks nobody"
    assert run.counts.adds_up


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


def test_a_broken_link_is_survived_and_the_agent_fresh_at_once(
    product: Stack, stream: TestStream, passing: str
) -> None:
    with running_proxy(int(product.setting("https_port"))) as proxy:
        config = config_of(product, stream, url=f"https://localhost:{proxy.port}")
        with running_agent(AgentOptions(passing, is_looped=True), lambda: config) as run:
            run.await_answers(3)
            for weather in (Weather.CUT, Weather.LOST):
                proxy.set_weather(weather)
                time.sleep(2.0)
                proxy.set_weather(Weather.CALM)
                time.sleep(1.2)
                assert run.agent.health()["newest_answered_frame_age_s"] < 2.0
            run.await_answers(3)
    assert run.counts.adds_up
    assert run.counts.dropped["overtaken"] >= 1


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
