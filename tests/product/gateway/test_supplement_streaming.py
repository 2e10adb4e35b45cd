"""Supplement, streaming variant: opening a stream of frames and sending its input."""

import hashlib
import json
import socket
import time
import uuid
from collections.abc import Iterator

import httpx2
import pytest

from feed_client import CLOSING, INPUT_TYPE, exchange, live_input, live_output, open_feed, part, results_of, send
from testkit import Stack, TestStream
from wire import assert_problem, basic, dummy, new_state

LIMIT_BYTES = 10 * 1024**2


def test_post_of_streams_returns_201_with_its_members(stack: Stack, client: httpx2.Client) -> None:
    """`POST .../<version>/streams` ... returns 201 with `url`, `uuid`, `status`, `input` and `output` URLs."""
    answer = client.post("/services/dummy/1/streams", json={"echo": "x", "state": new_state()})
    body = answer.json()
    url = f"{stack.url}/services/dummy/1/streams/{uuid.UUID(body['uuid'])}"
    assert body == {"url": url, "uuid": body["uuid"], "status": 201, "input": f"{url}/input", "output": f"{url}/output"}
    assert answer.status_code == 201
    assert answer.headers["location"] == url
    assert client.get(url).json() == body | {"status": 200}


@pytest.mark.parametrize("fields", [{"echo": 7}, {"state": {"session_id": "me"}}, {"state": 7}])
def test_post_of_streams_checks_its_fields_as_jobs_do(client: httpx2.Client, fields: dict[str, object]) -> None:
    """... with a JSON body (service fields, `state` as in jobs)."""
    assert_problem(client.post("/services/dummy/1/streams", json=fields), 400, "bad_request")


def test_fields_of_the_stream_hold_for_all_its_frames(client: httpx2.Client) -> None:
    """... with a JSON body (service fields ...); `X-Angus-Parameters` of a part goes before them."""
    feed = open_feed(client, echo="body")
    parts = [part(), part(params={"echo": "part"}), part()]
    answer, output = exchange(client, feed, parts)
    assert answer.status_code == 200
    assert [result["echo"] for result in results_of(output)] == ["body", "part", "body"]


def test_state_of_the_stream_is_the_session_of_its_frames(client: httpx2.Client) -> None:
    """... `state` as in jobs: frames and jobs with one session id share one session."""
    state = new_state()
    _, output = exchange(client, open_feed(client, state=state), [part()] * 3)
    assert [result["calls"] for result in results_of(output)] == [1, 2, 3]
    assert dummy(client, state=state).json()["calls"] == 4


def test_input_takes_parts_whose_field_and_bytes_reach_the_computation(client: httpx2.Client) -> None:
    """Parts carry `Content-Length`, `X-Angus-DataField` and `X-Angus-Parameters` headers."""
    frames = [b"", b"one", bytes(range(256)) * 300, b"\r\n--myboundary\r\nnot a boundary, by its length\r\n"[:2]]
    answer, output = exchange(client, open_feed(client, "measure"), [part(frame) for frame in frames])
    assert answer.status_code == 200
    hashes = [hashlib.sha256(frame).hexdigest() for frame in frames]
    assert [result["sha256"] for result in results_of(output)] == hashes


def test_results_come_in_the_order_of_the_frames(client: httpx2.Client) -> None:
    """`input` takes one long POST: nothing is re-ordered."""
    feed = open_feed(client, "trouble")
    parts = [part(params={"sleep_s": 0.001 * (20 - number), "fail": number % 5 == 4}) for number in range(20)]
    _, output = exchange(client, feed, parts)
    assert [result.get("error_code") for result in results_of(output)] == ([None] * 4 + ["told_to_fail"]) * 4


def test_input_arrives_in_any_pieces(client: httpx2.Client) -> None:
    """`input` takes one long POST: where the network cuts it must not matter."""
    whole = part(b"first") + part(b"second frame") + CLOSING
    feed = open_feed(client, "measure")
    with live_output(client, feed["output"]) as results:
        answer = send(client, feed["input"], [whole[start : start + 7] for start in range(0, len(whole), 7)])
        assert [results.next_result()["size"] for _ in range(2)] == [5, 12]
    assert answer.status_code == 200, answer.text


def test_a_line_break_after_the_closing_boundary_is_no_error(client: httpx2.Client) -> None:
    """`input` takes one long `multipart/x-mixed-replace` POST: its last line may end as lines do, a moment later."""

    def pieces() -> Iterator[bytes]:
        yield part() + CLOSING
        time.sleep(0.1)
        yield b"\r\n"

    feed = open_feed(client)
    with live_output(client, feed["output"]) as results:
        answer = send(client, feed["input"], pieces())
        assert results.next_result()["echo"] == "echo"
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("boundary", ["myboundary", '"myboundary"', "myboundary; charset=utf-8"])
def test_input_reads_the_boundary_from_the_content_type(client: httpx2.Client, boundary: str) -> None:
    """`input` takes one long `multipart/x-mixed-replace` POST."""
    feed = open_feed(client)
    with live_output(client, feed["output"]) as results:
        headers = {"Content-Type": f"multipart/x-mixed-replace; boundary={boundary}"}
        answer = client.post(feed["input"], content=part() + CLOSING, headers=headers)
        assert results.next_result()["echo"] == "echo"
    assert answer.status_code == 200


