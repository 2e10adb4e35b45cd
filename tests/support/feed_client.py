"""A client of the streaming variant, which writes and parses as the historic one did."""

import json
import queue
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2

INPUT_TYPE = "multipart/x-mixed-replace; boundary=myboundary"
CLOSING = b"--myboundary--"
_HEAD = re.compile(rb"--myboundary\r\nContent-Type: application/json\r\nContent-Length: (\d+)\r\n\r\n")


def open_feed(client: httpx2.Client, service: str = "dummy", **fields: Any) -> dict[str, Any]:
    answer = client.post(f"/services/{service}/1/streams", json=fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def part(data: bytes = b"pixels", *, field: str | None = "image", params: dict[str, Any] | str | None = None) -> bytes:
    """One part: the boundary comes before it, none after."""
    text = params if isinstance(params, str) else json.dumps(params or {})
    lines = ["--myboundary", "Content-Type: image/jpeg", f"Content-Length: {len(data)}"]
    if field:
        lines.append(f"X-Angus-DataField: {field}")
    lines.append(f"X-Angus-Parameters: {text}")
    return "\r\n".join([*lines, "", ""]).encode() + data + b"\r\n"


def send(client: httpx2.Client, url: str, pieces: Iterable[bytes]) -> httpx2.Response:
    """One long POST."""
    return client.post(url, content=iter(pieces), headers={"Content-Type": INPUT_TYPE})


def exchange(
    client: httpx2.Client, feed: dict[str, Any], parts: Iterable[bytes], *, output: httpx2.Client | None = None
) -> tuple[httpx2.Response, bytes]:
    """Send parts and the closing boundary; the input's answer and all bytes of the output."""
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit((output or client).get, feed["output"])
        answer = send(client, feed["input"], [*parts, CLOSING])
        return answer, reading.result(30).content


def results_of(output: bytes) -> list[dict[str, Any]]:
    """The parts of a complete output; anything that is not exactly the format fails."""
    results = []
    while head := _HEAD.match(output):
        end = head.end() + int(head[1])
        results.append(json.loads(output[head.end() : end].decode("ascii")))
        assert output[end : end + 2] == b"\r\n"
        output = output[end + 2 :]
    assert output == b"--myboundary--\r\n"
    return results


class LiveInput:
    """An input that a test writes to piece by piece."""

    def __init__(self) -> None:
        self.pieces: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.answer: Future[httpx2.Response] = Future()

    def write(self, piece: bytes) -> None:
        self.pieces.put(piece)

    def end(self) -> None:
        self.pieces.put(None)

    def _drain(self) -> Iterator[bytes]:
        while piece := self.pieces.get():
            yield piece


@contextmanager
def live_input(client: httpx2.Client, url: str) -> Iterator[LiveInput]:
    live = LiveInput()
    with ThreadPoolExecutor(1) as pool:
        live.answer = pool.submit(send, client, url, live._drain())
        try:
            yield live
        finally:
            live.end()


class LiveOutput:
    """An output that a test reads result by result."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._chunks = answer.iter_raw()
        self._buffer = b""

    def next_result(self) -> dict[str, Any]:
        while not (head := _HEAD.match(self._buffer)) or len(self._buffer) < head.end() + int(head[1]) + 2:
            self._buffer += next(self._chunks)
        end = head.end() + int(head[1])
        result: dict[str, Any] = json.loads(self._buffer[head.end() : end])
        self._buffer = self._buffer[end + 2 :]
        return result

    def rest(self) -> bytes:
        return self._buffer + b"".join(self._chunks)


@contextmanager
def live_output(client: httpx2.Client, url: str, *, silence_limit_s: float = 3) -> Iterator[LiveOutput]:
    """The output as it comes; a longer silence than the limit raises ReadTimeout."""
    timeout = httpx2.Timeout(10, read=silence_limit_s)
    with client.stream("GET", url, timeout=timeout) as answer:
        assert answer.status_code == 200
        yield LiveOutput(answer)
