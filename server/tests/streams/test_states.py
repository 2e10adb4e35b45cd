"""The log of what a stream might do: enabled, disabled by its owner, or at its quota."""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx2

from clients import client_of
from coverage_frames import QUOTA_S, run_cli, states_of, watch
from onlooker.database import open_pool
from onlooker.settings import Settings
from onlooker.streams.state import StateLog
from testkit import Stack
from wire import wait_for

pytest_plugins = ["stacks"]
USE = """INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), %s)
         ON CONFLICT (stream_id, month) DO UPDATE SET video_s = excluded.video_s"""
FORGET = "DELETE FROM streams_usage WHERE stream_id = %s"


def await_states(stack: Stack, stream_id: int, expected: list[str]) -> None:
    wait_for(lambda: states_of(stack, stream_id), lambda found: found == expected, limit_s=6)


def test_the_command_line_logs_what_really_changes(watched_stack: Stack) -> None:
    made = json.loads(run_cli(watched_stack, "stream", "create", "door", "--json"))
    find = "SELECT id FROM streams_stream WHERE client_id = %s"
    stream_id = watched_stack.execute(find, made["client_id"])[0][0]
    assert states_of(watched_stack, stream_id) == ["enabled"]
    for options in (["--enabled"], ["--disabled"], ["--disabled", "--no-age"], ["--name", "gate"], ["--enabled"]):
        run_cli(watched_stack, "stream", "set", made["client_id"], *options)
    assert states_of(watched_stack, stream_id) == ["enabled", "disabled", "enabled"]


def test_a_change_and_its_entry_are_one_transaction(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    run_cli(watched_stack, "stream", "set", stream.client_id, "--disabled")
    query = """SELECT change.xmin = stream.xmin FROM streams_statechange change
               JOIN streams_stream stream ON stream.id = change.stream_id WHERE stream.id = %s"""
    assert watched_stack.execute(query, stream.id) == [(True,)]


def test_reaching_the_quota_is_logged_once_over_two_gateways(
    watched_stack: Stack, another_gateway: Callable[[], AbstractContextManager[str]]
) -> None:
    stream = watched_stack.create_stream(kind="developer")
    with (
        another_gateway() as url,
        client_of(watched_stack, stream) as first,
        httpx2.Client(base_url=url, auth=stream.auth) as second,
    ):
        watch(first)
        await_states(watched_stack, stream.id, ["enabled"])
        watched_stack.execute(USE, stream.id, QUOTA_S)
        stop_at = time.monotonic() + 5
        while time.monotonic() < stop_at:
            assert {watch(first).status_code, watch(second).status_code} <= {201, 403}
            time.sleep(0.1)
    assert states_of(watched_stack, stream.id) == ["enabled", "quota"]


def test_a_stream_that_uses_up_its_month_by_frames_is_logged(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer")
    with client_of(watched_stack, stream) as client:
        statuses = [watch(client).status_code for _ in range(62)]
        assert statuses == [201] * 60 + [403] * 2
        wait_for(lambda: states_of(watched_stack, stream.id)[-1:], lambda found: found == ["quota"], limit_s=6)


def test_a_new_month_is_logged_when_the_stream_computes_again(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer")
    watched_stack.execute(USE, stream.id, QUOTA_S)
    with client_of(watched_stack, stream) as client:
        assert watch(client).status_code == 403
        await_states(watched_stack, stream.id, ["quota"])
        watched_stack.execute(FORGET, stream.id)
        time.sleep(3)
        assert states_of(watched_stack, stream.id) == ["quota"]
        wait_for(lambda: watch(client).status_code, lambda status: status == 201, limit_s=3)
        await_states(watched_stack, stream.id, ["quota", "enabled"])


def test_an_upgrade_is_logged_at_once(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer")
    watched_stack.execute(USE, stream.id, QUOTA_S)
    with client_of(watched_stack, stream) as client:
        assert watch(client).status_code == 403
        await_states(watched_stack, stream.id, ["quota"])
        run_cli(watched_stack, "stream", "set", stream.client_id, "--kind", "enterprise")
        assert states_of(watched_stack, stream.id) == ["quota", "enabled"]
        for _ in range(10):
            watch(client)
        time.sleep(3)
        assert states_of(watched_stack, stream.id) == ["quota", "enabled"]


def test_a_stream_at_its_quota_that_is_switched_on_again_is_at_its_quota(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer")
    watched_stack.execute(USE, stream.id, QUOTA_S)
    for option in ("--disabled", "--enabled"):
        run_cli(watched_stack, "stream", "set", stream.client_id, option)
    assert states_of(watched_stack, stream.id) == ["disabled", "quota"]


def test_streams_of_a_disabled_account_refuse_frames_until_it_is_enabled(watched_stack: Stack) -> None:
    made = json.loads(
        run_cli(
            watched_stack, "stream", "create", "door", "--json", "--owner", "gone@example.org", "--kind", "enterprise"
        )
    )
    find = "SELECT id FROM streams_stream WHERE client_id = %s"
    stream_id = watched_stack.execute(find, made["client_id"])[0][0]
    auth = (made["client_id"], made["access_token"])
    with httpx2.Client(base_url=watched_stack.url, auth=auth, verify=False) as client:
        assert watch(client).status_code == 201
        run_cli(watched_stack, "account", "set", "gone@example.org", "--inactive")
        assert states_of(watched_stack, stream_id) == ["enabled", "disabled"]
        wait_for(lambda: watch(client).status_code, lambda status: status == 403, limit_s=5)
        assert watch(client).json()["code"] == "stream_disabled"
        run_cli(watched_stack, "account", "set", "gone@example.org", "--active")
        wait_for(lambda: watch(client).status_code, lambda status: status == 201, limit_s=5)
    assert states_of(watched_stack, stream_id) == ["enabled", "disabled", "enabled"]


def test_many_gateways_at_once_write_one_entry(watched_stack: Stack) -> None:
    streams = [watched_stack.create_stream(kind="developer") for _ in range(5)]
    for stream in streams:
        watched_stack.execute(USE, stream.id, QUOTA_S)

    async def run() -> None:
        async with open_pool(Settings(database_url=watched_stack.setting("database_url"))) as pool:
            logs = [StateLog(pool, quota_s=QUOTA_S) for _ in range(6)]
            for log in logs:
                for stream in streams:
                    log.look_at(stream.id)
            await asyncio.gather(*(log.flush() for log in logs))

    asyncio.run(run())
    assert [states_of(watched_stack, stream.id) for stream in streams] == [["quota"]] * 5