def test_a_part_is_computed_as_soon_as_its_content_length_has_arrived(client: httpx2.Client) -> None:
    """Parts carry `Content-Length`: the historic client sends the next boundary only with the next frame."""
    feed = open_feed(client)
    with live_input(client, feed["input"]) as frames, live_output(client, feed["output"]) as results:
        for echo in ("first", "second"):
            frames.write(part(params={"echo": echo}))
            assert results.next_result()["echo"] == echo
        frames.write(CLOSING)
        frames.end()
        assert results.rest() == b"--myboundary--\r\n"


def test_a_part_without_a_data_field_is_400(client: httpx2.Client) -> None:
    """Parts carry ... `X-Angus-DataField`: without it nobody knows what the bytes are for."""
    answer = send(client, open_feed(client, "measure")["input"], [part(field=None), CLOSING])
    assert_problem(answer, 400, "bad_request")


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_parameters_that_are_no_json_object_are_400(client: httpx2.Client, text: str) -> None:
    """`X-Angus-Parameters` (JSON ...)."""
    answer = send(client, open_feed(client)["input"], [part(params=text), CLOSING])
    assert_problem(answer, 400, "bad_request")


def _parameters_of(size_bytes: int) -> str:
    empty = json.dumps({"echo": ""})
    return json.dumps({"echo": "x" * (size_bytes - len(empty))})


def test_parameters_may_have_16_kilobytes(client: httpx2.Client) -> None:
    """`X-Angus-Parameters` (JSON, at most 16 KB)."""
    text = _parameters_of(16 * 1024)
    answer, output = exchange(client, open_feed(client), [part(params=text)])
    assert answer.status_code == 200
    assert results_of(output) == [json.loads(text)]


@pytest.mark.parametrize("excess", [1, 100, 100_000])
def test_parameters_over_16_kilobytes_are_refused(client: httpx2.Client, excess: int) -> None:
    """`X-Angus-Parameters` (JSON, at most 16 KB)."""
    text = _parameters_of(16 * 1024 + excess)
    answer, output = exchange(client, open_feed(client), [part(params=text)])
    assert answer.status_code in (400, 413)
    assert results_of(output) == []


def test_the_size_limit_holds_per_part_and_not_for_the_whole_input(client: httpx2.Client) -> None:
    """The size limit holds per part."""
    frame = b"x" * (4 * 1024**2)
    answer, output = exchange(client, open_feed(client, "measure"), [part(frame)] * 4)
    assert answer.status_code == 200
    assert [result["size"] for result in results_of(output)] == [len(frame)] * 4


def test_a_part_of_exactly_the_size_limit_is_taken(client: httpx2.Client) -> None:
    """The size limit holds per part."""
    answer, output = exchange(client, open_feed(client, "measure"), [part(b"x" * LIMIT_BYTES)])
    assert answer.status_code == 200
    assert results_of(output)[0]["size"] == LIMIT_BYTES


def test_a_part_over_the_size_limit_is_413_too_large(client: httpx2.Client) -> None:
    """The size limit holds per part: body over the size limit | 413 | `too_large`."""
    answer, output = exchange(client, open_feed(client, "measure"), [part(b"x" * (LIMIT_BYTES + 1))])
    assert results_of(output) == []
    assert_problem(answer, 413, "too_large")


def test_a_malformed_input_is_400_and_ends_the_output(client: httpx2.Client) -> None:
    """malformed ... | 400 | `bad_request`; the closing boundary when the input ends."""
    for broken in (b"no boundary at all", part() + b"junk\r\n" + part(), part()[:40]):
        feed = open_feed(client)
        with live_output(client, feed["output"]) as results:
            answer = client.post(feed["input"], content=broken, headers={"Content-Type": INPUT_TYPE})
            assert results.rest().endswith(b"--myboundary--\r\n")
        assert_problem(answer, 400, "bad_request")


def test_an_input_that_goes_away_ends_the_output(stack: Stack, stream: TestStream, client: httpx2.Client) -> None:
    """The closing boundary when the input ends: also when the camera's connection is cut."""
    feed = open_feed(client)
    with live_output(client, feed["output"]) as results:
        address = ("127.0.0.1", int(stack.setting("http_port")))
        head = f"POST {feed['input'].removeprefix(stack.url)} HTTP/1.1\r\nHost: x\r\nContent-Type: {INPUT_TYPE}\r\n"
        head += f"Authorization: {basic(*stream.auth)}\r\nContent-Length: 100000\r\n\r\n"
        with socket.create_connection(address) as connection:
            connection.sendall(head.encode() + part() + part())
            assert results.next_result() == {"echo": "echo"}
        assert results.rest().endswith(b"--myboundary--\r\n")
