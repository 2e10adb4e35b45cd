"""The whole agent against the real product, which refuses its frames for a while: switched off, Password, hours."""

import time
from dataclasses import replace

import pytest
from agent_thread import await_true, config_of, running_agent
from onlooker.streams.credentials import hash_access_token, new_access_token
from testkit import Stack

from onlooker_client.agent import agent, hours_watch
from onlooker_client.agent.options import AgentOptions
from onlooker_client.command import exit_codes

CLOSE = """UPDATE streams_stream SET hours_since = now() - interval '1 day',
           hours = (ARRAY['mo','tu','we','th','fr','sa','su'])[extract(isodow FROM now() - interval '2 days')]
                   || ' 10:00-11:00' WHERE id = %s"""
"""Open for an hour of the day before yesterday, in UTC."""


def test_a_stream_that_is_switched_on_and_a_password_that_is_changed_are_taken_up(
    product: Stack, passing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "LOOK_AGAIN_S", 0.5)
    stream = product.create_stream(enabled=False)
    config = config_of(product, stream)
    with running_agent(AgentOptions(passing, is_looped=True), lambda: config) as run:
        said = run.await_event("refused")
        assert "switched off" in said["message"]
        await_true(lambda: run.counts.dropped.get("stream_disabled", 0) > 10, 10, "frames are dropped")
        assert len(run.events("refused")) == 1
        assert run.agent.health()["state"] == "refused"
        product.execute("UPDATE streams_stream SET enabled = true WHERE id = %s", stream.id)
        time.sleep(0.6)  # the gateway's cache
        run.agent.try_again()
        run.await_answers(3)
        run.await_event("back")

        token = new_access_token()
        change = "UPDATE streams_accesstoken SET sha256 = %s WHERE stream_id = %s"
        product.execute(change, hash_access_token(token), stream.id)
        said = run.await_event("refused", times=2)
        assert "onlooker-agent setup" in said["message"]
        config = replace(config, access_token=token)
        run.await_event("credentials")
        run.await_answers(3)
        run.await_event("back", times=2)
    assert run.exit_code == exit_codes.OK
    assert run.counts.adds_up
    assert run.counts.dropped["bad_credentials"] >= 1
    assert token not in run.out.getvalue()


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
    monkeypatch.setattr(hours_watch, "ASK_SOON_S", 0.2)
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
