"""Abuse of multipart bodies: cut short, mutated, too many parts, wrong names and boundaries."""

import json
import random

from bench.abuse.exchange import Message
from bench.abuse.gateway.attacker import (
    ANSWERED,
    BOUNDARY,
    DUMMY_JOBS,
    END,
    MEASURE_JOBS,
    MULTIPART,
    Attacker,
    new_session_id,
    part,
)
from onlooker.proof.questions.wire import head

IMAGE = "attachment://image"
META = json.dumps({"async": False, "image": IMAGE}).encode()
PLAIN_META = b'{"async": false}'
JOB = part(IMAGE, b"\xff\xd8 a picture \x00\r\n--lim" * 20, b"Content-Type: image/jpeg") + part("meta", META) + END
BLOB = part(IMAGE, b"bytes" * 50) + part("meta", json.dumps({"content": IMAGE}).encode()) + END
SERVICES = (
    *("face_detection", "gaze_analysis", "motion_detection", "age_and_gender_estimation"),
    *("face_expression_estimation", "sound_localization", "scene_analysis"),
)
NAMES = (
    *(b"", b"\x00", b"attachment://\x00", b"meta\x00", b"\xff\xfe", b"a" * 5000, b"attachment://" + b"a" * 3000),
    *(b'meta"; name="other', b"a\rb", b"../meta", b"META", b"attachment://../../etc/passwd", "é☃".encode()),
)
BOUNDARIES = (
    *("", '""', "a" * 71, "a" * 5000, "é", "\x7f", '"unclosed', "with space", "limit; charset=utf-7", "--", "other"),
    *("=", "lim\tit", "\\", "limit, limit", "LIMIT"),
)
PART_HEADERS = (
    *(b"Content-Length: 99999999", b"Content-Length: -1", b"Content-Transfer-Encoding: base64", b"X: " + b"a" * 9000),
    *(b"no colon here", b": no name", b"X\x00: a", b"X: \x00", b" folded: a", b"Content-Disposition: form-data"),
    *(b"Content-Type: multipart/mixed; boundary=inner", b"Content-Type: text/plain; charset=\xff", b"\xff\xff: \xff"),
)


def truncate(source: random.Random, attacker: Attacker) -> None:
    path, whole = source.choice([(MEASURE_JOBS, JOB), ("/blobs", BLOB)])
    attacker.post("truncated multipart", path, whole[: source.randrange(len(whole) - 2)], MULTIPART)


def mutate(source: random.Random, attacker: Attacker) -> None:
    path, whole = source.choice([(MEASURE_JOBS, JOB), ("/blobs", BLOB)])
    mutated = bytearray(whole)
    for _ in range(source.randrange(1, 6)):
        place = source.randrange(len(mutated))
        mutated[place : place + source.randrange(3)] = source.randbytes(source.randrange(3))
    attacker.post("mutated multipart", path, bytes(mutated), MULTIPART, expected=ANSWERED)


def many_parts(source: random.Random, attacker: Attacker) -> None:
    """Of one kind or of any; the limit comes long before the last."""
    count = source.choice([33, 100, 10_000])
    parts = b"".join(part(f"attachment://{number}", b"") for number in range(count))
    attacker.post("many parts", MEASURE_JOBS, parts + part("meta", META) + END, MULTIPART)


def wrong_name(source: random.Random, attacker: Attacker) -> None:
    body = part(source.choice(NAMES), b"data") + part("meta", PLAIN_META) + END
    attacker.post("part names", DUMMY_JOBS, body, MULTIPART, expected=ANSWERED)


def wrong_boundary(source: random.Random, attacker: Attacker) -> None:
    kind = f"multipart/form-data; boundary={source.choice(BOUNDARIES)}"
    attacker.post("bad boundary", MEASURE_JOBS, JOB, ("Content-Type", kind), expected=ANSWERED)


def wrong_type(source: random.Random, attacker: Attacker) -> None:
    kind = source.choice(
        [
            *("multipart/form-data", "multipart/mixed; boundary=limit", "multipart", ";", "a/b" * 2000, "\xff/\xff"),
            *("multipart/form-data; boundary*=utf-8''limit", "multipart/form-data; boundary*0=li; boundary*1=mit"),
        ]
    )
    attacker.post("content types", MEASURE_JOBS, JOB, ("Content-Type", kind), expected=ANSWERED)


def wrong_part_header(source: random.Random, attacker: Attacker) -> None:
    extra = [source.choice(PART_HEADERS) for _ in range(source.choice([1, 2, 100]))]
    body = part(IMAGE, b"data", *extra) + part("meta", META) + END
    attacker.post("part headers", MEASURE_JOBS, body, MULTIPART, expected=ANSWERED)


def wrong_structure(source: random.Random, attacker: Attacker) -> None:
    limit = f"--{BOUNDARY}".encode()
    body = source.choice(
        [
            *(END, b"", limit, limit + b"\r\n", limit + b"\r\n\r\n\r\n" + END, part("meta", META) * 2 + END),
            *(part(IMAGE, b"x") * 2 + part("meta", META) + END, part(IMAGE, b"x") + END, part("meta", b"[]") + END),
            *(part("meta", b"") + END, part("meta", b'{"a":' * 100_000) + END, part("other", b"x") + END),
            *(b"\r\n" * 20_000 + JOB[:-4], JOB.replace(b"\r\n", b"\n"), limit * 50_000),
        ]
    )
    attacker.post("multipart structure", MEASURE_JOBS, body, MULTIPART)


def any_service(source: random.Random, attacker: Attacker) -> None:
    """A picture that is none, for every service: where nobody hosts it, the refusal says so."""
    name = source.choice(SERVICES)
    meta = json.dumps({"async": False, "image": IMAGE, "sound": IMAGE, "state": {"session_id": new_session_id()}})
    body = part(IMAGE, source.randbytes(2000)) + part("meta", meta.encode()) + END
    attacker.post("every service", f"/services/{name}/1/jobs", body, MULTIPART, expected=ANSWERED)


def right_among_wrong(source: random.Random, attacker: Attacker) -> None:
    """So that the abused code paths also hold real work."""
    for path, whole, found in ((MEASURE_JOBS, JOB, 201), ("/blobs", BLOB, 200)):
        made = attacker.post("right requests", path, whole, MULTIPART, expected=(201,))
        if made.status == 201:
            own = f"{path}/{json.loads(made.body)['uuid']}"
            attacker.get("right requests", own, expected=(found,))
            foreign = Message(head("GET", own, [attacker.foreign_auth]))
            attacker.send("foreign resources", foreign, expected=(404,))
            attacker.send("right requests", Message(head("DELETE", own, [attacker.auth])), expected=(204,))


SCENARIOS = (
    *(truncate, mutate, many_parts, wrong_name, wrong_boundary, wrong_type, wrong_part_header, wrong_structure),
    *(any_service, right_among_wrong),
)
