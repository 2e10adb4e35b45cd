"""A month without a line: restarts, crashes and wrong clocks in it; then the device is connected to the product."""

import json
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.lib.clients import OWNER
from bench.lib.product import say
from onlooker_client import Client
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, RecorderOptions
from onlooker_client.device.journal import Journal
from onlooker_client.wire.transport import Transport, basic_authorization
from testkit import Stack, TestStream
from testkit.device_simulation import PERSON_HEX, PlannedPerson, SimulatedClocks, SimulatedSession, plan_people

MEMORY = Path("/dev/shm")
"""A month of writes in a few minutes is too much for a disk, and would measure it."""
DAY_S = 86_400
FRAME_S = 1.0
OUTAGE_S = 600.0
YEARS_S = 2 * 365 * DAY_S
REPEATS = 5
UPLOAD_LIMIT_S = 600.0
WRITTEN_LIMIT_S, STILL_S = 120.0, 10.0
"""How long visits are waited for; where no more came for the second, all are there."""
EDGE_S = 2.0
"""How far a visit's ends may lie from when the person came and left: a frame, and what a crash may cost."""
WATCHED_SHARE = 0.002
"""By how much a day's watched time may differ: the crashes, and minutes at the edges of days that were dated later."""


@dataclass
class FilmedMonth:
    """A device that films planned people by simulated clocks."""

    folder: Path
    people: list[PlannedPerson]
    clocks: SimulatedClocks
    hours: float = 24.0
    """That the place is open each day."""
    watched_s: Counter[str] = field(default_factory=Counter)
    """In truth, by day."""
    disturbed: list[tuple[float, float]] = field(default_factory=list)
    """From when to when in true time the device was off, or lost its process."""
    said: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.journal = Journal(self.folder, warn=self._warn)
        self.clock = DeviceClock(self.clocks)
        self.recorder = DeviceRecorder(self.journal, None, self.clock, RecorderOptions(warn=self._warn))
        self.session = SimulatedSession.resumed(self.people, self.recorder.session_state())

    def film(self, seconds: float) -> None:
        """While the place is open; the rest of the day the camera shows nothing, and time passes."""
        ends_at = self.clocks.true_s() + seconds
        while self.clocks.true_s() < ends_at:
            closed_s = self._closed_s()
            if closed_s:
                self.clocks.advance(min(closed_s, max(FRAME_S, ends_at - self.clocks.true_s())))
                continue
            self._film(round(min(900.0, ends_at - self.clocks.true_s()) / FRAME_S))

    def _closed_s(self) -> float:
        """Until it opens, at midnight; 0 while it is open."""
        of_day_s = self.clocks.true_s() % DAY_S
        return 0.0 if of_day_s < self.hours * 3600 else DAY_S - of_day_s

    def _film(self, frames: int) -> None:
        for beat in range(max(1, frames)):
            if self._closed_s():
                return
            self.clocks.advance(FRAME_S)
            now, true_s = self.clocks.monotonic_s(), self.clocks.true_s()
            at_ms = round(self.clock.stamp(now) * 1000)
            self.recorder.add(self.session.frame(at_ms, round(true_s * 1000), video_s=FRAME_S))
            self.watched_s[_day_of(true_s)] += FRAME_S  # type: ignore[assignment]
            if beat % 5 == 0:
                self.recorder.tick(now)

    def crash(self) -> None:
        """The files as they are at this moment are all there is."""
        copy = self.folder.with_name(f"{self.folder.name}+")
        shutil.copytree(self.folder, copy)
        self.journal.close()
        self.folder = copy
        self.disturbed.append((self.clocks.true_s() - 3, self.clocks.true_s() + 3))
        self.begin()

    def restart(self, *, synchronised: bool) -> None:
        """The machine loses its power for ten minutes; without a time server its clock then begins in 1970."""
        at_s = self.clocks.true_s()
        self.clocks.restart(after_s=OUTAGE_S)
        self.clocks.synchronised = synchronised
        self.clocks.wall_ahead_s = 0.0 if synchronised else -self.clocks.started_at
        self.crash()
        self.disturbed[-1] = (at_s - 3, self.clocks.true_s() + 3)

    def jump(self, ahead_s: float) -> None:
        """Somebody sets the wall clock; the kernel then no longer calls it synchronised."""
        self.clocks.wall_ahead_s, self.clocks.synchronised = ahead_s, False

    def _warn(self, event: str, text: str) -> None:
        self.said[event] += 1
        say(f"  device: {text}")


