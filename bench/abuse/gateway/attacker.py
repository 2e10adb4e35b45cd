"""Who sends abuse: a stream's credentials, things it owns and does not own, and the tally."""

import base64
import uuid
from collections.abc import Container, Iterable
from dataclasses import dataclass

from bench.abuse.exchange import SWALLOWED, Message, chunked, exchange
from onlooker.proof.questions.tally import AnswerTally
from onlooker.proof.questions.wire import WireAnswer, head
from testkit import Stack, TestStream

Header = tuple[str | bytes, str | bytes]

REFUSED = range(400, 500)
ANSWERED = range(200, 500)
CUT_OFF = (0, *range(400, 500))
"""What is no HTTP may be answered or cut off."""

DUMMY_JOBS = "/services/dummy/1/jobs"
MEASURE_JOBS = "/services/measure/1/jobs"
JSON: Header = ("Content-Type", "application/json")
BOUNDARY = "limit"
MULTIPART: Header = ("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")


def basic(client_id: str, access_token: str) -> Header:
    return "Authorization", b"Basic " + base64.b64encode(f"{client_id}:{access_token}".encode())


def part(name: str | bytes, data: bytes, *extra: bytes) -> bytes:
    """One part of a form, without the boundary that follows it."""
    name = name if isinstance(name, bytes) else name.encode()
    lines = [b"--" + BOUNDARY.encode(), b'Content-Disposition: form-data; name="%s"' % name, *extra]
    return b"\r\n".join(lines) + b"\r\n\r\n" + data + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


@dataclass(frozen=True)
class Attacker:
    """Sends, and notes what came of it."""

    port: int
    public_url: str
    auth: Header
    foreign_auth: Header
    tally: AnswerTally

    def send(
        self, family: str, message: Message, *, expected: Container[int] = REFUSED, taken_limit_bytes: int = 1024**4
    ) -> WireAnswer:
        answer = exchange(self.port, message)
        if answer.taken_bytes > taken_limit_bytes:
            answer = WireAnswer(SWALLOWED, b"took in %d bytes" % answer.taken_bytes)
        self.tally.note(family, str(message), answer, expected=expected)
        return answer

    def post(
        self,
        family: str,
        path: str,
        body: bytes,
        *headers: Header,
        expected: Container[int] = REFUSED,
        auth: Header | None = None,
    ) -> WireAnswer:
        """A whole body with its right length."""
        lines = [auth or self.auth, ("Content-Length", str(len(body))), *headers]
        return self.send(family, Message(head("POST", path, lines), (body,)), expected=expected)

    def post_chunks(
        self,
        family: str,
        path: str,
        pieces: Iterable[bytes],
        *headers: Header,
        expected: Container[int] = REFUSED,
        pause_s: float = 0.0,
        taken_limit_bytes: int = 1024**4,
    ) -> WireAnswer:
        """A body of unknown length."""
        lines = [self.auth, ("Transfer-Encoding", "chunked"), *headers]
        body = list(chunked(pieces)) if isinstance(pieces, list) else chunked(pieces)
        message = Message(head("POST", path, lines), body, pause_s=pause_s)
        return self.send(family, message, expected=expected, taken_limit_bytes=taken_limit_bytes)

    def get(self, family: str, path: str, *headers: Header, expected: Container[int] = REFUSED) -> WireAnswer:
        return self.send(family, Message(head("GET", path, [self.auth, *headers])), expected=expected)


def new_attacker(stack: Stack, tally: AnswerTally, own: TestStream, foreign: TestStream) -> Attacker:
    port = int(stack.setting("http_port"))
    return Attacker(port, stack.url, basic(*own.auth), basic(*foreign.auth), tally)


def new_session_id() -> str:
    return str(uuid.uuid4())
