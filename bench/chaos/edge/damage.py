"""Torn journals: bytes flipped, files cut, logs cut, nonsense; what was torn may be lost, and nothing else."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.lib.product import say
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder
from onlooker_client.device.journal import Journal
from testkit.device_simulation import SimulatedClocks, SimulatedSession, plan_people
from testkit.visit_server import VisitServer

NOON = 1_790_000_100.0
PEOPLE = 60
FILM_S = 300
FRAME_S = 0.2


class TornDevice:
    """Films in front of a server in memory; its files may be changed between two lives."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        began_ms = round(NOON * 1000)
        self.people = plan_people(PEOPLE, begins_ms=began_ms, ends_ms=began_ms + FILM_S * 1800, seed=seed)
        self.clocks = SimulatedClocks(started_at=NOON - 10)
        self.server = VisitServer(self.clocks.true_s)
        self.ended: dict[str, float] = {}
        """When each visit ended that the device had told of."""
        self.told: Counter[str] = Counter()
        self.begin()

    def begin(self) -> None:
        self.journal = Journal(self.folder, warn=lambda event, _: self.told.update([event]))
        self.clock = DeviceClock(self.clocks)
        self.recorder = DeviceRecorder(self.journal, self.server, self.clock)  # type: ignore[arg-type]
        self.session = SimulatedSession.resumed(self.people, self.recorder.session_state())

    def film(self, seconds: float) -> None:
        for beat in range(round(seconds / FRAME_S)):
            self.clocks.advance(FRAME_S)
            now = self.clocks.monotonic_s()
            frame = self.session.frame(round(self.clock.stamp(now) * 1000), round(self.clocks.true_s() * 1000))
            self.ended |= {visit["id"]: self.clocks.true_s() for visit in frame.visits if visit["ended"]}
            self.recorder.add(frame)
            if beat % 5 == 0:
                self.recorder.tick(now)


def flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randrange(1, 40)):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def blot(content: bytes, chance: random.Random) -> bytes:
    """A page that was never written."""
    at = chance.randrange(max(1, len(content) // 4096)) * 4096
    return content[:at] + bytes(4096) + content[at + 4096 :]


def replace(content: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(content))


TEARS: tuple[Callable[[bytes, random.Random], bytes], ...] = (flip, cut, blot, replace)


def tear_once(seed: int) -> Counter[str]:
    """One device, torn once in the middle; what became of its visits."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        device = TornDevice(Path(folder) / "journal", seed)
        device.film(FILM_S / 3)
        device.recorder.upload()
        device.film(FILM_S * 2 / 3)
        files = {path: path.read_bytes() for path in device.folder.iterdir() if path.name.startswith("journal.db")}
        torn_at = device.clocks.true_s()
        before = {visit_id for visit_id in device.ended if device.ended[visit_id] <= torn_at}
        device.journal.close()
        name = chance.choice(["journal.db", "journal.db-wal"])
        for path, content in files.items():
            path.write_bytes(chance.choice(TEARS)(content, chance) if path.name == name and content else content)
        device.begin()
        device.film(FILM_S * 0.9 + 60)
        for _ in range(3):
            device.recorder.upload()
        return _judge(device, before, torn_at)


def _judge(device: TornDevice, before: set[str], torn_at: float) -> Counter[str]:
    arrived = Counter(visit_id for _, visit_id in device.server.visits)
    later = {visit_id for visit_id, at in device.ended.items() if at > torn_at + 45}
    wrong = sum(visit["age"] != 30.0 or visit["present"] != visit["still"] for visit in device.server.visits.values())
    status = device.recorder.status()
    return Counter(
        trials=1,
        lost_torn=len(before - arrived.keys()),
        lost_later=len(later - arrived.keys()),
        doubled=sum(count > 1 for count in arrived.values()),
        wrong=wrong,
        stuck=int(status["journal_trouble"] is not None or status["waiting_visits"] > 0),
        damages_told=int(bool(device.told["journal_damaged"])),
        unsaid=int(bool(before - arrived.keys()) and not device.told["journal_damaged"] and not status["dropped"]),
    )


def measure_damage(*, trials: int, seed: int) -> dict[str, Any]:
    sums: Counter[str] = Counter()
    for number in range(trials):
        sums += tear_once(seed + number)
        if (number + 1) % 20 == 0:
            say(f"  {number + 1} of {trials} journals torn: {dict(sums)}")
    names = ("lost_later", "doubled", "wrong", "stuck")
    return {
        "ok": not any(sums[name] for name in names),
        **{name: sums[name] for name in (*names, "trials")},
        "lost_of_what_was_torn": sums["lost_torn"],
        "damages_told": sums["damages_told"],
        "unsaid": sums["unsaid"],
    }
