"""Abuse of HTTP itself: lengths, chunks, methods, paths, headers, credentials."""

import base64
import random
import string
import uuid

from bench.abuse.exchange import Message
from bench.abuse.gateway.attacker import ANSWERED, CUT_OFF, DUMMY_JOBS, JSON, Attacker, Header
from onlooker.proof.questions.wire import head

BODY = b'{"async": false, "echo": "x"}'
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "M-SEARCH")
LENGTHS = ("-1", "+5", "0x1d", "1e3", "", "five", "29, 29", "29, 30", "9" * 25, "9" * 5000, "\xb2", "29 ", "2 9")
CHUNKS = (
    b"zz\r\n",
    b"-1\r\n",
    b"ffffffffffffffffff\r\n",
    b"5\r\nabc",
    b"1d;" + b"x" * 9000 + b"\r\n",
    b"5\r\nabcdeXX",
    b"",
)
GARBAGE = (
    *(
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ),
    *(b"GET  /services HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"\x00" * 64, b"GET / HTTP/1.1\r\n: a\r\n\r\n"),
    *(b"GET / HTTP/1.1\r\nA\r\n\r\n", b"GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", b"GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
)
SEGMENTS = (
    *("services", "dummy", "measure", "1", "01", "-1", "0", "9" * 30, "jobs", "streams", "sessions", "blobs", "input"),
    *("output", "description", "livez", "readyz", "openapi.json", "..", ".", "", "%00", "%2e%2e", "%2f", "%ff", "%"),
    *("%E2%98%83", "%D9%A1", "%C2%B2", "a" * 3000, ";x=1", "?version=1", "?%00=%ff", "#", "{id}", "~root", "1.0"),
    str(uuid.UUID(int=0)),
)
CREDENTIALS: tuple[bytes, ...] = (
    *(b"", b"Basic", b"Basic ", b"Basic \xe9", b"Basic !!!!", b"Basic YQ", b"Basic YQ==", b"Basic Og==", b"basic \x7f"),
    *(b"Bearer x", b"Digest a=b", b"Basic " + b"QUFB" * 4000, b"Basic " + base64.b64encode(b"\xff\xfe:\xff"), b"\xff"),
    *(b"Basic " + base64.b64encode(b"\x00:\x00"), b"Basic " + base64.b64encode(b"0" * 32 + b":" + b"x" * 9000)),
    *(b"Basic " + base64.b64encode("é:☃".encode()), b"Basic " + base64.b64encode(b":::"), b"Basic a b c"),
)


def wrong_length(source: random.Random, attacker: Attacker) -> None:
    lines = [attacker.auth, JSON, ("Content-Length", source.choice(LENGTHS))]
    message = Message(head("POST", DUMMY_JOBS, lines), (BODY,), half_close=True)
    attacker.send("wrong lengths", message, expected=(*CUT_OFF, 201))


def short_body(source: random.Random, attacker: Attacker) -> None:
    """Announces more than it sends, then dies."""
    lines = [attacker.auth, JSON, ("Content-Length", str(len(BODY) + source.randrange(1, 9_000_000)))]
    attacker.send(
        "body too short", Message(head("POST", DUMMY_JOBS, lines), (BODY,), half_close=True), expected=CUT_OFF
    )


def long_body(source: random.Random, attacker: Attacker) -> None:
    """Sends more than it announced: the rest is another request, or nothing."""
    lines = [attacker.auth, JSON, ("Content-Length", str(len(BODY)))]
    more = source.choice([b"x" * 100, source.randbytes(5000), b"\r\n" * 50, head("GET", "/services", [attacker.auth])])
    attacker.send("body too long", Message(head("POST", DUMMY_JOBS, lines), (BODY + more,)), expected=(201, *CUT_OFF))


def wrong_chunk(source: random.Random, attacker: Attacker) -> None:
    both: list[Header] = [("Content-Length", "29")] if source.random() < 0.3 else []
    encoding = source.choice(["chunked", "chunked", "chunked", "gzip, chunked", "identity", "chunked, gzip", "\x00"])
    lines = [attacker.auth, JSON, ("Transfer-Encoding", encoding), *both]
    body = b"%x\r\n%s\r\n" % (len(BODY), BODY) + source.choice(CHUNKS)
    attacker.send(
        "wrong chunks", Message(head("POST", DUMMY_JOBS, lines), (body,), half_close=True), expected=(201, *CUT_OFF)
    )


def no_http(source: random.Random, attacker: Attacker) -> None:
    first = source.choice([*GARBAGE, source.randbytes(source.randrange(1, 2000))])
    attacker.send("no HTTP", Message(first, half_close=True), expected=CUT_OFF)


def wander(source: random.Random, attacker: Attacker) -> None:
    """A random method on a random path."""
    path = "/" + "/".join(source.choice(SEGMENTS) for _ in range(source.randrange(1, 7)))
    auth = [attacker.auth] if source.random() < 0.8 else []
    message = Message(head(source.choice(METHODS), path, auth), half_close=True)
    attacker.send("random paths", message, expected=(0, *ANSWERED))


def raw_path(source: random.Random, attacker: Attacker) -> None:
    path = b"/" + source.choice([b"", b"services/"]) + source.randbytes(source.randrange(1, 60)).replace(b"\n", b"")
    attacker.send("raw paths", Message(head("GET", path, [attacker.auth]), half_close=True), expected=(200, *CUT_OFF))


def wrong_header(source: random.Random, attacker: Attacker) -> None:
    name, value = source.choice(
        [
            *(("X-Request-Id", "\x00"), ("X-Request-Id", "a" * 9000), ("X-Request-Id", "\xff" * 20), ("X\x00", "a")),
            *(("X", "\x00\x01"), ("Host", "\xff"), ("Host", "a" * 9000), ("Expect", "100-continue"), ("Expect", "x")),
            *(("Upgrade", "h2c"), ("Cookie", "a=b;" * 2000), ("Accept-Encoding", "br;q=x"), ("Range", "bytes=-1")),
            *(("X-Forwarded-For", "\xff"), ("X-Forwarded-Proto", "file"), ("Content-Encoding", "gzip"), ("", "")),
            *(("X", "a\r\n b"), ("X", "".join(source.choices(string.printable, k=200)).replace("\n", ""))),
        ]
    )
    lines = [attacker.auth, JSON, ("Content-Length", str(len(BODY))), (name, value)]
    attacker.send("headers", Message(head("POST", DUMMY_JOBS, lines), (BODY,)), expected=(201, *CUT_OFF))


def upgrade(source: random.Random, attacker: Attacker) -> None:
    key = base64.b64encode(source.randbytes(16))
    lines: list[Header] = [("Upgrade", "websocket"), ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13")]
    auth = source.choice([[attacker.auth], []])
    request = head("GET", source.choice(["/", "/services", DUMMY_JOBS]), [*auth, *lines])
    request = request.replace(b"Connection: close", b"Connection: Upgrade")
    attacker.send("websocket", Message(request, half_close=True), expected=(0, *ANSWERED))


def wrong_credentials(source: random.Random, attacker: Attacker) -> None:
    line: Header = ("Authorization", source.choice(CREDENTIALS))
    message = Message(head("POST", DUMMY_JOBS, [line, JSON, ("Content-Length", "29")]), (BODY,))
    attacker.send("credentials", message, expected=(400, 401))


def unknown_stream(source: random.Random, attacker: Attacker) -> None:
    """A client_id that nobody has: each is looked up and remembered."""
    given = base64.b64encode(f"{uuid.UUID(bytes=source.randbytes(16))}:{source.random()}".encode())
    message = Message(head("GET", "/services", [("Authorization", b"Basic " + given)]))
    attacker.send("credentials", message, expected=(401,))


def large_header(source: random.Random, attacker: Attacker) -> None:
    lines: list[Header] = [("X-Large", "a" * source.choice([9_000, 70_000, 1_000_000]))]
    if source.random() < 0.5:
        lines = [(f"X-{number}", "a") for number in range(source.choice([200, 5_000, 50_000]))]
    attacker.send("large headers", Message(head("GET", "/services", [attacker.auth, *lines])), expected=(200, *CUT_OFF))


SCENARIOS = (
    *(wrong_length, short_body, long_body, wrong_chunk, no_http, wander, raw_path, wrong_header, upgrade),
    *(wrong_credentials, unknown_stream, large_header),
)
