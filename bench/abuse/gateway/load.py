"""Abuse by weight and by time: what is too large, and what never ends."""

import itertools
import random
import socket
import time
from collections.abc import Callable, Iterable

from bench.abuse.exchange import Message, chunked, exchange
from bench.abuse.gateway.attacker import (
    ANSWERED,
    CUT_OFF,
    DUMMY_JOBS,
    END,
    JSON,
    MEASURE_JOBS,
    MULTIPART,
    Attacker,
    basic,
    part,
)
from bench.abuse.gateway.feeds import FRAMES_TYPE, frame, open_feed, right_frame
from onlooker.proof.questions.wire import HUNG, WireAnswer, head

MEBIBYTE = 1024**2
META_BYTES = 50 * MEBIBYTE
SLOW_BODY_BYTES = 1024**3
BODY_LIMIT_BYTES = 10 * MEBIBYTE
FLOOD_BYTES = 64 * MEBIBYTE
TAKEN_LIMIT_BYTES = 32 * MEBIBYTE
"""More than the sockets' own buffers and the body limit together: who takes more, takes anything."""


def large_meta(source: random.Random, attacker: Attacker) -> None:
    """50 MB of JSON: announced, and in chunks."""
    opening = part("meta", b'{"echo": "')[:-2]
    pieces = (opening, *([b"a" * MEBIBYTE] * (META_BYTES // MEBIBYTE)), b'"}\r\n' + END)
    attacker.post("meta of 50 MB", DUMMY_JOBS, b"".join(pieces), MULTIPART, expected=(413,))
    attacker.post_chunks("meta of 50 MB", DUMMY_JOBS, pieces, MULTIPART, expected=(413,))


def large_json(source: random.Random, attacker: Attacker) -> None:
    pieces = [b'{"echo": "', *([b"a" * MEBIBYTE] * 12), b'"}']
    attacker.post("large JSON", DUMMY_JOBS, b"".join(pieces), JSON, expected=(413,))
    attacker.post_chunks("large JSON", DUMMY_JOBS, pieces, JSON, expected=(413,))


def full_attachment(source: random.Random, attacker: Attacker) -> None:
    """Just within the limit, and just over it."""
    meta = part("meta", b'{"async": false, "image": "attachment://image"}') + END
    within = part("attachment://image", bytes(BODY_LIMIT_BYTES - 2000)) + meta
    attacker.post("full attachments", MEASURE_JOBS, within, MULTIPART, expected=(201,))
    over = part("attachment://image", bytes(BODY_LIMIT_BYTES)) + meta
    attacker.post("full attachments", MEASURE_JOBS, over, MULTIPART, expected=(413,))


def long_text(source: random.Random, attacker: Attacker) -> None:
    """A result larger than a worker may return is an `error`, and a message larger than the bus takes is none."""
    body = b'{"async": false, "echo": "%s"}' % (b"a" * source.choice([1_000_000, 2_000_000, 9_000_000]))
    attacker.post("long texts", DUMMY_JOBS, body, JSON, expected=ANSWERED)


def slow_gigabyte(source: random.Random, attacker: Attacker) -> None:
    """A gigabyte in no hurry: cut off at the size limit or the time limit, whichever comes first."""
    opening = part("meta", b"{}") + part("attachment://image", b"")[:-2]
    pieces = itertools.chain([opening], itertools.repeat(bytes(256 * 1024), SLOW_BODY_BYTES // (256 * 1024)))
    attacker.post_chunks(
        "slow gigabyte",
        MEASURE_JOBS,
        pieces,
        MULTIPART,
        expected=(408, 413),
        pause_s=0.05,
        taken_limit_bytes=TAKEN_LIMIT_BYTES,
    )


def dribble(source: random.Random, attacker: Attacker) -> None:
    """A byte at a time, without end."""
    attacker.post_chunks("dribbled body", DUMMY_JOBS, itertools.repeat(b" "), JSON, expected=(408,), pause_s=0.1)


def withhold(source: random.Random, attacker: Attacker) -> None:
    """Announces a body that never comes."""
    lines = [attacker.auth, JSON, ("Content-Length", "1000")]
    attacker.send("withheld body", Message(head("POST", DUMMY_JOBS, lines)), expected=(408,))


def idle_input(source: random.Random, attacker: Attacker) -> None:
    path = open_feed(source, attacker)
    lines = [attacker.auth, FRAMES_TYPE, ("Transfer-Encoding", "chunked")]
    attacker.send("idle feeds", Message(head("POST", f"{path}/input", lines)), expected=(408,))
    attacker.get("idle feeds", f"{path}/output", expected=(200,))


def input_without_output(source: random.Random, attacker: Attacker) -> None:
    path = open_feed(source, attacker)
    attacker.post_chunks("idle feeds", f"{path}/input", [right_frame(b"image", {})] * 3, FRAMES_TYPE, expected=ANSWERED)


def large_frame(source: random.Random, attacker: Attacker) -> None:
    path = open_feed(source, attacker)
    data = frame(bytes(11 * MEBIBYTE), b"X-Angus-DataField: image")
    attacker.post_chunks("large frames", f"{path}/input", [data], FRAMES_TYPE, expected=(400, 413))


def flood(attacker: Attacker, family: str, opening: bytes, pieces: Iterable[bytes]) -> None:
    """Keep sending, whatever is answered: it must be cut off."""
    message = Message(opening, pieces, half_close=True, stubborn=True)
    attacker.send(family, message, expected=CUT_OFF, taken_limit_bytes=TAKEN_LIMIT_BYTES)


def header_flood(source: random.Random, attacker: Attacker) -> None:
    """A head without end, before any credentials: a long path, a long header, many short ones; and trailers."""
    long = [b"a" * MEBIBYTE] * (FLOOD_BYTES // MEBIBYTE)
    flood(attacker, "header flood", b"GET /", long)
    flood(attacker, "header flood", b"GET /services HTTP/1.1\r\nX: ", long)
    many = [b"X: a\r\n" * 10_000] * (FLOOD_BYTES // 60_000)
    flood(attacker, "header flood", b"GET /services HTTP/1.1\r\n", many)
    opening = head("POST", DUMMY_JOBS, [attacker.auth, JSON, ("Transfer-Encoding", "chunked")])
    flood(attacker, "trailer flood", opening + b"2\r\n{}\r\n0\r\n", many)


def unasked_body(source: random.Random, attacker: Attacker) -> None:
    """Bodies of strangers, for what is not there, and behind a mistake: nobody reads on after the answer."""
    large = list(chunked([b"a" * MEBIBYTE] * (FLOOD_BYTES // MEBIBYTE)))
    for auth, path in (
        (basic("x", "y"), DUMMY_JOBS),
        (attacker.auth, "/services/none/1/jobs"),
        (attacker.auth, "/services"),
        (attacker.auth, MEASURE_JOBS),
    ):
        opening = head("POST", path, [auth, MULTIPART, ("Transfer-Encoding", "chunked")])
        flood(attacker, "unasked bodies", opening.replace(b"Connection: close\r\n", b""), large)


def open_connections(source: random.Random, attacker: Attacker) -> None:
    """Many that send half a head and wait; others are served meanwhile."""
    held = [socket.create_connection(("127.0.0.1", attacker.port), timeout=5) for _ in range(200)]
    try:
        for connection in held:
            connection.sendall(b"POST /services HTTP/1.1\r\nHost: a\r\nX: ")
        started = time.monotonic()
        answer = exchange(attacker.port, Message(head("GET", "/services", [attacker.auth])))
        answer = answer if time.monotonic() - started < 2 else WireAnswer(HUNG)
        attacker.tally.note("held connections", "GET /services", answer, expected=(200,))
    finally:
        for connection in held:
            connection.close()


SCENARIOS: tuple[Callable[[random.Random, Attacker], None], ...] = (
    *(large_meta, large_json, full_attachment, long_text, slow_gigabyte, dribble, withhold, idle_input),
    *(input_without_output, large_frame, header_flood, unasked_body, open_connections),
)