class RepeatingTransport(Transport):
    """Sends every batch several times, as a line does that loses answers; the last answer counts."""

    repeated = 0

    def request_json(self, method: str, path: str, body: Any = None, **how: Any) -> dict[str, Any]:
        if method == "POST":
            for _ in range(REPEATS - 1):
                super().request_json(method, path, body, **how)
                self.repeated += 1
        return super().request_json(method, path, body, **how)


def plan_month(begins_at: float, ends_at: float, *, hours: float, visits_a_day: int, seed: int) -> list[PlannedPerson]:
    """People come and leave while the place is open."""
    people: list[PlannedPerson] = []
    for day in range(int(begins_at // DAY_S), int(ends_at // DAY_S) + 1):
        opens, closes = max(begins_at, day * DAY_S), min(ends_at, day * DAY_S + hours * 3600)
        if closes - opens > 120:
            share = (closes - opens) / (hours * 3600)
            planned = {"begins_ms": round(opens * 1000) + 2000, "ends_ms": round(closes * 1000) - 2000}
            people += plan_people(round(visits_a_day * share), **planned, seed=seed + day)
    return people


def film_month(folder: Path, *, days: int, hours: float, visits: int, seed: int) -> FilmedMonth:
    """Ends now. Two jumps of the wall clock, a crash, two restarts; after the second the time is not known."""
    began_at = time.time() - days * DAY_S - 2 * OUTAGE_S
    people = plan_month(began_at, time.time() - OUTAGE_S, hours=hours, visits_a_day=visits // days, seed=seed)
    month = FilmedMonth(folder, people, SimulatedClocks(boot=20.0, started_at=began_at - 20.0), hours)
    part_s = days * DAY_S / 6
    month.film(part_s)
    month.jump(YEARS_S)
    month.film(part_s)
    month.jump(-YEARS_S)
    month.crash()
    month.film(part_s)
    month.restart(synchronised=True)
    month.film(part_s)
    month.restart(synchronised=False)
    month.film(2 * part_s)
    month.recorder.flush()
    return month


def connect(month: FilmedMonth, stack: Stack, stream: TestStream) -> dict[str, Any]:
    """Upload all of it, each batch five times; what was sent and how long it took."""
    month.clocks.advance(max(0.0, time.time() - month.clocks.true_s()))
    transport = RepeatingTransport(stack.url, authorization=basic_authorization(*stream.auth), ca_file=stack.ca_file)
    month.recorder.use(transport)
    waiting, began = month.recorder.status(), time.monotonic()
    while not month.recorder.upload():
        if time.monotonic() - began > UPLOAD_LIMIT_S:
            break
        say(f"  {month.recorder.status()['upload_trouble']}")
        time.sleep(1.0)
    transport.close()
    status = month.recorder.status()
    return {
        "waiting_before": waiting["waiting_visits"],
        "undated_before": waiting["undated_visits"],
        "journal_before_bytes": waiting["journal_bytes"],
        "journal_after_bytes": status["journal_bytes"],
        "waiting_after": status["waiting_visits"],
        "dropped": status["dropped"],
        "uploaded_in_s": round(time.monotonic() - began, 1),
        "wire_bytes_per_visit": round(status["sent_bytes"] / max(1, status["sent"].get("visits", 0)), 1),
        "batches_repeated": transport.repeated,
    }


def await_written(stack: Stack, stream: TestStream, count: int) -> list[tuple[str, float, float, bool]]:
    """The stream's visits: id, when they began and ended, and whether they are over."""
    query = (
        "SELECT id, extract(epoch FROM began_at), extract(epoch FROM upper(present)), ended"
        " FROM visits_visit WHERE stream_id = %s"
    )
    give_up_at, known, since = time.monotonic() + WRITTEN_LIMIT_S, -1, 0.0
    while True:
        rows = stack.execute(query, stream.id)
        if len(rows) != known:
            known, since = len(rows), time.monotonic()
        is_still = time.monotonic() - since > STILL_S and rows
        if len(rows) >= count or is_still or time.monotonic() > give_up_at:
            return [(row[0].hex, float(row[1]), float(row[2]), row[3]) for row in rows]
        time.sleep(0.5)


def compare_visits(month: FilmedMonth, written: list[tuple[str, float, float, bool]]) -> dict[str, Any]:
    """Each person once, at their time. Who was there while the device was off may be there twice, or shorter."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for visit_id, began_at, ended_at, _ in written:
        found[visit_id[:PERSON_HEX]].append((began_at, ended_at))
    figures: Counter[str] = Counter(open=sum(not ended for *_, ended in written))
    ids = Counter(visit_id for visit_id, *_ in written)
    figures["twice"] = sum(count > 1 for count in ids.values())
    for person in month.people:
        came, left = person.arrives_ms / 1000, person.leaves_ms / 1000
        if any(came < end and begin < left for begin, end in month.disturbed):
            figures["disturbed"] += 1
            continue
        figures["expected"] += 1
        visits = found.get(person.id, [])
        figures["lost"] += not visits
        figures["doubled"] += len(visits) > 1
        figures["misdated"] += any(abs(begin - came) > EDGE_S or abs(end - left) > EDGE_S for begin, end in visits)
    return dict(figures)


def compare_days(month: FilmedMonth, stack: Stack, stream: TestStream) -> dict[str, Any]:
    """What the data endpoint says of each whole day, against the truth."""
    first = datetime.strptime(min(month.watched_s), "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    came = Counter(_day_of(one.arrives_ms / 1000) for one in month.people)
    disturbed = {_day_of(at) for span in month.disturbed for at in span}
    with Client(
        stack.url,
        *stream.auth,
        ca_file=stack.ca_file,
        username=OWNER,
        console_url=stack.console_url,
        data_url=stack.data_url,
    ) as client:
        buckets = list(client.metrics(("passing_by", "watched"), first, today, time="by_day", tz="UTC"))
    wrong: list[str] = []
    worst = 0.0
    for bucket in buckets:
        day = bucket.start.astimezone(UTC).date().isoformat()
        off = abs(bucket["watched"]["value"] - month.watched_s[day]) / DAY_S
        worst = max(worst, off)
        if off > WATCHED_SHARE:
            wrong.append(f"{day}: watched {bucket['watched']} instead of {month.watched_s[day]}")
        if day not in disturbed and bucket["passing_by"] != came[day]:
            wrong.append(f"{day}: {bucket['passing_by']} people instead of {came[day]}")
    return {"days": len(buckets), "days_wrong": wrong, "watched_worst_share": round(worst, 6)}


def measure_month(stack: Stack, *, days: int, hours: float, visits: int, seed: int) -> dict[str, Any]:
    memory = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="onlooker-month-", dir=memory) as folder:
        month = film_month(Path(folder) / "journal", days=days, hours=hours, visits=visits, seed=seed)
        return _measure(stack, month, days=days)


def _measure(stack: Stack, month: FilmedMonth, *, days: int) -> dict[str, Any]:
    say(f"{days} days filmed: {json.dumps(month.recorder.status())}")
    stream = stack.create_stream()
    stack.execute("UPDATE streams_stream SET created_at = now() - interval '400 days' WHERE id = %s", stream.id)
    sent = connect(month, stack, stream)
    written = await_written(stack, stream, sent["waiting_before"])
    compared = compare_visits(month, written)
    time.sleep(5)  # the roll-up, and the meters
    by_day = compare_days(month, stack, stream)
    month.recorder.close()
    faults = [compared.get(name, 0) for name in ("lost", "doubled", "twice", "misdated", "open")]
    ok = not any(faults) and not by_day["days_wrong"] and not sent["waiting_after"] and not sent["dropped"]
    return {"ok": ok, "simulated_days": days, **sent, "visits_written": len(written), **compared, **by_day}


def _day_of(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).date().isoformat()
