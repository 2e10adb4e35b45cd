"""What a worker is told of the stream that sent a frame, and of when it came."""

import json
import time

import httpx2
import pytest

from clients import client_of
from coverage_frames import run_cli, watch
from feed_client import exchange, open_feed, part, results_of
from testkit import Stack, TestStream
from wire import finished, paused, wait_for

pytest_plugins = ["stacks"]
READS = {"reads_age": True, "reads_gender": True, "reads_expression": True, "reads_faces": True}
DEFAULTS = READS | {"retention_days": 365, "time_zone": "UTC"}


def test_a_worker_is_told_what_is_read_and_how_long_visits_are_kept(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        assert watch(client).json()["sender"] == DEFAULTS | {"stream_id": stream.id}


def test_a_stream_made_on_the_command_line_reads_no_expression(watched_stack: Stack) -> None:
    said = json.loads(run_cli(watched_stack, "stream", "create", "Front door", "--json"))
    stream = TestStream(0, said["client_id"], said["access_token"])
    with client_of(watched_stack, stream) as client:
        told = watch(client).json()["sender"]
    assert (told["reads_age"], told["reads_gender"], told["reads_expression"]) == (True, True, False)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (("--no-age",), {"reads_age": False}),
        (("--no-gender", "--no-expression"), {"reads_gender": False, "reads_expression": False}),
        (("--retention-days", "3650"), {"retention_days": 3650}),
        (("--time-zone", "Asia/Kathmandu"), {"time_zone": "Asia/Kathmandu"}),
    ],
)
def test_a_streams_switches_reach_the_worker(
    watched_stack: Stack, option: tuple[str, ...], expected: dict[str, object]
) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        watch(client)
        run_cli(watched_stack, "stream", "set", stream.client_id, *option)
        told = DEFAULTS | expected | {"stream_id": stream.id}
        wait_for(lambda: watch(client).json()["sender"], lambda sender: sender == told, limit_s=3)
        _, output = exchange(client, open_feed(client, "watch"), [part()])
        assert results_of(output)[0]["sender"] == told
        assert finished(client, watch(client, **{"async": True}).json()["url"]).json()["sender"] == told


@pytest.mark.alone
def test_a_switch_that_is_flipped_while_an_accepted_frame_waits_counts(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        with paused(watched_stack, "dispatcher"):
            url = watch(client, **{"async": True}).json()["url"]
            run_cli(watched_stack, "stream", "set", stream.client_id, "--no-age", "--retention-days", "7")
        told = finished(client, url).json()["sender"]
    assert (told["reads_age"], told["retention_days"]) == (False, 7)


def test_a_frame_arrived_when_its_request_did(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()

    def arrived_after(client: httpx2.Client, started: float) -> None:
        assert started <= watch(client).json()["arrived_at"] <= time.time()

    with client_of(watched_stack, stream) as client:
        arrived_after(client, time.time())
        with paused(watched_stack, "dispatcher"):
            url = watch(client, **{"async": True}).json()["url"]
            accepted = time.time()
            time.sleep(0.5)
        assert finished(client, url).json()["arrived_at"] <= accepted + 0.05


@pytest.mark.parametrize("days", ["0", "3651", "-1", "many"])
def test_a_retention_out_of_range_is_refused_with_the_range(watched_stack: Stack, days: str) -> None:
    stream = watched_stack.create_stream()
    with pytest.raises(AssertionError, match="--retention-days"):
        run_cli(watched_stack, "stream", "set", stream.client_id, "--retention-days", days)


def test_the_list_of_streams_shows_what_each_reads_and_keeps(watched_stack: Stack) -> None:
    all_of_it, nothing = watched_stack.create_stream(), watched_stack.create_stream()
    options = ("--no-age", "--no-gender", "--no-expression", "--retention-days", "30")
    run_cli(watched_stack, "stream", "set", nothing.client_id, *options)
    lines = {line.split()[1]: line.split() for line in run_cli(watched_stack, "stream", "list").splitlines()}
    assert lines["client_id"][4:6] == ["days", "reads"]
    assert lines[all_of_it.client_id][4:6] == ["365", "age,gender,expression"]
    assert lines[nothing.client_id][4:6] == ["30", "nothing"]
