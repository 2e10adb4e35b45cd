"""Batches that are sent: honest ones, ones with lies in between, and requests that are no batch at all."""

import json
import random
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.abuse.exchange import Message
from bench.abuse.gateway.attacker import JSON, Attacker, Header
from bench.abuse.visits.books import TakenItems
from bench.abuse.visits.items import (
    DEVICES,
    MOST_REVISIONS,
    SLOTS_OF_A_DEVICE,
    VISITS_OF_A_DEVICE,
    DeviceItem,
    HonestDevice,
    Json,
    hostile_slot,
    hostile_visit,
)
from onlooker.proof.questions.wire import WireAnswer, head

PATH = "/services/scene_analysis/1/visits"
DEFLATED: Header = ("Content-Encoding", "deflate")
BOMB = zlib.compress(b" " * 60 * 1024**2, 9)
TAKEN, MALFORMED = (200,), (400,)


@dataclass
class LyingDevices:
    """Three devices of one stream, that tell the truth, lies, and nonsense."""

    attacker: Attacker
    now_s: int
    foreign_ids: list[str]
    """Of visits of another stream."""
    accepted: TakenItems = field(default_factory=TakenItems)
    wrong_verdicts: list[str] = field(default_factory=list)

    def tell(self, source: random.Random) -> None:
        """A batch of items, honest and not, in any order; some are sent several times."""
        device = HonestDevice(source.randrange(len(DEVICES)), self.now_s)
        visits, slots = self._items(source, device)
        body = encode(device.id, [one.told for one in visits], [one.told for one in slots])
        is_deflated = source.random() < 0.7
        sent, headers = (zlib.compress(body), (JSON, DEFLATED)) if is_deflated else (body, (JSON,))
        for _ in range(source.choice([1, 1, 1, 2, 5])):
            answer = self.attacker.post("items", PATH, sent, *headers, expected=TAKEN)
            if answer.status == 200:
                self._judge(device.id, visits, slots, answer)

    def _items(self, source: random.Random, device: HonestDevice) -> tuple[list[DeviceItem], list[DeviceItem]]:
        honest = source.choice([0, 1, 5, 20])
        visits = {
            place: DeviceItem(device.visit(place, source.randint(1, MOST_REVISIONS)))
            for place in source.sample(range(VISITS_OF_A_DEVICE), honest)
        }
        slots = {
            place: DeviceItem(device.slot(place, source.randint(1, MOST_REVISIONS)))
            for place in source.sample(range(SLOTS_OF_A_DEVICE), honest // 2)
        }
        lies = [hostile_visit(source, self.now_s) for _ in range(source.choice([0, 1, 5]))]
        wrong = [hostile_slot(source, self.now_s) for _ in range(source.choice([0, 1, 3]))]
        false = {one.told["slot"]: one for one in wrong}
        if lies and source.random() < 0.3:  # of another stream: refused all the same, for what it says
            lies[0].told["id"] = source.choice(self.foreign_ids)
        all_visits, all_slots = [*visits.values(), *lies], [*slots.values(), *false.values()]
        source.shuffle(all_visits)
        source.shuffle(all_slots)
        return all_visits, all_slots

    def _judge(self, device: str, visits: list[DeviceItem], slots: list[DeviceItem], answer: WireAnswer) -> None:
        """Each lie must be refused with its code, and nothing else."""
        told = json.loads(answer.body)
        found = {one.get("visit", one.get("slot")): one["code"] for one in told["refused"]}
        expected = {one.told["id"]: one.code for one in visits if one.code}
        expected |= {one.told["slot"]: one.code for one in slots if one.code}
        good = [one.told for one in visits if not one.code], [one.told for one in slots if not one.code]
        if found != expected or told["accepted"] != {"visits": len(good[0]), "coverage": len(good[1])}:
            wrong = {key: (found.get(key), expected.get(key)) for key in {**found, **expected}}
            self.wrong_verdicts.append(str({key: pair for key, pair in wrong.items() if pair[0] != pair[1]})[:300])
        self.accepted.add(device, *good)

    def send_nonsense(self, source: random.Random) -> None:
        """Something that is no batch; nothing of it may be taken, also not of what is right in it."""
        family, send = source.choice(NONSENSE)
        device = HonestDevice(0, self.now_s)
        honest = device.visit(source.randrange(VISITS_OF_A_DEVICE), MOST_REVISIONS + 1)
        send(self.attacker, family, source, honest)


def encode(device: str, visits: list[Json], slots: list[Json]) -> bytes:
    batch = {"device": device, "sent_at": "2026-01-01T00:00:00Z", "visits": visits, "coverage": slots}
    return json.dumps(batch).encode()


Send = Callable[[Attacker, str, random.Random, Json], None]


def _malformed_item(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    wrong: list[Json] = [
        {"id": None},
        {"id": "zz" * 16},
        {"id": "0" * 31},
        {"id": "0" * 33},
        {"revision": "1"},
        {"revision": 1.5},
        {"revision": None},
        {"ended": "yes"},
        {"present": None},
        {"present": [[1, 2, 3]]},
        {"present": [[1]]},
        {"present": [["a", "b"]]},
        {"present": [[2**60, 2**61]]},
        {"present": {"0": 1}},
        {"age": "old"},
        {"age": []},
        {"expression": [0.2] * 4},
        {"expression": [0.2] * 6},
        {"confidence": None},
    ]
    body = encode(str(DEVICES[0]), [honest, honest | {"id": "1" * 32} | source.choice(wrong)], [])
    attacker.post(family, PATH, body, JSON, expected=MALFORMED)


def _malformed_batch(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    right = encode(str(DEVICES[0]), [honest], [])
    body = source.choice(
        [
            *(b"", b"{", b"[]", b"null", b"1", b'{"visits": []}', b'{"device": 5}', b'{"device": "x"}'),
            *(right[:-1], right + b"}", right.replace(b'"revision": 7', b'"revision": NaN'), b"\xff" + right),
            right.replace(b'"confidence": 1', b'"confidence": 1e999'),
            right.replace(b'"confidence": 1', b'"confidence": Infinity'),
            right.replace(b'"visits"', b'"visits": [], "visits"').replace(b'"id"', b'"idd"'),
            b'{"device": "%s", "x": %s' % (str(DEVICES[0]).encode(), b"[" * 30_000),
            encode(str(DEVICES[0]), [{"id": "0" * 32, "revision": 1}] * 501, []),
            encode(str(DEVICES[0]), [], [{"slot": 1, "revision": 1}] * 501),
            encode(str(DEVICES[0]), [], [{"slot": "1", "revision": 1}]),
            encode(str(DEVICES[0]), [], [{"slot": 1, "revision": 1, "blind_s": [1]}]),
        ]
    )
    attacker.post(family, PATH, body, JSON, expected=MALFORMED)


def _many_values(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest | {"present": [[0, 1]] * 30_000}], [])
    attacker.post(family, PATH, zlib.compress(body), JSON, DEFLATED, expected=MALFORMED)


def _bomb(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    right = encode(str(DEVICES[0]), [honest], [])
    sent = source.choice([BOMB, zlib.compress(right + b" " * 1024**2, 9)])
    attacker.post(family, PATH, sent, JSON, DEFLATED, expected=(413,))


def _broken_deflate(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    whole = zlib.compress(encode(str(DEVICES[0]), [honest], []))
    place = source.randrange(2, len(whole))
    damaged = whole[:place] + bytes([whole[place] ^ (1 << source.randrange(8))]) + whole[place + 1 :]
    sent = source.choice([whole[:place], whole + b"x", whole[2:-4], source.randbytes(200), damaged, b""])
    attacker.post(family, PATH, sent, JSON, DEFLATED, expected=MALFORMED)


def _too_large(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest], []) + b" " * 128 * 1024
    attacker.post(family, PATH, body, JSON, expected=(413,))


def _other_encoding(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest], [])
    wrong = source.choice(["gzip", "br", "deflate, deflate", "deflate, gzip", "zstd", "x-deflate"])
    attacker.post(family, PATH, body, JSON, ("Content-Encoding", wrong), expected=(415,))


def _other_type(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest], [])
    kind = source.choice(["", "text/plain", "multipart/form-data; boundary=x", "application/x-ndjson"])
    attacker.post(family, PATH, body, ("Content-Type", kind), expected=(415,))


def _other_place(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest], [])
    path = source.choice(["face_detection/1", "scene_analysis/2", "dummy/1", "scene_analysis/1%00"])
    attacker.post(family, f"/services/{path}/visits", body, JSON, expected=(404,))


def _nobody(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    body = encode(str(DEVICES[0]), [honest], [])
    wrong = source.choice(["Basic eDp5", "Basic ", "Bearer x", f"Basic {uuid.uuid4()}"])
    attacker.post(family, PATH, body, JSON, auth=("Authorization", wrong), expected=(401,))


def _other_method(attacker: Attacker, family: str, source: random.Random, honest: Json) -> None:
    method = source.choice(["GET", "PUT", "DELETE", "PATCH"])
    attacker.send(family, Message(head(method, PATH, [attacker.auth])), expected=(405,))


NONSENSE: list[tuple[str, Send]] = [
    ("malformed items", _malformed_item),
    ("malformed batches", _malformed_batch),
    ("too many values", _many_values),
    ("bombs", _bomb),
    ("broken deflate", _broken_deflate),
    ("too large", _too_large),
    ("other encodings", _other_encoding),
    ("other types", _other_type),
    ("other paths", _other_place),
    ("wrong credentials", _nobody),
    ("other methods", _other_method),
]
