"""Visits on their way out of a worker: an answer means that JetStream has them, and nothing else loses them."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from onlooker.bus import connection
from onlooker.bus.connection import BusError, NoAnswer, publish_kept
from onlooker.bus.messages import Outcome, Reply, Task
from onlooker.bus.session_store import SessionState, decode_state
from onlooker.compute.processor import Processor
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.service_call import Sender
from onlooker_pipeline.visits.visit import Visit, decode_visit
from processors import connected, task, with_processors
from testkit import Stack
from wire import wait_for

BEGAN = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1)


class Killed(BaseException):
    """A worker's process is gone; nothing of it goes on."""


class Way:
    """The way to JetStream, which can be cut, and what arrived over it."""

    def __init__(self) -> None:
        self.arrived: list[Visit] = []
        self.trouble: BaseException | None = None

    def over(self, publish: Callable[[str, bytes], Awaitable[None]]) -> Callable[[str, bytes], Awaitable[None]]:
        async def leave(subject: str, payload: bytes) -> None:
            if self.trouble:
                raise self.trouble
            await publish(subject, payload)
            self.arrived.append(decode_visit(payload))

        return leave

    @property
    def revisions(self) -> list[tuple[int, bool]]:
        return [(visit.revision, visit.ended) for visit in self.arrived]


def frame(session: str, at_s: float, *, stream_id: int = 0, job_id: str | None = None, **params: object) -> Task:
    timestamp = (BEGAN + timedelta(seconds=at_s)).isoformat()
    made = task(session, job_id=job_id, timestamp=timestamp, **params)
    return msgspec.structs.replace(made, sender=Sender(stream_id=stream_id))


def new_session() -> str:
    return f"0.passer-1.{uuid.uuid4().hex}"


def run(stack: Stack, check: Callable[[list[Processor], Service, Way], Awaitable[None]], *, idle_s: float = 60) -> None:
    way = Way()

    async def checked(processors: list[Processor], service: Service) -> None:
        await check(processors, service, way)

    with_processors(stack, checked, service="passer", idle_s=idle_s, way=way.over)


async def state_of(processor: Processor, session: str) -> SessionState:
    entry = await processor._sessions._bucket.get(session)
    state = decode_state(entry.value) if entry else None
    assert state
    return state


def done(reply: Reply | None) -> Reply:
    assert reply is not None
    assert reply.outcome is Outcome.DONE
    return reply


def test_a_visit_is_kept_before_the_answer_that_tells_of_it(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        for at_s in (0, 0.4):
            done(await processors[0].process(service, frame(session, at_s)))
        assert way.arrived == []
        done(await processors[0].process(service, frame(session, 0.8)))
        assert way.revisions == [(1, False)]
        done(await processors[1].process(service, frame(session, 1.2, leaves=True)))
        assert way.revisions[-1] == (2, True)
        start_ms = round(BEGAN.timestamp() * 1000)
        assert way.arrived[-1].present == way.arrived[-1].still == [(start_ms, start_ms + 1_200)]

    run(stack, check)


@pytest.mark.parametrize("again_elsewhere", [False, True], ids=["same worker", "another worker"])
def test_a_visit_that_is_not_kept_is_published_when_the_job_comes_again(stack: Stack, again_elsewhere: bool) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 0)))
        way.trouble = NoAnswer("visits")
        job = frame(session, 0.9)
        for _ in range(2):
            reply = await processors[0].process(service, job)
            assert reply is not None
            assert reply.outcome is Outcome.NOT_KEPT
        way.trouble = None
        reply = done(await processors[again_elsewhere].process(service, job))
        assert msgspec.json.decode(reply.result) == {"frames": 2}
        assert way.revisions == [(1, False)]
        done(await processors[0].process(service, frame(session, 1.0)))
        assert set(way.revisions) == {(1, False)}

    run(stack, check)


def test_a_later_job_takes_along_what_was_not_kept_and_no_more_piles_up(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 0)))
        way.trouble = BusError("full")
        for at_s in (1, 7, 14, 21):
            reply = await processors[0].process(service, frame(session, at_s))
            assert reply is not None
            assert reply.outcome is Outcome.NOT_KEPT
        assert len((await state_of(processors[0], session)).outbox) == 1
        way.trouble = None
        reply = done(await processors[1].process(service, frame(session, 28)))
        assert msgspec.json.decode(reply.result) == {"frames": 3}
        assert way.revisions == [(1, False), (2, False)]

    run(stack, check)


