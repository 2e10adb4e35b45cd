"""`onlooker prove` asks hostile questions: a data endpoint that breaks or tells too much is noticed."""

import json
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from onlooker.data.parquet_file import MEDIA_TYPE, Column, Kind, ParquetFile
from onlooker.proof.hostile_questions import QuestionPace, judge_questions
from onlooker.proof.questions.control import tells_apart
from onlooker.proof.questions.forged_tokens import Forger, forged_scenarios
from onlooker.proof.questions.marked_streams import (
    FEW,
    GROUPS,
    MANY,
    SPAN_H,
    Marked,
    Signature,
    begins_before,
)
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import RIGHT, DataRequest, DataTally
from onlooker.proof.questions.wire import DataReply, ServerAddress
from testkit import TestStream

BEGINS_MS = begins_before(time.time())
CLAIMS = {"iss": "https://localhost", "aud": "onlooker-data", "exp": 2**31, "iat": 0, "username": "proof@localhost"}
Respond = Callable[[str, str], tuple[int, dict[str, Any]]]
"""From a path and an Authorization header to a status and a body."""


def numbers_of(signature: Signature) -> dict[str, Any]:
    """Everybody of a stream, in one bucket."""
    people = GROUPS * signature.people
    begins = datetime.fromtimestamp(BEGINS_MS / 1000, UTC)
    values: dict[str, Any] = {name: {kind: people} for name, kind in signature.kinds.items()}
    values |= {"passing_by": {"value": people}, "interested": {"value": people}, "stopped": {"value": people}}
    values |= {"stop_time": {"value": signature.stop_s}, "attention_time": {"value": signature.attention_s}}
    values |= {"satisfaction": {"value": signature.satisfaction}}
    order = ("passing_by", "interested", "stop_time", "attention_time", "category", "gender", "satisfaction", "age")
    return {
        "entities": {"global": {name: values[name] for name in (*order, "emotion", "stopped")}},
        "from_date": begins.isoformat(),
        "to_date": (begins + timedelta(hours=SPAN_H)).isoformat(),
        "next_page": "",
    }


@contextmanager
def endpoint(respond: Respond) -> Iterator[QuestionSender]:
    """A data endpoint of two streams that answers as it is told."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = respond(self.path, self.headers.get("Authorization", ""))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status < 400 else "application/problem+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_TRACE = do_BREW = do_OPTIONS = do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is shown."""

    key = ec.generate_private_key(ec.SECP256R1())
    tokens = tuple(jwt.encode(CLAIMS | {"client_id": name}, key, algorithm="ES256") for name in ("few", "many"))
    streams = TestStream(1, "few", ""), TestStream(2, "many", "")
    marked = Marked(FEW, streams[0], BEGINS_MS), Marked(MANY, streams[1], BEGINS_MS)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield QuestionSender(
            ServerAddress("127.0.0.1", server.server_address[1]), marked, (tokens[0], tokens[1]), DataTally()
        )
    finally:
        server.shutdown()
        server.server_close()


def own_numbers(path: str, authorization: str) -> tuple[int, dict[str, Any]]:
    """As it should be, for right questions."""
    claims = jwt.decode(authorization.removeprefix("Bearer "), options={"verify_signature": False})
    return 200, numbers_of(FEW if claims["client_id"] == "few" else MANY)


def ask_all(sender: QuestionSender) -> list[str]:
    """What is found out by questions that everybody may ask."""
    is_told_apart = tells_apart(sender)
    return judge_questions(sender.tally, is_told_apart=is_told_apart)


def test_streams_with_their_own_numbers_are_told_apart() -> None:
    with endpoint(own_numbers) as sender:
        assert ask_all(sender) == []


def test_number_of_another_stream_is_noticed() -> None:
    with endpoint(lambda path, authorization: (200, numbers_of(MANY))) as sender:
        wrong = ask_all(sender)
        assert sender.tally.leaks
    assert any("a number that the token's stream can't have" in sentence for sentence in wrong)
    assert "the numbers of the proof's two streams can't be told apart" in wrong


def test_file_of_another_stream_is_noticed() -> None:
    """By the stream that a file of Parquet names."""
    names = [{"onlooker.client_id": str(uuid.uuid4())} for _ in range(2)]
    files = [ParquetFile([Column("n", Kind.COUNT)], name, created_by="onlooker version 0") for name in names]
    own, other = (file.begin() + file.add_rows([(1,)]) + file.finish() for file in files)
    marked = Marked(FEW, TestStream(1, names[0]["onlooker.client_id"], ""), BEGINS_MS)
    tally, asked = DataTally(), DataRequest("any", "GET /", RIGHT, marked=marked)
    tally.judge(asked, DataReply(200, own, MEDIA_TYPE))
    assert tally.leaks == []
    for wrong in (other, own[:-1]):
        tally.judge(asked, DataReply(200, wrong, MEDIA_TYPE))
    assert len(tally.leaks) == 2


def test_server_error_is_noticed() -> None:
    with endpoint(lambda path, authorization: (500, {"code": "internal_error"})) as sender:
        assert any("2 were answered with a server error" in sentence for sentence in ask_all(sender))


def test_refusal_that_says_when_to_come_back_is_no_server_error() -> None:
    tally, asked = DataTally(), DataRequest("any", "GET /", RIGHT)
    body = json.dumps({"code": "overloaded", "detail": "Later."}).encode()
    tally.judge(asked, DataReply(503, body, "application/problem+json", headers={"retry-after": "2"}))
    assert (tally.server_errors, tally.busy) == (0, {"Later.": 1})
    tally.judge(asked, DataReply(503, body, "application/problem+json"))
    assert tally.server_errors == 1


def test_token_that_opens_what_it_must_not_open_is_noticed() -> None:
    known, unknown = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    jwk: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(known.public_key(), as_dict=True)
    with endpoint(lambda path, authorization: (200, numbers_of(FEW))) as sender:
        forger = Forger("kid", known, unknown, *sender.tokens, jwk | {"kid": "kid", "alg": "ES256"})
        scenarios = forged_scenarios(forger)
        scenarios["too_late"](random.Random(1), sender)
        scenarios["by_another_key"](random.Random(1), sender)
        assert sender.tally.unexpected == 2
        assert sender.tally.faults == {"too late: 200": 1, "by another key: 200": 1}


def test_questions_keep_below_the_rate_and_forged_ones_wait_for_nothing() -> None:
    pace = QuestionPace(per_second=50, burst=5)
    marked = Marked(FEW, TestStream(1, "few", ""), BEGINS_MS)
    began = time.monotonic()
    for _ in range(1000):
        pace.wait(DataRequest("forged", "GET", RIGHT))
    assert time.monotonic() - began < 0.5
    began = time.monotonic()
    for _ in range(24):
        pace.wait(DataRequest("right", "GET", RIGHT, marked))
    assert time.monotonic() - began >= 20 / 45 - 0.01
