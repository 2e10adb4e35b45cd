"""Supplement, streaming variant: the output, byte for byte as the historic client parses it."""

import re

import httpx2

from clients import client_of
from feed_client import CLOSING, exchange, live_input, live_output, open_feed, part, results_of, send
from testkit import Stack
from wire import assert_problem, measure


def test_output_is_one_long_get_with_exactly_this_content_type(client: httpx2.Client) -> None:
    """`output` is one long GET: `multipart/x-mixed-replace; boundary=myboundary; charset=utf-8`."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames, client.stream("GET", feed["output"]) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "multipart/x-mixed-replace; boundary=myboundary; charset=utf-8"
        frames.write(CLOSING)
        frames.end()
        answer.read()


def test_output_is_never_compressed(client: httpx2.Client) -> None:
    """... never compressed: whatever the client would accept."""
    feed = open_feed(client)
    with (
        live_input(client, feed["input"]) as frames,
        client.stream("GET", feed["output"], headers={"Accept-Encoding": "gzip, deflate, br, zstd"}) as answer,
    ):
        assert "content-encoding" not in answer.headers
        frames.write(part(params={"echo": "x" * 5000}) + CLOSING)
        frames.end()
        assert b"x" * 5000 in b"".join(answer.iter_raw())


def test_each_part_of_the_output_is_json_with_its_length(client: httpx2.Client) -> None:
    """Each part `Content-Type: application/json`, `Content-Length: N` (spelled so), ASCII-only JSON; ..."""
    parts = [part(params={"echo": "one"}), part(params={"echo": "two"})]
    _, output = exchange(client, open_feed(client), parts)
    expected = b"".join(
        b"--myboundary\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n" + body + b"\r\n"
        for body in (b'{"echo": "one"}', b'{"echo": "two"}')
    )
    assert output == expected + b"--myboundary--\r\n"


def test_the_historic_clients_parser_reads_every_part(client: httpx2.Client) -> None:
    """The historic client parses exactly this: it searches the boundary, an empty line and `Content-Length: (\\w+)`."""
    texts = ["one", "", "\r\n--myboundary\r\n", "é"]
    parts = [part(params={"echo": text}) for text in texts]
    _, output = exchange(client, open_feed(client), parts)
    found, data = [], output.decode("ascii")
    while (start := data.find("--myboundary\r\n")) != -1:
        end = data.find("\r\n\r\n", start) + 4
        header = re.search(r"Content-Length: (\w+)\r\n", data[start:end])
        assert header
        stop = end + int(header[1])
        found.append(data[end:stop])
        data = data[stop + 2 :]
    assert len(found) == len(texts)
    assert [result["echo"] for result in results_of(output)] == texts


def test_the_json_of_the_output_is_ascii_only(client: httpx2.Client) -> None:
    """ASCII-only JSON: the length in bytes is the length in characters."""
    text = "é ü 日本 \U0001f600 \u2028"
    feed = open_feed(client, echo=text)
    _, output = exchange(client, feed, [part(), part(params={"echo": text})])
    assert output.isascii()
    assert [result["echo"] for result in results_of(output)] == [text, text]


def test_the_output_closes_when_the_input_ends(client: httpx2.Client) -> None:
    """The closing boundary when the input ends: also when it had no part at all."""
    _, output = exchange(client, open_feed(client), [part()])
    assert output.endswith(b"\r\n--myboundary--\r\n")
    feed = open_feed(client)
    with live_output(client, feed["output"]) as results:
        assert send(client, feed["input"], [CLOSING]).status_code == 200
        assert results.rest() == b"--myboundary--\r\n"


def test_the_input_ends_with_its_closing_boundary(client: httpx2.Client) -> None:
    """The closing boundary when the input ends: its own closing boundary ends it, its connection may stay open."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames, live_output(client, feed["output"]) as results:
        frames.write(part() + CLOSING)
        assert results.next_result()["echo"] == "echo"
        assert results.rest() == b"--myboundary--\r\n"


def test_a_result_goes_out_before_the_input_ends(client: httpx2.Client) -> None:
    """`output` is one long GET: it is not held back until the end."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames, live_output(client, feed["output"]) as results:
        frames.write(part(params={"echo": "early"}) + part())
        assert results.next_result()["echo"] == "early"
        assert not frames.answer.done()
        frames.write(CLOSING)
        frames.end()
        assert results.next_result()["echo"] == "echo"
        assert results.rest() == b"--myboundary--\r\n"
    assert frames.answer.result().status_code == 200


def test_a_proxy_is_told_not_to_buffer_the_output(client: httpx2.Client) -> None:
    """A proxy in front must not buffer these paths."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames, client.stream("GET", feed["output"]) as answer:
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-store"
        frames.write(CLOSING)
        frames.end()
        answer.read()


def test_the_output_may_be_asked_for_after_the_input(client: httpx2.Client) -> None:
    """`input` and `output` are two requests: frames wait for a reader of their results."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames:
        frames.write(part(params={"echo": "waits"}) + part() + CLOSING)
        frames.end()
        with live_output(client, feed["output"]) as results:
            assert results.next_result()["echo"] == "waits"
            assert results.next_result()["echo"] == "echo"
            assert results.rest() == b"--myboundary--\r\n"


def test_a_computation_that_fails_is_a_result_with_an_error(client: httpx2.Client) -> None:
    """A computation that fails is not an HTTP error: the output has its `error` and `error_code`, and goes on."""
    parts = [part(params={"fail": True}), part(params={"sleep_s": 0.001})]
    answer, output = exchange(client, open_feed(client, "trouble"), parts)
    failed, done = results_of(output)
    assert (answer.status_code, failed["error_code"], failed["error"]) == (200, "told_to_fail", "It was told to fail.")
    assert "error" not in done


def test_a_stream_of_frames_is_not_found_under_another_service_or_stream(stack: Stack, client: httpx2.Client) -> None:
    """unknown ..., or one that belongs to another stream | 404 | `not_found`."""
    feed = open_feed(client)
    assert_problem(client.get(feed["url"].replace("/dummy/", "/measure/")), 404, "not_found")
    assert_problem(client.get(feed["output"].replace("/dummy/", "/measure/")), 404, "not_found")
    with client_of(stack, stack.create_stream()) as other:
        assert measure(other).status_code == 201
        assert_problem(other.get(feed["output"]), 404, "not_found")
        assert_problem(send(other, feed["input"], [part(), CLOSING]), 404, "not_found")
