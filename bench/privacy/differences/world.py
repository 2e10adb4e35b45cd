"""A small world to be attacked: who comes when, when it is written, and what an owner changes meanwhile."""

import random
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec

from bench.privacy.differences.fingerprint import CODES, Fingerprints, dress
from onlooker_pipeline.visits.visit import Visit

SLOT_MS = 900_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
FIRST_DAY_MS = round(datetime(2026, 1, 13, tzinfo=UTC).timestamp() * 1000)
LAST_DAY_MS = FIRST_DAY_MS + 5 * DAY_MS
"""Nobody comes from here on."""
ZONES = ("UTC", "Europe/Paris", "America/New_York", "Asia/Kathmandu")
KS = (2, 3, 3, 4, 5, 5, 6)
VISITED_SLOTS = (2, 3, 4, 6, 8)
REVISED_SHARE = 0.2
LATE_SHARE = 0.15
PASSING_AT_MOST = 4
RETENTIONS_DAYS = (3650, 3650, 30, 2)
DEVICE_RETURNS = 5
"""The number of the act in which a device that was offline hands over three days."""
CHANGES_AT_MOST = 3


def draw_clocks(chance: random.Random) -> tuple[int, ...]:
    """The moments of all acts, in unix milliseconds: two days, three days of silence, and long after."""
    hours = (10.5, 14, 19, 25, 39, 98, 101, 26 * 24, 45 * 24)
    return tuple(FIRST_DAY_MS + round(HOUR_MS * (hour + chance.uniform(-1, 1))) for hour in hours)


@dataclass(frozen=True)
class OwnerChange:
    """What an owner does."""

    k: int | None = None
    zone: str | None = None
    deleted_ms: tuple[int, int] | None = None


@dataclass(frozen=True)
class Act:
    """A moment: changes come first, then visits."""

    clock_ms: int
    changes: tuple[OwnerChange, ...]
    visits: tuple[Visit, ...]


@dataclass(frozen=True)
class AttackedWorld:
    """Everything that is drawn of one stream."""

    seed: int
    zone: str
    k: int
    """At first."""
    least_k: int
    """The smallest group that may ever be told of."""
    grid: bool
    device: bool
    watched: bool
    """Its camera's coverage is written down, so that periods can be compared."""
    retention_days: int
    acts: tuple[Act, ...]
    fingerprints: Fingerprints

    def without_changes(self) -> "AttackedWorld":
        """For an attack without blocks: the stream tells singly all the time."""
        acts = tuple(replace(act, changes=tuple(one for one in act.changes if one.k is None)) for act in self.acts)
        return replace(self, acts=acts, grid=False)


def draw_attacked(seed: int, clocks_ms: tuple[int, ...]) -> AttackedWorld:
    chance = random.Random(seed)
    zone, k = chance.choice(ZONES), chance.choice(KS)
    is_device = chance.random() < 0.15
    fingerprints, revisions = _draw_people(chance, zone)
    arrivals: list[list[Visit]] = [[] for _ in clocks_ms]
    for visit in (*revisions, *_draw_passing(chance, revisions)):
        arrivals[_arrival_of(visit, clocks_ms, chance, is_device=is_device)].append(visit)
    changes = _draw_changes(chance, clocks_ms, k)
    acts = tuple(
        Act(clock_ms, tuple(changes[number]), tuple(visits))
        for number, (clock_ms, visits) in enumerate(zip(clocks_ms, arrivals, strict=True))
    )
    later_ks = [one.k for some in changes for one in some if one.k is not None]
    first_k = chance.choice((1, 1, k)) if any(later > 1 for later in later_ks) else k
    return AttackedWorld(
        seed=seed,
        zone=zone,
        k=first_k,
        least_k=min(one for one in (first_k, *later_ks) if one > 1),
        grid=chance.random() < 0.2,
        device=is_device,
        watched=chance.random() < 0.1,
        retention_days=chance.choice(RETENTIONS_DAYS),
        acts=acts,
        fingerprints=fingerprints,
    )