def test_a_worker_killed_between_writing_and_publishing_loses_nothing(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 0)))
        way.trouble = Killed()
        job = frame(session, 0.9)
        with pytest.raises(Killed):
            await processors[0].process(service, job)
        way.trouble = None
        reply = done(await processors[1].process(service, job))
        assert msgspec.json.decode(reply.result) == {"frames": 2}
        assert way.revisions == [(1, False)]

    run(stack, check)


def test_what_was_kept_is_not_written_again_with_the_next_state(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        for at_s in (0, 0.9):
            done(await processors[0].process(service, frame(session, at_s)))
        assert len((await state_of(processors[0], session)).outbox) == 1
        done(await processors[0].process(service, frame(session, 1.0)))
        assert (await state_of(processors[0], session)).outbox == []

    run(stack, check)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same worker", "another worker"])
def test_a_session_that_begins_anew_after_idling_closes_the_visits_of_the_last(stack: Stack, elsewhere: bool) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        for at_s in (0, 0.9, 1.8):
            done(await processors[0].process(service, frame(session, at_s)))
        before = way.arrived[-1]
        await asyncio.sleep(0.6)
        reply = done(await processors[elsewhere].process(service, frame(session, 30)))
        assert msgspec.json.decode(reply.result) == {"frames": 1}
        closed = way.arrived[-1]
        assert (closed.id, closed.revision, closed.ended) == (before.id, before.revision + 1, True)
        assert closed.present[0][1] - closed.present[0][0] == 2_700
        await asyncio.sleep(0.6)
        done(await processors[elsewhere].process(service, frame(session, 60)))
        assert way.arrived[-1] == closed

    run(stack, check, idle_s=0.5)


def test_a_service_that_failed_has_seen_nothing(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 0)))
        before = (await state_of(processors[0], session)).visits
        assert before
        assert done(await processors[0].process(service, frame(session, 1, fail=True))).error_code == "told_to_fail"
        assert (await state_of(processors[0], session)).visits == before
        assert way.arrived == []

    run(stack, check)


def test_a_skipped_frame_counts_no_time_and_is_no_last_frame(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 10)))
        skipped = done(await processors[0].process(service, frame(session, 9.5, skip=True)))
        assert (skipped.video_s, skipped.skipped) == (0, "out_of_order")
        assert skipped.frame_at == BEGAN.timestamp() + 9.5
        looked = done(await processors[0].process(service, frame(session, 10.5)))
        assert (looked.video_s, looked.skipped) == (pytest.approx(0.5), "")

    run(stack, check)


@pytest.mark.parametrize(("back_s", "counted_s"), [(10, 0.5), (10.5, 1.0)])
def test_an_older_frame_moves_the_last_frame_back_only_with_the_clock(
    stack: Stack, back_s: float, counted_s: float
) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        done(await processors[0].process(service, frame(session, 20)))
        assert done(await processors[0].process(service, frame(session, 20 - back_s))).video_s == pytest.approx(1 / 30)
        assert done(await processors[0].process(service, frame(session, 20.5))).video_s == pytest.approx(counted_s)

    run(stack, check)


def test_a_frame_without_a_timestamp_was_taken_when_it_arrived(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        arrived = [msgspec.structs.replace(task("x", skip=True), arrived_at=at) for at in (0.0, 1_800_000_000.5)]
        replies = [done(await processors[0].process(service, one)) for one in arrived]
        assert [reply.frame_at for reply in replies] == pytest.approx([arrived[0].sent_at, 1_800_000_000.5], abs=1e-6)

    run(stack, check)


def test_visits_reach_the_database(stack: Stack) -> None:
    stream = stack.create_stream()

    async def check(processors: list[Processor], service: Service, way: Way) -> None:
        session = new_session()
        for at_s in (0, 0.9, 1.8):
            done(await processors[0].process(service, frame(session, at_s, stream_id=stream.id)))

    run(stack, check)
    query = "SELECT began_at, revision, ended FROM visits_visit WHERE stream_id = %s"
    assert wait_for(lambda: stack.execute(query, stream.id), bool) == [(BEGAN, 1, False)]


def test_what_the_bus_does_not_take_is_not_kept(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER_LIMIT_S", 0.2)

    async def check() -> None:
        async with connected(stack) as bus:
            with pytest.raises(BusError):
                await publish_kept(bus, "visits.1.2", b"")

    asyncio.run(check())
