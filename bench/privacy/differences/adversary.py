"""The adversary: which ranges they ask for next, and what they know from the answers."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bench.privacy.differences.fingerprint import METRICS, Fingerprints, Unexplained
from bench.privacy.differences.linear_system import AnswerSystem
from bench.privacy.differences.world import DAY_MS, FIRST_DAY_MS, LAST_DAY_MS, SLOT_MS
from onlooker.metrics.definitions import WEEK_METRICS
from onlooker.metrics.dimensions import DIMENSIONS

ZONES = ("UTC", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla")
"""Their hours begin with every slot of an hour."""
SLOTS = {"by_hour": 4, "by_quarter_hour": 1}
"""Of a bucket."""
BESIDE_MS = (0, 0, 0, 1, -1, 1000, -1000, 450_000, SLOT_MS, -SLOT_MS)
AROUND_MS = DAY_MS
FAR_MS = round(datetime(2099, 1, 1, tzinfo=UTC).timestamp() * 1000)
"""A range up to here reaches to now: it tells who is in view."""
QUALITY_SHARE = 0.3
"""Of questions that also ask how well people could be read."""
FIRST_MONDAY, SECOND_MONDAY, LATER_DAY = "2026-01-12T00:00:00", "2026-01-19T00:00:00", "2026-01-20T00:00:00"
"""The week in which everybody comes, on any clock."""
WEEK_BY = ("age", "gender")
Parameters = dict[str, str]


@dataclass
class Adversary:
    """Knows all tokens of a stream, remembers every answer, and asks next where people were."""

    chance: random.Random
    fingerprints: Fingerprints
    watched: bool
    asked: list[Parameters] = field(default_factory=list)
    slots_ms: set[int] = field(default_factory=set)
    """Edges of slots around moments at which somebody was there."""
    rows: list[int] = field(default_factory=list)
    grouped_rows: list[int] = field(default_factory=list)
    """The rows of answers since groups were last asked for."""
    week_rows: set[int] = field(default_factory=set)
    """The rows of cells of weeks, of all times: they cut blocks, but no sum of them and blocks may be about few."""
    told: int = 0
    """Codes that were ever told of in groups."""
    exposed: int = 0
    """Codes that were told singly while the owner wanted no groups."""
    unexplained: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    """Answers that tell how many people look now, of a stream that tells of groups."""

    def choose(self, count: int) -> list[Parameters]:
        """Everything at first; then buckets of all lengths, ranges around people, and what was asked before."""
        ways = [self._hours, self._quarter_hours, self._range, self._range, self._days, self._weeks, self._repeated]
        chosen = [self._everything(), *(self.chance.choice(ways)() for _ in range(count - 1))]
        self.asked += chosen
        return chosen

    def learn(self, parameters: Parameters, body: Mapping[str, Any], *, k: int) -> None:
        """`k`: as the stream has it at this moment."""
        slots = SLOTS.get(parameters["time"], 0)
        for key, bucket in body["entities"].items():
            if slots and bucket["interested"]["value"]:
                begins_ms = round(datetime.fromisoformat(key).timestamp() * 1000)
                self.slots_ms.update(begins_ms + SLOT_MS * number for number in range(slots + 1))
            self._take(bucket, parameters, k=k)
            if k > 1 and bucket["in_view"]["looking"] is not None:
                self.looks.append(f"{parameters} tells that {bucket['in_view']['looking']} look now")
        for period in ("now", "before"):
            for compared in filter(None, [body.get("comparison", {}).get("metrics")]):
                self._take(_period_of(compared, period), parameters, k=k)

    def _take(self, bucket: Mapping[str, Any], parameters: Parameters, *, k: int) -> None:
        try:
            row = self.fingerprints.read(bucket)
        except Unexplained:
            if k > 1:
                self.unexplained.append(f"{parameters} told {dict(bucket)}")
            return
        self.rows.append(row)
        if k > 1:
            self.grouped_rows.append(row)
            self.told |= row

    def choose_of_weeks(self) -> list[Parameters]:
        """All that a week is told by, and what else could be; in the stream's own time zone."""
        week = {"from_date": FIRST_MONDAY, "to_date": SECOND_MONDAY, "metrics": ",".join(WEEK_METRICS)}
        parts = [f"{name}:{part}" for name in WEEK_BY for part in DIMENSIONS[name].parts]
        some = self.chance.sample(parts, self.chance.choice((1, 2)))
        return [
            *(week | {"by": by} for by in ("age,gender", "age", "gender")),
            week | {"filter": ",".join(some)},
            week | {"by": "gender", "filter": some[0], "time": "by_week"},
            week | {"by": self.chance.choice(("weekday", "age,emotion", "stop_band"))},
            week | {"by": "gender", "to_date": LATER_DAY},
        ]

    def learn_cells(self, parameters: Parameters, body: Mapping[str, Any]) -> None:
        """Of a bucket and of its cells; who is told of singly is known anyway."""
        for bucket in body["entities"].values():
            for cell in (bucket, *bucket.get("cells", ())):
                try:
                    self.week_rows.add(self.fingerprints.read_cell(cell))
                except Unexplained:
                    self.unexplained.append(f"{parameters} told {dict(cell)}")

    def begin_groups(self) -> None:
        """Groups are wanted from now on: an adversary who asks from now on alone is another one."""
        self.grouped_rows.clear()

    def find_small(self, k: int) -> tuple[frozenset[int] | None, bool]:
        """Fewer than k persons about whom a sum is known, and whether any answers differ by fewer."""
        persons = self.fingerprints.persons
        pasts = [(self.rows, self.exposed), *([(self.grouped_rows, 0)] if self.exposed else [])]
        of_blocks = [AnswerSystem(rows, persons, known=known) for rows, known in pasts]
        systems = [AnswerSystem([*rows, *self.week_rows], persons, known=known) for rows, known in pasts]
        found = [system.find_sum(k) for system in (*of_blocks, *systems)]
        return next(filter(None, found), None), any(system.small_atoms(k) for system in of_blocks)

    def _everything(self) -> Parameters:
        """And who is there now; there is no such time before, to compare with."""
        asked = self.ask(FIRST_DAY_MS - AROUND_MS, FAR_MS, "global")
        return {name: value for name, value in asked.items() if name != "compare"}

    def _hours(self) -> Parameters:
        begins_ms = self.chance.choice(sorted(self.slots_ms)) if self.slots_ms else self._any_day()
        length_ms = self.chance.choice((DAY_MS, DAY_MS, 3 * DAY_MS))  # the last has two pages
        return self.ask(begins_ms - self.chance.randrange(40) * SLOT_MS, begins_ms + length_ms, "by_hour")

    def _quarter_hours(self) -> Parameters:
        """Around somebody: each begins with a slot, and the first and last are cut anywhere."""
        around_ms = self.chance.choice(sorted(self.slots_ms)) if self.slots_ms else self._any_day()
        begins_ms = around_ms - self.chance.randrange(20) * SLOT_MS + self.chance.choice(BESIDE_MS)
        length_ms = self.chance.choice((10, 40, 90)) * SLOT_MS  # the last has two pages
        return self.ask(begins_ms, begins_ms + length_ms + self.chance.choice(BESIDE_MS), "by_quarter_hour")

    def _days(self) -> Parameters:
        return self.ask(FIRST_DAY_MS - AROUND_MS, LAST_DAY_MS + self.chance.choice(BESIDE_MS), "by_day")

    def _weeks(self) -> Parameters:
        """Or months, from any slot with somebody on, or from long before."""
        begins_ms = self.chance.choice((FIRST_DAY_MS - 40 * DAY_MS, *sorted(self.slots_ms)))
        ends_ms = LAST_DAY_MS + AROUND_MS + self.chance.choice(BESIDE_MS)
        return self.ask(begins_ms + self.chance.choice(BESIDE_MS), ends_ms, self.chance.choice(("by_week", "by_month")))

    def _range(self) -> Parameters:
        """From one edge to another, or from a moment beside it: two such ranges often differ by one person."""
        if not self.slots_ms:
            return self._hours()
        edges = sorted(self.slots_ms)
        one, other = (self.chance.choice((*edges, FIRST_DAY_MS, LAST_DAY_MS)) for _ in range(2))
        begins_ms, ends_ms = min(one, other), max(one, other)
        begins_ms += self.chance.choice(BESIDE_MS)
        ends_ms += self.chance.choice(BESIDE_MS)
        return self.ask(begins_ms, max(begins_ms + 1, ends_ms), "global")

    def _repeated(self) -> Parameters:
        return self.chance.choice(self.asked) if self.asked else self._days()

    def _any_day(self) -> int:
        return FIRST_DAY_MS + DAY_MS * self.chance.randrange(4)

    def ask(self, from_ms: int, to_ms: int, time: str) -> Parameters:
        more = ("in_view", "quality") if self.chance.random() < QUALITY_SHARE else ("in_view",)
        parameters = {
            "metrics": ",".join((*METRICS, *more)),
            "from_date": _written(from_ms),
            "to_date": _written(to_ms),
            "time": time,
            "tz": self.chance.choice(ZONES),
        }
        is_compared = self.watched and time == "global" and self.chance.random() < 0.5
        return parameters | ({"compare": "previous"} if is_compared else {})


def _written(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def _period_of(metrics: Mapping[str, Mapping[str, Mapping[str, Any]]], period: str) -> dict[str, dict[str, Any]]:
    """One side of a comparison, as a bucket."""
    return {name: {part: change[period] for part, change in parts.items()} for name, parts in metrics.items()}
