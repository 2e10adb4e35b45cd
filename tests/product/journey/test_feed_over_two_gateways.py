"""A camera and a reader on different gateways, as behind a load balancer."""

import httpx2
import pytest

from clients import client_of
from feed_client import CLOSING, exchange, live_input, live_output, open_feed, part, results_of
from testkit import Stack, TestStream
from wire import dummy, finished, new_state, store_blob

pytest_plugins = ["stacks"]


def at(gateway: str, url: str, stack: Stack) -> str:
    """The same path at another gateway."""
    return url.replace(stack.url, gateway)


@pytest.mark.parametrize("input_first", [True, False])
def test_input_and_output_may_reach_different_gateways(
    stack: Stack, stream: TestStream, second_gateway: str, input_first: bool
) -> None:
    """`input` and `output` may reach different gateways: either may be the one that opened the stream."""
    with client_of(stack, stream) as first, httpx2.Client(base_url=second_gateway, auth=stream.auth) as second:
        feed = open_feed(first, state=new_state())
        there = {name: at(second_gateway, feed[name], stack) for name in ("input", "output")}
        sender, reader = (first, second) if input_first else (second, first)
        urls = {"input": feed["input"], "output": there["output"]}
        if not input_first:
            urls = {"input": there["input"], "output": feed["output"]}
        answer, output = exchange(sender, urls, [part()] * 5, output=reader)
    assert (answer.status_code, answer.json()["frames"]) == (200, 5)
    assert [result["calls"] for result in results_of(output)] == [1, 2, 3, 4, 5]


def test_results_cross_gateways_while_the_input_goes_on(stack: Stack, stream: TestStream, second_gateway: str) -> None:
    """`input` and `output` may reach different gateways: and each result goes over at once."""
    with client_of(stack, stream) as first, httpx2.Client(base_url=second_gateway, auth=stream.auth) as second:
        feed = open_feed(first)
        output = at(second_gateway, feed["output"], stack)
        with live_input(first, feed["input"]) as frames, live_output(second, output) as results:
            frames.write(part(params={"echo": "early"}) + part())
            assert results.next_result()["echo"] == "early"
            assert not frames.answer.done()
            frames.write(CLOSING)
            frames.end()
            assert results.next_result()["echo"] == "echo"
            assert results.rest() == b"--myboundary--\r\n"


def test_jobs_blobs_and_sessions_are_the_same_at_every_gateway(
    stack: Stack, stream: TestStream, second_gateway: str
) -> None:
    """Whatever one gateway answered can be read, used and gone on with at another, from that moment on."""
    state = new_state()
    with client_of(stack, stream) as first, httpx2.Client(base_url=second_gateway, auth=stream.auth) as second:
        job = dummy(first, state=state).json()
        assert second.get(at(second_gateway, job["url"], stack)).json() == job
        assert dummy(second, state=state).json()["calls"] == 2
        blob = store_blob(first, b"shared").json()["url"]
        assert second.post("/services/measure/1/jobs", json={"image": blob, "async": False}).json()["size"] == 6
        accepted = second.post("/services/dummy/1/jobs", json={"echo": "later"}).json()
        assert accepted["url"].startswith(stack.url)
        assert finished(first, accepted["url"]).json()["echo"] == "later"
        session = f"/services/dummy/1/sessions/{state['session_id']}"
        assert second.delete(session).status_code == 204
        assert dummy(first, state=state).json()["calls"] == 1