def _draw_people(chance: random.Random, zone: str) -> tuple[Fingerprints, list[Visit]]:
    """Interested people of a few slots; some of them are revised, which takes a code of its own."""
    codes = chance.sample(range(CODES), CODES)
    slots = _draw_slots(chance, zone)
    persons = [0] * CODES
    visits: dict[int, Visit] = {}
    revisions: list[Visit] = []
    person = 0
    wanted = chance.randint(4, CODES)
    while len(codes) > CODES - wanted:
        person += 1
        begins_ms = chance.choice(slots) + chance.choice((0, SLOT_MS - 1000, chance.randrange(SLOT_MS)))
        is_revised = len(codes) > 1 and chance.random() < REVISED_SHARE
        for revision in (1, 2) if is_revised else (1,):
            code = codes.pop()
            blank = _blank(chance, person, begins_ms, revision=revision, ended=revision == 2 or not is_revised)
            visits[code], persons[code] = dress(blank, code, chance), person
            revisions.append(visits[code])
    return Fingerprints(visits, persons), revisions


def _draw_slots(chance: random.Random, zone: str) -> list[int]:
    """In opening hours of few days, often next to one another."""
    found: list[int] = []
    for day in range(chance.choice((1, 2, 2, 3))):
        local = datetime(2026, 1, 13 + day, chance.choice((0, 9, 12, 18, 22)), tzinfo=ZoneInfo(zone))
        first_ms = round(local.timestamp() * 1000)
        found += [first_ms + SLOT_MS * chance.randrange(10) for _ in range(chance.choice(VISITED_SLOTS))]
    return found


def _blank(chance: random.Random, person: int, begins_ms: int, *, revision: int, ended: bool) -> Visit:
    return Visit(
        id=uuid.UUID(int=person).bytes,
        stream_id=0,
        session="attacked",
        revision=revision,
        ended=ended,
        present=[(begins_ms, begins_ms + 1000 + chance.randrange(3000))],
        still=[],
        looking=[],
    )


def _draw_passing(chance: random.Random, revisions: list[Visit]) -> list[Visit]:
    """People who go by beside them; some of their visits never end."""
    return [
        _blank(
            chance,
            1000 + number,
            chance.choice(revisions).began_ms + chance.randrange(-SLOT_MS, SLOT_MS),
            revision=1,
            ended=chance.random() < 0.8,
        )
        for number in range(chance.randrange(PASSING_AT_MOST + 1))
    ]


def _arrival_of(visit: Visit, clocks_ms: tuple[int, ...], chance: random.Random, *, is_device: bool) -> int:
    """The act in which it is written: the first after it, a later one, or when the device is back."""
    ends_ms = visit.present[-1][1]
    first = next(number for number, clock_ms in enumerate(clocks_ms) if clock_ms >= ends_ms)
    if is_device:
        first = max(first, DEVICE_RETURNS)
    is_late = visit.revision > 1 or chance.random() < LATE_SHARE
    last = len(clocks_ms) - 1
    return chance.randint(first, last) if is_late else first


def _draw_changes(chance: random.Random, clocks_ms: tuple[int, ...], k: int) -> list[list[OwnerChange]]:
    """By act; none in most worlds."""
    changes: list[list[OwnerChange]] = [[] for _ in clocks_ms]
    for _ in range(chance.choice((0, 0, 0, 1, 2, CHANGES_AT_MOST))):
        begins_ms = FIRST_DAY_MS + chance.randrange(3 * 96) * SLOT_MS
        change = chance.choice(
            (
                OwnerChange(k=chance.choice((1, 1, k, k, *KS))),
                OwnerChange(zone=chance.choice(ZONES)),
                OwnerChange(deleted_ms=(begins_ms, begins_ms + chance.randint(1, 96) * SLOT_MS)),
            )
        )
        changes[chance.randrange(1, len(clocks_ms))].append(change)
    return changes


def twin_of(visit: Visit, shift_ms: int) -> Visit:
    """The same person at other moments of the same slots."""
    moved = {
        name: [(start + shift_ms, end + shift_ms) for start, end in getattr(visit, name)]
        for name in ("present", "still", "looking")
    }
    return msgspec.structs.replace(visit, **moved)


def draw_shift(revisions: list[Visit], chance: random.Random) -> int:
    """By how much all revisions of a visit can be moved, so that they begin and end in the same slots as before."""
    edges = [edge for one in revisions for edge in (one.present[0][0], one.present[-1][1] - 1)]
    return chance.randint(max(-(edge % SLOT_MS) for edge in edges), min(SLOT_MS - 1 - edge % SLOT_MS for edge in edges))
