"""The present of the demo: people come and go, and their visits are published the way a worker does."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

import msgspec

from onlooker.bus.connection import Bus, BusError, connect, publish_kept
from onlooker.bus.subjects import visits_subject
from onlooker.database import open_pool
from onlooker.demo.history import DemoStream
from onlooker.demo.people import draw_visit
from onlooker.settings import Settings
from onlooker.streams.coverage import CoverageMeter
from onlooker.streams.usage import UsageMeter
from onlooker_pipeline.visits.visit import Interval, Visit, encode_visit

TICK_S = 1.0
LONGEST_TICK_S = 5.0
"""A machine that was asleep saw nobody meanwhile."""
PUBLISH_EVERY_MS = 5_000
"""As often as a worker publishes an open visit."""
LIVELY_EVERY_S = 40.0
"""At the first place somebody comes about this often even at night, so that there is something to see."""


@dataclass
class Someone:
    """A person in view: the whole visit, and how much of it was published."""

    visit: Visit
    revision: int = 0
    published_ms: int = 0


@dataclass
class Scene:
    """The people in front of one camera."""

    stream: DemoStream
    random: Random
    least_a_second: float = 0.0
    is_expected: bool = False
    """Whether somebody arrives at once."""
    people: list[Someone] = field(default_factory=list)

    def pass_time(self, now_ms: int, tick_s: float) -> Iterator[Visit]:
        """Let people come and go, and yield the visits to publish."""
        if self.is_expected or self.random.random() < self._rate(now_ms) * tick_s:
            self.is_expected = False
            visit = draw_visit(self.stream.place.crowd, now_ms, self.random)
            own = msgspec.structs.replace(visit, stream_id=self.stream.id, session=self.stream.session)
            self.people.append(Someone(own))
        for one in self.people:
            if now_ms >= one.visit.present[-1][1]:
                yield self._publish_part(one, now_ms, ended=True)
            elif now_ms - one.published_ms >= PUBLISH_EVERY_MS and now_ms - one.visit.began_ms >= 1000:
                yield self._publish_part(one, now_ms, ended=False)
        self.people = [one for one in self.people if now_ms < one.visit.present[-1][1]]

    def end(self, now_ms: int) -> Iterator[Visit]:
        """End the visits of everybody in view."""
        seen = [one for one in self.people if one.visit.began_ms < now_ms]
        yield from (self._publish_part(one, now_ms, ended=True) for one in seen)

    def _rate(self, now_ms: int) -> float:
        """People a second."""
        place = self.stream.place
        local = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(ZoneInfo(place.zone))
        return max(place.people_a_day * place.busyness(local.date(), local.hour) / 3600, self.least_a_second)

    def _publish_part(self, one: Someone, now_ms: int, *, ended: bool) -> Visit:
        one.revision, one.published_ms = one.revision + 1, now_ms
        return cut_visit(one.visit, now_ms, revision=one.revision, ended=ended)


def cut_visit(visit: Visit, at_ms: int, *, revision: int, ended: bool) -> Visit:
    """What is known about a visit at a moment."""
    return msgspec.structs.replace(
        visit,
        revision=revision,
        ended=ended,
        present=_cut(visit.present, at_ms),
        still=_cut(visit.still, at_ms),
        looking=_cut(visit.looking, at_ms),
    )


def _cut(intervals: Sequence[Interval], at_ms: int) -> list[Interval]:
    return [(begin, min(end, at_ms)) for begin, end in intervals if begin < at_ms]


def open_scenes(streams: Sequence[DemoStream]) -> list[Scene]:
    """At the first place there is something to see at any hour."""
    least = [1 / LIVELY_EVERY_S] + [0.0] * len(streams)
    return [Scene(stream, Random(), rate, rate > 0) for stream, rate in zip(streams, least, strict=False)]  # noqa: S311


async def live(settings: Settings, streams: Sequence[DemoStream]) -> None:
    """Run until cancelled. The settings have a worker's role on the bus."""
    bus = await connect(settings, name="demo")
    async with open_pool(settings) as pool:
        coverage, usage = CoverageMeter(pool), UsageMeter(pool)
        scenes, before = open_scenes(streams), time.time()
        try:
            while True:
                await asyncio.sleep(TICK_S)
                now = time.time()
                tick_s = min(now - before, LONGEST_TICK_S)
                for scene in scenes:
                    coverage.add_computed(scene.stream.id, tick_s, at=now)
                    usage.add(scene.stream.id, tick_s)
                    await _publish(bus, scene.pass_time(int(now * 1000), tick_s))
                await coverage.flush()
                await usage.flush()
                before = now
        finally:
            for scene in scenes:
                await _publish(bus, scene.end(int(time.time() * 1000)))
            await bus.close()


async def _publish(bus: Bus, visits: Iterable[Visit]) -> None:
    """What the bus refuses while it restarts is lost, unlike what a real worker sends."""
    try:
        for visit in visits:
            await publish_kept(bus, visits_subject(visit.stream_id), encode_visit(visit))
    except BusError:
        pass
