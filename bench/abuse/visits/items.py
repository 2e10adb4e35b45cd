"""Visits and slots as honest and as lying devices tell them, each with what must become of it."""

import random
import uuid
from dataclasses import dataclass
from typing import Any

SLOT_S = 900
DAY_S = 86_400
DEVICES = tuple(uuid.UUID(int=0xDE71CE << 64 | number) for number in range(3))
VISITS_OF_A_DEVICE = 700
SLOTS_OF_A_DEVICE = 400
MOST_REVISIONS = 6
FAULTS = ("black", "covered", "dark", "overexposed", "blurred", "frozen", "moved")
REASONS = ("journal_full", "clock_unknown", "compute_busy", "bad_image")
Json = dict[str, Any]


@dataclass(frozen=True)
class DeviceItem:
    """A visit or a slot, and the code with which it must be refused; none: it must be taken."""

    told: Json
    code: str = ""


@dataclass(frozen=True)
class HonestDevice:
    """Tells the same of an id and a revision each time; sums of a slot grow from revision to revision."""

    number: int
    now_s: int
    """When the run began: everything it tells lies well before."""

    @property
    def id(self) -> str:
        return str(DEVICES[self.number])

    def visit(self, place: int, revision: int) -> Json:
        whose = random.Random(f"visit {self.number} {place}")
        name = whose.randbytes(16).hex()
        began_ms = (self.now_s - whose.randrange(3600, 30 * DAY_S)) * 1000 + whose.randrange(1000)
        chance = random.Random(f"{name} {revision}")
        length_ms = 2000 + 1000 * revision
        present = [[began_ms, began_ms + length_ms]]
        if chance.random() < 0.5:
            present.append([began_ms + length_ms + 500, began_ms + length_ms + 1500])
        return {
            "id": name,
            "revision": revision,
            "ended": chance.random() < 0.5,
            "present": present,
            "still": [[began_ms + 100, began_ms + 900]] if chance.random() < 0.5 else [],
            "looking": [[began_ms, began_ms + 1500]] if chance.random() < 0.5 else [],
            "age": chance.choice([None, 0, 33.5, 150]),
            "age_confidence": chance.choice([0, 0.25, 1]),
            "gender": chance.choice([None, "male", "female"]),
            "gender_confidence": 0.5,
            "expression": chance.choice([None, [0.5, 0.25, 0.25, 0, 0]]),
            "confidence": 1,
        }

    def slot(self, place: int, revision: int) -> Json:
        whose = random.Random(f"slot {self.number} {place}")
        number = self.now_s // SLOT_S - 8 - 7 * place - whose.randrange(7)
        fault, reason = whose.choice(FAULTS), whose.choice(REASONS)
        frames = 100 * revision
        return {
            "slot": number,
            "revision": revision,
            "watched_s": 120.5 * revision,
            "blind_s": {fault: 2.25 * revision},
            "refused": {reason: revision},
            "quality": [
                {
                    "models": "1.0",
                    "pipeline": whose.choice(["1.0", "1.1"]),
                    "frames": frames,
                    "video_s": 120.5 * revision,
                    "dark_frames": revision,
                    "face_frames": 2 * revision,
                    "face_video_s": 0.5 * revision,
                    "faces": [revision, *([0] * 15)],
                }
            ],
        }


def hostile_visit(source: random.Random, now_s: int) -> DeviceItem:
    """A visit that nobody can have made, with an id that no honest device uses."""
    now_ms = now_s * 1000
    a, b = now_ms - 60_000, now_ms - 50_000
    right: Json = {"id": source.randbytes(16).hex(), "revision": 1, "ended": True, "present": [[a, b]]}
    lies: list[tuple[Json, str]] = [
        *(({"revision": number}, "bad_value") for number in (0, -1, 2**31, 2**62)),
        *(({"age": age}, "bad_value") for age in (-0.1, 150.1, 1e300)),
        *(({name: 1.0001}, "bad_value") for name in ("age_confidence", "gender_confidence", "confidence")),
        *(({name: -1e-9}, "bad_value") for name in ("age_confidence", "gender_confidence", "confidence")),
        *(({"gender": text}, "bad_value") for text in ("", "MALE", "x' OR 1=1 --", "\0")),
        ({"expression": [0.5, 0.5, 0.5, 0.5, 1.5]}, "bad_value"),
        *(({"present": pairs}, "bad_intervals") for pairs in ([], [[b, a]], [[a, a]], [[a, b], [b, b + 9]])),
        ({"present": [[a, b], [a + 5, b + 5]]}, "bad_intervals"),
        ({"present": [[b, b + 5], [a, a + 5]]}, "bad_intervals"),
        ({"present": [[a + 4 * n, a + 4 * n + 2] for n in range(258)]}, "bad_intervals"),
        *(({name: [[a - 1, b]]}, "bad_intervals") for name in ("still", "looking")),
        *(({name: [[a, b + 1]]}, "bad_intervals") for name in ("still", "looking")),
        ({"present": [[now_ms - DAY_S * 1000 - 10_000, now_ms]]}, "too_long"),
        ({"present": [[-(2**53), 2**53]]}, "too_long"),
        ({"present": [[a, now_ms + DAY_S * 500]]}, "in_future"),
        ({"present": [[2**53 - 5, 2**53]]}, "in_future"),
        *(({"present": [[old, old + 5000]]}, "too_old") for old in (0, 1000, now_ms - 367 * DAY_S * 1000)),
        ({"present": [[-5000, -1000]]}, "too_old"),
    ]
    changes, code = source.choice(lies)
    return DeviceItem(right | changes, code)


def hostile_slot(source: random.Random, now_s: int) -> DeviceItem:
    """What no device can have watched. It lies in an odd slot of its own, so that a batch names no slot twice."""
    number = now_s // SLOT_S - 10_000 - source.randrange(10_000)
    right: Json = {"slot": number, "revision": 1, "watched_s": 10}
    quality = {"models": "1", "pipeline": "1", "frames": 10, "video_s": 2}
    lies: list[tuple[Json, str]] = [
        *(({"revision": wrong}, "bad_value") for wrong in (0, -1, 2**31)),
        *(({"watched_s": wrong}, "bad_value") for wrong in (-0.001, 1801, 1e308)),
        *(({"blind_s": wrong}, "bad_value") for wrong in ({"night": 1}, {"dark": -1}, {"dark": 1e9}, {"\0": 1})),
        *(({"refused": wrong}, "bad_value") for wrong in ({"failed": -1}, {"failed": 10**9})),
        ({"refused": {f"reason {n}": 1 for n in range(40)}}, "bad_value"),
        *(
            ({"quality": [quality | wrong]}, "bad_value")
            for wrong in (
                {"models": "\0"},
                {"models": "x" * 41},
                {"frames": -1},
                {"frames": 10**9},
                {"dark_frames": 11},
                {"face_frames": 11},
                {"face_video_s": 3},
                {"faces": [1] * 15},
                {"faces": [2001] + [0] * 15},
                {"faces": [-1] + [0] * 15},
            )
        ),
        ({"quality": [quality, quality]}, "bad_value"),
        ({"quality": [quality | {"models": str(n)} for n in range(5)]}, "bad_value"),
        *(({"slot": wrong}, "too_old") for wrong in (0, -1, -(2**53), now_s // SLOT_S - 367 * 96)),
        *(({"slot": wrong}, "in_future") for wrong in (2**53, now_s // SLOT_S + 50)),
    ]
    changes, code = source.choice(lies)
    return DeviceItem(right | changes, code)
