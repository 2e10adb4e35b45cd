"""Asking the data endpoint over a bare socket, and telling a wrong answer from an honest refusal."""

import contextlib
import gzip
import http.client
import json
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.abuse.data.signatures import Marked, judge_csv, judge_json
from bench.abuse.exchange import ANSWER_LIMIT_S, CLOSED, HUNG, AnswerTally, WireAnswer, head

Header = tuple[str | bytes, str | bytes]
Expected = Mapping[int, tuple[str, ...]]
"""Statuses that are right, with the codes that may go with each."""

RIGHT: Expected = {200: ("",)}
REFUSED: Expected = {400: ("bad_request",)}
ANSWERED: Expected = {**RIGHT, **REFUSED}
TOO_LARGE: Expected = {**REFUSED, 413: ("too_large",)}
UNAUTHORIZED: Expected = {401: ("missing_token", "invalid_jwt", "expired_jwt")}
CUT_OFF: Expected = {CLOSED: ("",), 400: ("", "bad_request")}
"""What is no HTTP, or too much of it, may be answered in plain text or cut off."""


@dataclass(frozen=True)
class Reply(WireAnswer):
    """An answer with its headers, whose names are lower case."""

    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DataRequest:
    """A request, as far as its answer is judged by it."""

    family: str
    what: str
    """Enough of it to send it again."""
    expected: Expected
    marked: Marked | None = None
    """Whose token it carried."""
    method: str = "GET"


def exchange(port: int, message: bytes, *, method: str = "GET") -> Reply:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_LIMIT_S) as connection:
            _send(connection, message)
            return _receive(connection, method)
    except TimeoutError:
        return Reply(HUNG)
    except (OSError, http.client.HTTPException):
        return Reply(CLOSED)


def begin(port: int, message: bytes, *, taken_bytes: int) -> Reply:
    """The head of an answer and the beginning of its body."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_LIMIT_S) as connection:
            _send(connection, message)
            response = http.client.HTTPResponse(connection)
            response.begin()
            return Reply(response.status, response.read(taken_bytes), response.getheader("Content-Type") or "")
    except TimeoutError:
        return Reply(HUNG)
    except (OSError, http.client.HTTPException):
        return Reply(CLOSED)


def _send(connection: socket.socket, message: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the answer may be there all the same
        connection.sendall(message)


def _receive(connection: socket.socket, method: str) -> Reply:
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    headers = {name.lower(): value for name, value in response.getheaders()}
    body = response.read()
    body = gzip.decompress(body) if body and headers.get("content-encoding") == "gzip" else body
    return Reply(response.status, body, headers.get("content-type", ""), headers=headers)


@dataclass
class DataTally(AnswerTally):
    """Every request of a run, and whether any number was another stream's."""

    unhosted: frozenset[str] = frozenset()
    data_url: str = ""
    codes: Counter[str] = field(default_factory=Counter)
    busy: Counter[str] = field(default_factory=Counter)
    """Refusals for want of capacity that say when to come back, by what they say."""
    telling: Counter[str] = field(default_factory=Counter)
    """Answers that counted somebody, by stream."""
    leaks: list[str] = field(default_factory=list)
    foreign_links: int = 0
    """Pages that are to be followed to anywhere but here."""
    slowest: tuple[float, str] = (0.0, "")
    """Seconds that an answer took, and to what."""

    def note_time(self, asked: DataRequest, seconds: float) -> None:
        with self._lock:
            self.slowest = max(self.slowest, (round(seconds, 2), f"{asked.family}: {asked.what[:200]}"))

    def judge(self, asked: DataRequest, reply: Reply) -> None:
        if reply.status == 503 and reply.code == "overloaded" and reply.headers.get("retry-after", "").isdigit():
            self._note_busy(asked, reply)
            return
        codes = asked.expected.get(reply.status, ())
        is_right = asked.method == "HEAD" or reply.code in codes
        self.note(asked.family, asked.what, reply, expected=asked.expected if is_right else ())
        with self._lock:
            self.codes[f"{reply.status} {reply.code}".strip()] += 1
        if reply.status == 200 and asked.marked and reply.body:
            self._look_for_leaks(asked, reply, asked.marked)

    def _note_busy(self, asked: DataRequest, reply: Reply) -> None:
        with self._lock:
            self.requests += 1
            self.statuses[reply.status] += 1
            self.families[asked.family] += 1
            self.busy[json.loads(reply.body)["detail"]] += 1

    def _look_for_leaks(self, asked: DataRequest, reply: Reply, marked: Marked) -> None:
        is_table = reply.content_type.startswith("text/csv")
        counted, objections = (judge_csv if is_table else judge_json)(reply.body, marked)
        link = "" if is_table else json.loads(reply.body)["next_page"]
        with self._lock:
            self.telling[marked.signature.name] += counted
            self.leaks += [f"{asked.what[:300]}: {text}" for text in objections[:2]]
            self.foreign_links += bool(link) and not link.startswith(f"{self.data_url}/")


@dataclass(frozen=True)
class QuestionSender:
    """Sends requests with the token of one of two streams, and has the answers judged."""

    port: int
    streams: tuple[Marked, Marked]
    tokens: tuple[str, str]
    tally: DataTally

    def ask(
        self,
        family: str,
        target: str,
        *headers: Header,
        expected: Expected,
        whose: int = 0,
        method: str = "GET",
        body: bytes = b"",
    ) -> Reply:
        """With a right token; `target` goes out as latin-1, wrong or not."""
        lines = [("Authorization", f"Bearer {self.tokens[whose]}"), *headers]
        asked = DataRequest(family, f"{method} {target} {headers!r}", expected, self.streams[whose], method)
        return self.send(asked, target, lines, body=body)

    def hang_up(self, family: str, target: str, *, taken_bytes: int, whose: int) -> None:
        """Read so much of the answer, and leave."""
        lines: list[Header] = [("Authorization", f"Bearer {self.tokens[whose]}")]
        reply = begin(self.port, head("GET", target, lines), taken_bytes=taken_bytes)
        self.tally.judge(DataRequest(family, f"GET {target}", RIGHT), reply)

    def send(self, asked: DataRequest, target: str, headers: Iterable[Header], *, body: bytes = b"") -> Reply:
        lines = [*headers, *([("Content-Length", str(len(body)))] if body else [])]
        began = time.monotonic()
        reply = exchange(self.port, head(asked.method, target, lines) + body, method=asked.method)
        self.tally.note_time(asked, time.monotonic() - began)
        self.tally.judge(asked, reply)
        return reply
