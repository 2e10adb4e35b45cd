"""Asks the data endpoint with the tokens of two streams, and has its answers judged."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from onlooker.proof.questions.marked_streams import Marked
from onlooker.proof.questions.tally import DataRequest, DataTally, Expected
from onlooker.proof.questions.wire import DataReply, Header, ServerAddress, exchange, head


def _at_once(asked: DataRequest) -> None:
    """Where no rate is kept."""


@dataclass(frozen=True)
class QuestionSender:
    """Sends requests with the token of one of two streams, and has the answers judged."""

    address: ServerAddress
    streams: tuple[Marked, Marked]
    tokens: tuple[str, str]
    tally: DataTally
    wait_turn: Callable[[DataRequest], None] = _at_once
    """Waits until a request may be sent."""

    def ask(
        self,
        family: str,
        target: str,
        *headers: Header,
        expected: Expected,
        whose: int = 0,
        method: str = "GET",
        body: bytes = b"",
    ) -> DataReply:
        """With a right token; `target` goes out as latin-1, wrong or not."""
        lines = [("Authorization", f"Bearer {self.tokens[whose]}"), *headers]
        asked = DataRequest(family, f"{method} {target} {headers!r}", expected, self.streams[whose], method)
        return self.send(asked, target, lines, body=body)

    def send(self, asked: DataRequest, target: str, headers: Iterable[Header], *, body: bytes = b"") -> DataReply:
        self.wait_turn(asked)
        lines = [*headers, *([("Content-Length", str(len(body)))] if body else [])]
        message = head(asked.method, target, lines, host=self.address.host) + body
        began = time.monotonic()
        reply = exchange(self.address, message, method=asked.method)
        self.tally.note_time(asked, time.monotonic() - began)
        self.tally.judge(asked, reply)
        return reply
