"""Supplement, streaming variant: opening a stream of frames and sending its input."""

import json
import time

import httpx2

from feed_client import INPUT_TYPE, live_output, open_feed
from onlooker.settings import Settings
from testkit import Stack, TestStream
from testkit.stopwatch import Stopwatch
from wire import raw_exchange


def test_idle_limit_of_60_seconds_ends_input_and_output(
    stack: Stack, stream: TestStream, client: httpx2.Client
) -> None:
    """Idle limit 60 s (here 5 s)."""
    assert Settings().feed_idle_s == 60
    feed = open_feed(client)
    path = feed["input"].removeprefix(stack.url)
    head = f"POST {path} HTTP/1.1\r\nContent-Type: {INPUT_TYPE}\r\nContent-Length: 100000"
    started, watch = time.monotonic(), Stopwatch()
    with live_output(client, open_feed(client)["output"], silence_limit_s=9) as results:
        status, body = raw_exchange(stack, stream, head, [b"--myboundary\r\n"])
        assert (status, json.loads(body)["code"]) == (408, "request_timeout")
        assert results.rest() == b"--myboundary--\r\n"
    assert time.monotonic() - started >= 5
    assert watch.elapsed_s < 8
