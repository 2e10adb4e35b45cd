"""A device without a camera: clocks that a test sets, and a session that follows people who come and go by a plan."""

import hashlib
import json
import random
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.device.computed_frame import ComputedFrame, FrameQualityCounts

SHORTEST_MS = 1_000
PUBLISHED_EVERY_MS = 5_000
STATE_EVERY_MS = 1_000
LOST_AFTER_MS = 5_000
"""Without frames for so long, who is there now is followed under a new id."""
PERSON_HEX = 24


@dataclass
class SimulatedClocks:
    """The clocks of a machine, as `DeviceClock` reads them."""

    boot: float = 10.0
    """Seconds since the machine started."""
    started_at: float = 0.0
    """Unix time of that, in truth."""
    wall_ahead_s: float = 0.0
    """How far the wall clock is ahead of the truth."""
    synchronised: bool = True
    battery: float | None = None
    name: str = "boot-1"

    def monotonic_s(self) -> float:
        return self.boot

    def boot_s(self) -> float:
        return self.boot

    def true_s(self) -> float:
        return self.started_at + self.boot

    def wall_s(self) -> float:
        return self.true_s() + self.wall_ahead_s

    def is_synchronised(self) -> bool:
        return self.synchronised

    def battery_s(self) -> float | None:
        return self.battery

    def boot_id(self) -> str:
        return self.name

    def advance(self, seconds: float) -> None:
        self.boot += seconds

    def restart(self, *, after_s: float) -> None:
        """The machine was off for so long, and has just started."""
        self.started_at = self.true_s() + after_s
        self.boot = 5.0
        self.name = f"boot-{int(self.name.rpartition('-')[2]) + 1}"


@dataclass(frozen=True)
class PlannedPerson:
    """Somebody who comes and leaves at moments of true time."""

    id: str
    """The first hex digits of the ids of their visits."""
    arrives_ms: int
    leaves_ms: int


def plan_people(count: int, *, begins_ms: int, ends_ms: int, seed: int) -> list[PlannedPerson]:
    """Stays of 3 to 40 seconds, at any moments, sorted by arrival."""
    chance = random.Random(seed)  # noqa: S311 (a plan)
    people = []
    for number in range(count):
        arrives_ms = chance.randrange(begins_ms, max(begins_ms + 1, ends_ms - 45_000))
        person = hashlib.sha256(f"{seed}-{number}".encode()).hexdigest()[:PERSON_HEX]
        people.append(PlannedPerson(person, arrives_ms, arrives_ms + chance.randrange(3_000, 40_000)))
    return sorted(people, key=lambda one: one.arrives_ms)


@dataclass
class SimulatedSession:
    """Follows planned people as `scene_analysis` does: visits with revisions, and a state to go on from."""

    people: list[PlannedPerson]
    followed: dict[str, dict[str, int]] = field(default_factory=dict)
    last_ms: int | None = None
    stated_ms: int = -STATE_EVERY_MS
    _next: int = 0
    _near: list[PlannedPerson] = field(default_factory=list)

    @classmethod
    def resumed(cls, people: list[PlannedPerson], state: bytes | None) -> "SimulatedSession":
        said: dict[str, Any] = json.loads(state) if state else {"followed": {}, "last_ms": None}
        return cls(people, said["followed"], said["last_ms"])

    def frame(self, at_ms: int, true_ms: int, *, video_s: float = 0.2) -> ComputedFrame:
        """Who is there is a matter of the true time; what is said of it, of the stamp."""
        visits: list[dict[str, Any]] = []
        if self.last_ms is not None and at_ms - self.last_ms > LOST_AFTER_MS:
            visits += self._end(set(self.followed))
        present = {one.id for one in self._present(true_ms)}
        visits += self._end({visit_id for visit_id in self.followed if visit_id[:PERSON_HEX] not in present})
        visits += self._follow(present, at_ms)
        self.last_ms = at_ms
        state = None
        if at_ms - self.stated_ms >= STATE_EVERY_MS or any(visit["ended"] for visit in visits):
            self.stated_ms = at_ms
            state = json.dumps({"followed": self.followed, "last_ms": at_ms}).encode()
        quality = FrameQualityCounts(face_bins=[5] * len(present), models="simulated", pipeline="1")
        entities: dict[str, Any] = {visit_id: {} for visit_id in self.followed}
        return ComputedFrame(at_ms, {"entities": entities}, visits, video_s, quality=quality, state=state)

    def _present(self, true_ms: int) -> list[PlannedPerson]:
        while self._next < len(self.people) and self.people[self._next].arrives_ms <= true_ms:
            self._near.append(self.people[self._next])
            self._next += 1
        self._near = [one for one in self._near if true_ms < one.leaves_ms]
        return self._near

    def _follow(self, present: set[str], at_ms: int) -> list[dict[str, Any]]:
        by_person = {visit_id[:PERSON_HEX]: visit_id for visit_id in self.followed}
        visits = []
        for person in sorted(present):
            visit_id = by_person.get(person) or f"{person}{at_ms // 100 % 16**8:08x}"
            one = self.followed.setdefault(visit_id, {"began": at_ms, "last": at_ms, "revision": 0, "said": 0})
            one["last"] = at_ms
            is_new = not one["revision"] and at_ms - one["began"] >= SHORTEST_MS
            if is_new or (one["revision"] and at_ms - one["said"] >= PUBLISHED_EVERY_MS):
                one["said"] = at_ms
                visits.append(self._said(visit_id, ended=False))
        return visits

    def _end(self, gone: set[str]) -> list[dict[str, Any]]:
        ended = [self._said(visit_id, ended=True) for visit_id in sorted(gone)]
        for visit_id in gone:
            del self.followed[visit_id]
        return [visit for visit in ended if visit["present"][0][1] - visit["present"][0][0] >= SHORTEST_MS]

    def _said(self, visit_id: str, *, ended: bool) -> dict[str, Any]:
        one = self.followed[visit_id]
        one["revision"] += 1
        present = [[one["began"], one["last"] + 200]]
        return {
            "id": visit_id,
            "revision": one["revision"],
            "ended": ended,
            "present": present,
            "still": present,
            "looking": [],
            "age": 30.0,
            "age_confidence": 0.8,
            "gender": "female",
            "gender_confidence": 0.9,
            "expression": None,
            "confidence": 0.95,
        }
