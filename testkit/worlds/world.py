"""A world: streams, visits that arrive in several revisions, roll-ups filled or not, and questions in between."""

from dataclasses import dataclass, field

from onlooker_pipeline.visits.visit import Visit
from testkit.coverage_oracle import CameraLog
from testkit.worlds.clocks import Era, moment_at

ARRIVALS = 3
"""Batches in which visits arrive; after each some slots are filled, and questions are asked."""


@dataclass(frozen=True)
class Question:
    """What is asked of a stream. Times are microseconds of unix time."""

    stream: int
    """Index of the world's stream; so is that of visits."""
    metrics: tuple[str, ...]
    from_us: int
    to_us: int
    time: str
    tz: str | None
    """The parameter; None: the stream's own zone."""
    style: str
    """How dates are written: `utc`, `offset`, `basic` or `naive`."""
    by: tuple[str, ...] = ()
    """Dimensions of its breakdown."""
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Dimensions, and the parts of each that count; both in the order of the guide."""

    @property
    def is_broken_down(self) -> bool:
        return bool(self.by or self.filters)

    @property
    def filters_by_name(self) -> dict[str, tuple[str, ...]]:
        return dict(self.filters)


@dataclass(frozen=True)
class Arrival:
    """What happens at once, and then."""

    visits: tuple[Visit, ...]
    fills: int
    """So many slots are filled afterwards, at most."""
    meanwhile: bool
    """Whether slots are filled while visits arrive, too, and while questions are asked."""
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class GroupPlan:
    """In groups of how many people a stream tells of them, arrival by arrival, and whether moments are told by slot."""

    ks: tuple[int, ...] = (1,) * ARRIVALS
    grid: bool = False

    @property
    def is_plain(self) -> bool:
        return not self.grid and set(self.ks) == {1}


@dataclass(frozen=True)
class World:
    """Everything that is drawn."""

    era: Era
    zones: tuple[str, ...]
    """One a stream."""
    arrivals: tuple[Arrival, ...]
    expires_us: int | None = None
    """Before the last questions all visits that began before are deleted after their time, their slots are not."""
    cameras: tuple[CameraLog, ...] = ()
    """One a stream; of others nothing was written down."""
    plans: tuple[GroupPlan, ...] = ()
    """One a stream; others are plain."""
    clocks_us: tuple[int, ...] = ()
    """When the builder of blocks runs, after each arrival; never, if all streams are plain."""

    def plan_of(self, stream: int) -> GroupPlan:
        return self.plans[stream] if self.plans else GroupPlan()

    def camera_of(self, stream: int) -> CameraLog:
        return self.cameras[stream] if self.cameras else CameraLog()


@dataclass
class LatestVisits:
    """The newest revision of each visit that has arrived, by stream."""

    visits: dict[tuple[int, bytes], Visit] = field(default_factory=dict)

    def arrive(self, visits: tuple[Visit, ...]) -> None:
        for visit in visits:
            key = (visit.stream_id, visit.id)
            if key not in self.visits or self.visits[key].revision < visit.revision:
                self.visits[key] = visit

    def of(self, stream: int) -> list[Visit]:
        return [visit for (whose, _), visit in self.visits.items() if whose == stream]


def describe(world: World) -> str:
    """For people."""
    lines = [f"streams in {', '.join(world.zones)}"]
    for number, arrival in enumerate(world.arrivals, start=1):
        lines.append(f"arrival {number}")
        lines += [describe_visit(visit) for visit in arrival.visits]
        lines.append(f"  filled at most {arrival.fills} slots, asked {len(arrival.questions)} questions")
    lines += [f"stream {number} in groups of {plan.ks}, grid {plan.grid}" for number, plan in enumerate(world.plans)]
    lines += [f"blocks are built at {', '.join(str(moment_at(at_us)) for at_us in world.clocks_us)}"]
    lines += [describe_camera(number, log) for number, log in enumerate(world.cameras)]
    if world.expires_us is not None:
        lines.append(f"visits that began before {moment_at(world.expires_us)} are deleted")
    return "\n".join(lines)


def describe_camera(stream: int, log: CameraLog) -> str:
    lines = [f"camera of stream {stream}: created {moment_at(log.created_us)}, known since {moment_at(log.known_us)}"]
    for name in ("videos", "refusals", "states"):
        lines += [f"  {name} {moment_at(at_us)} {value}" for at_us, value in sorted(getattr(log, name).items())]
    lines += [f"  quality {moment_at(key[0])} {key[1:]} {value}" for key, value in sorted(log.quality.items())]
    return "\n".join(lines)


def describe_visit(visit: Visit) -> str:
    def spans(intervals: list[tuple[int, int]]) -> str:
        return " ".join(f"{moment_at(start * 1000):%FT%T.%f}+{end - start}ms" for start, end in intervals) or "-"

    person = f"age {visit.age}, {visit.gender} {visit.gender_confidence}, expression {visit.expression}"
    state = "ended" if visit.ended else "open"
    title = f"  stream {visit.stream_id} visit {visit.id.hex()[-4:]} revision {visit.revision}, {state}: {person}"
    parts = [f"    {name} {spans(getattr(visit, name))}" for name in ("present", "still", "looking")]
    return "\n".join([title, *parts])


def describe_question(question: Question) -> str:
    range_ = f"{moment_at(question.from_us)} to {moment_at(question.to_us)}"
    cells = f", by {','.join(question.by)}, filters {question.filters}" if question.is_broken_down else ""
    return f"stream {question.stream}, {','.join(question.metrics)} {question.time}, {range_}, tz {question.tz}{cells}"
