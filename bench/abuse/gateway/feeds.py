"""Abuse of the streaming variant: broken frames, missing ends, other people's streams."""

import json
import random
import threading

from bench.abuse.exchange import Message, chunked
from bench.abuse.gateway.attacker import ANSWERED, CUT_OFF, JSON, REFUSED, Attacker, Header
from onlooker.proof.questions.wire import head

FRAMES_TYPE: Header = ("Content-Type", "multipart/x-mixed-replace; boundary=myboundary")
CLOSING = b"--myboundary--"
BROKEN_HEADERS = (
    *((b"X-Angus-Parameters: {}",), (b"X-Angus-DataField: image", b"X-Angus-Parameters: {"), (b"X-Angus-DataField:",)),
    *((b"X-Angus-DataField: image", b"X-Angus-Parameters: " + b'{"a":' * 3000),),
    *((b"X-Angus-DataField: image", b"X-Angus-Parameters: " + b'"' + b"a" * 20_000 + b'"'), (b"no colon",)),
    *((b"X-Angus-DataField: image", b"X-Angus-Parameters: []"), (b"X-Angus-DataField: \x00",), (b"\xff: \xff",)),
    *((b"X-Angus-DataField: image", b"X-Angus-Parameters: \xff\xfe"), (b"X-Angus-DataField: " + b"a" * 9000,)),
)
ODD_FRAMES: tuple[tuple[bytes, dict[str, object]], ...] = (
    (b"other", {}),
    (b"image", {"timestamp": 5}),
    (b"image", {"timestamp": "0001-01-01T00:00:00+23:59"}),
    (b"echo", {}),
    (b"image", {"image": "file:///etc/passwd"}),
    (b"image", {"x": 2**70}),
    (b"image", {"x": "\ud800"}),
    (b"image", {"state": 5, "async": "x"}),
    (b"image", {"echo": 5}),
    (b"image", {"timestamp": "9999-12-31T23:59:59-23:59"}),
)


def frame(data: bytes, *headers: bytes) -> bytes:
    length = b"Content-Length: %d" % len(data)
    return b"\r\n".join([b"--myboundary", b"Content-Type: image/jpeg", length, *headers]) + b"\r\n\r\n" + data + b"\r\n"


def right_frame(field: bytes, params: dict[str, object]) -> bytes:
    return frame(b"data", b"X-Angus-DataField: " + field, b"X-Angus-Parameters: " + json.dumps(params).encode())


def open_feed(source: random.Random, attacker: Attacker) -> str:
    """Path of a new feed."""
    path = f"/services/{source.choice(['dummy', 'measure'])}/1/streams"
    made = attacker.post("feeds", path, b"{}", JSON, expected=(201,))
    return f"{path}/{json.loads(made.body)['uuid']}" if made.status == 201 else path + "/none"


def feed_through(attacker: Attacker, path: str, body: bytes) -> None:
    """An input and its output, at the same time."""
    reading = threading.Thread(target=attacker.get, args=("feeds", f"{path}/output"), kwargs={"expected": (200,)})
    reading.start()
    attacker.post_chunks("feeds", f"{path}/input", [body], FRAMES_TYPE, expected=ANSWERED)
    reading.join()


def broken_frames(source: random.Random, attacker: Attacker) -> None:
    body = right_frame(b"image", {}) + frame(b"data", *source.choice(BROKEN_HEADERS)) + CLOSING
    feed_through(attacker, open_feed(source, attacker), body)


def odd_frames(source: random.Random, attacker: Attacker) -> None:
    """Well-formed, but with fields that make no sense: each is answered with an `error`."""
    body = b"".join(right_frame(*odd) for odd in source.sample(ODD_FRAMES, 3))
    feed_through(attacker, open_feed(source, attacker), body + CLOSING)


def random_frames(source: random.Random, attacker: Attacker) -> None:
    whole = bytearray(b"".join(right_frame(b"image", {"x": number}) for number in range(3)) + CLOSING)
    for _ in range(source.randrange(1, 6)):
        whole[source.randrange(len(whole))] = source.randrange(256)
    feed_through(attacker, open_feed(source, attacker), bytes(whole[: source.randrange(1, len(whole) + 1)]))


def wrong_input(source: random.Random, attacker: Attacker) -> None:
    """Refused before any frame is looked at, or at the first."""
    path = open_feed(source, attacker)
    kind = source.choice(
        [
            *("application/json", "multipart/x-mixed-replace", "multipart/x-mixed-replace; boundary=", "", "\xff"),
            *('multipart/x-mixed-replace; boundary=""', f"multipart/x-mixed-replace; boundary={'a' * 9000}"),
            *("multipart/x-mixed-replace; boundary=\xe9", "multipart/x-mixed-replace; boundary=;", "multipart/mixed"),
        ]
    )
    attacker.post("feed input", f"{path}/input", right_frame(b"image", {}) + CLOSING, ("Content-Type", kind))
    attacker.post("feed input", f"{path}/input", source.randbytes(200), FRAMES_TYPE)


def dying_input(source: random.Random, attacker: Attacker) -> None:
    path = open_feed(source, attacker)
    pieces = b"".join(chunked([right_frame(b"image", {})[: source.randrange(1, 100)]]))[:-5]
    lines = [attacker.auth, FRAMES_TYPE, ("Transfer-Encoding", "chunked")]
    attacker.send(
        "feed input", Message(head("POST", f"{path}/input", lines), (pieces,), half_close=True), expected=CUT_OFF
    )


def foreign_feed(source: random.Random, attacker: Attacker) -> None:
    """Somebody else's feed does not exist."""
    path = open_feed(source, attacker)
    for end in ("", "/output"):
        lines = [attacker.foreign_auth]
        attacker.send("foreign feeds", Message(head("GET", path + end, lines)), expected=(404,))
    attacker.post("foreign feeds", f"{path}/input", CLOSING, FRAMES_TYPE, auth=attacker.foreign_auth, expected=(404,))


def wrong_feed(source: random.Random, attacker: Attacker) -> None:
    body = source.choice([b"", b"[]", b'{"state": 5}', b'{"state": {"session_id": "x"}}', b'{"timestamp": 5}', b"\xff"])
    attacker.post("feed creation", "/services/measure/1/streams", body, JSON, expected=REFUSED)


SCENARIOS = (broken_frames, odd_frames, random_frames, wrong_input, dying_input, foreign_feed, wrong_feed)
