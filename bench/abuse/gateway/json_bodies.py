"""Abuse of JSON bodies: depth, numbers, surrogates, wrong types, foreign references."""

import json
import random
import uuid

from bench.abuse.exchange import Message
from bench.abuse.gateway.attacker import ANSWERED, DUMMY_JOBS, JSON, MEASURE_JOBS, REFUSED, Attacker, new_session_id
from onlooker.proof.questions.wire import head

NUMBERS = (
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551615"),
    *("18446744073709551616", "1" + "0" * 30, "-1" + "0" * 400, "9" * 5000, "1e308", "1e309", "-1e999", "1e-999"),
    *("NaN", "Infinity", "-Infinity", "0x10", "01", "1.", ".5", "-", "1_000", "-0", "0.1e+1"),
)
BROKEN = (
    *(b"", b" ", b"{", b'{"echo"', b'{"echo": }', b"[]", b"null", b"1", b'"text"', b"{}{}", b"{'echo': 1}"),
    *(b'\xef\xbb\xbf{"echo": "a"}', '{"echo": "a"}'.encode("utf-16"), b'{"echo": "\xff\xfe"}', b'{"echo": "\x00"}'),
    *(b'{"echo": "\xed\xa0\x80"}', b'{"echo": "\xc0\x80"}', b'{"echo": "a\nb"}', b'{"a": 1,}', b"{/**/}"),
)
WRONG_SESSIONS: tuple[object, ...] = (None, 5, "", "not-a-uuid", "\0", "0" * 33, {}, ["x"])
WRONG_TYPES: list[dict[str, object]] = [
    {"async": "no"},
    {"async": None},
    {"async": 0},
    {"async": False, "echo": 5},
    {"async": False, "echo": None},
    {"echo": {}},
    {"echo": [[]]},
    {"state": None},
    {"state": []},
    {"state": "x"},
    {"state": {}},
    *(dict[str, object](state={"session_id": value}) for value in WRONG_SESSIONS),
]
DEPTHS = (10, 100, 300, 500, 700, 900, *range(950, 1000), 2_000, 20_000, 100_000)


def nest(source: random.Random, attacker: Attacker) -> None:
    """In a field that no service knows, so that it goes the whole way."""
    depth = source.choice(DEPTHS)
    opened, closed = source.choice([(b"[", b"]"), (b'{"a":', b"}")])
    inner = opened * depth + (b"1" if opened != b"[" else b"") + closed * depth
    mode = source.choice([b"true", b"false"])
    attacker.post("nested JSON", DUMMY_JOBS, b'{"async": %s, "x": %s}' % (mode, inner), JSON, expected=ANSWERED)


def nest_unclosed(source: random.Random, attacker: Attacker) -> None:
    attacker.post("nested JSON", DUMMY_JOBS, b'{"a":' * 100_000, JSON)


def send_number(source: random.Random, attacker: Attacker) -> None:
    number = source.choice(NUMBERS)
    field = source.choice(["x", "x", "x", "echo", "async", "state"])
    state = source.choice(["", f', "state": {{"session_id": "{new_session_id()}"}}']) if field != "state" else ""
    mode = source.choice(["", ', "async": false', ', "async": true']) if field != "async" else ""
    body = f'{{"{field}": {number}{state}{mode}}}'
    attacker.post("numbers", DUMMY_JOBS, body.encode(), JSON, expected=ANSWERED)


def send_surrogate(source: random.Random, attacker: Attacker) -> None:
    text = source.choice(["\\ud800", "\\udfff", "\\udc00\\ud800", "a\\ud83dz", "\\ud83d\\ude00", "\\u0000", "\\uFFFF"])
    key = source.choice(["echo", "x", text])
    mode = source.choice(["true", "false"])
    body = f'{{"async": {mode}, "{key}": "{text}"}}'
    attacker.post("surrogates and NUL", DUMMY_JOBS, body.encode(), JSON, expected=ANSWERED)


def send_broken(source: random.Random, attacker: Attacker) -> None:
    attacker.post("broken JSON", source.choice([DUMMY_JOBS, "/blobs"]), source.choice(BROKEN), JSON)


def send_wrong_type(source: random.Random, attacker: Attacker) -> None:
    attacker.post("wrong types", DUMMY_JOBS, json.dumps(source.choice(WRONG_TYPES)).encode(), JSON)


def send_random_bytes(source: random.Random, attacker: Attacker) -> None:
    kind = source.choice(
        ["application/json", "application/json; charset=utf-16", "text/html", "", "multipart/form-data"]
    )
    body = source.randbytes(source.randrange(1, 4000))
    attacker.post("random bytes", source.choice([DUMMY_JOBS, "/blobs"]), body, ("Content-Type", kind))


def refer_elsewhere(source: random.Random, attacker: Attacker) -> None:
    """Nothing but this stream's blobs and this request's parts is ever fetched or opened."""
    own = attacker.public_url
    reference = source.choice(
        [
            *("file:///etc/passwd", "file://localhost/etc/hosts", "/etc/passwd", "../../etc/passwd", "data:,x", ""),
            *("http://127.0.0.1:1/x.jpg", "https://example.invalid/x.jpg", "ftp://example.invalid/", "gopher://[::1]"),
            *(
                "attachment://",
                "attachment://missing",
                "attachment:///etc/passwd",
                "ATTACHMENT://x",
                "\0",
                "a" * 60_000,
            ),
            *(f"{own}/blobs/{uuid.uuid4()}", f"{own}/blobs/", f"{own}/blobs/../services", f"{own}/blobs/%00"),
            *(f"{own}@example.invalid/blobs/{uuid.uuid4()}", f"{own}.example.invalid/blobs/x", f"{own}/services"),
        ]
    )
    mode = source.choice([True, False])
    body = json.dumps({"async": mode, "image": reference}).encode()
    attacker.post("foreign references", MEASURE_JOBS, body, JSON, expected=(400, 404))


def bogus_session(source: random.Random, attacker: Attacker) -> None:
    """Ids that are no UUID are refused; a UUID in any spelling is one."""
    name = source.choice([new_session_id(), f"{{{new_session_id()}}}", "urn:uuid:" + new_session_id(), "x", "%00", "-"])
    path = f"/services/dummy/1/sessions/{name}"
    attacker.send("bogus sessions", Message(head("DELETE", path, [attacker.auth])), expected=(404,))
    body = json.dumps({"async": False, "state": {"session_id": name, "more": [1]}}).encode()
    attacker.post("bogus sessions", DUMMY_JOBS, body, JSON, expected=(201, *REFUSED))


SCENARIOS = (
    *(nest, nest_unclosed, send_number, send_surrogate, send_broken, send_wrong_type, send_random_bytes),
    *(refer_elsewhere, bogus_session),
)
