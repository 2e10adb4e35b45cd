"""Session states: exact whichever worker a call lands on, and a call that is sent again counts once."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import connect
from onlooker.bus.messages import Reply, Task
from onlooker.bus.subjects import SESSIONS
from onlooker.catalogue import read_catalogue
from onlooker.compute.hosting import Hosted, host_services
from onlooker.compute.processing import Processor
from onlooker.compute.sessions import Sessions
from onlooker.settings import Settings
from onlooker.testing import Stack

Check = Callable[[list[Processor], Hosted], Awaitable[None]]


def with_processors(stack: Stack, check: Check, *, service: str = "dummy", idle_s: float = 60, count: int = 2) -> None:
    """Several processors, as in several workers, over the real bus."""

    async def run() -> None:
        own = Settings(
            nats_url=stack.setting("nats_url"), nats_user="worker-1", nats_password=stack.password("worker-1")
        )
        bus = await connect(own, name="test")
        catalogue = read_catalogue("extra.measure,extra.trouble")
        hosted = next(one for one in host_services(catalogue, "") if one.service.name == service)
        buckets = [Bucket(bus, SESSIONS, shards=1) for _ in range(count)]
        try:
            await check([Processor(Sessions(bucket, idle_s=idle_s), threads=1) for bucket in buckets], hosted)
        finally:
            await bus.close()

    asyncio.run(run())


def task(session: str, *, job_id: str | None = None, in_s: float = 30, **params: object) -> Task:
    now = time.time()
    return Task(job_id or uuid.uuid4().hex, "dummy", 1, dict(params), {}, session, now + in_s, "request", now)


def calls_of(reply: Reply | None) -> int:
    assert reply is not None
    return int(msgspec.json.decode(reply.result)["calls"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.lists(st.integers(0, 2), min_size=1, max_size=12), repeats=st.lists(st.booleans(), min_size=12))
def test_calls_count_exactly_on_any_route_over_workers(stack: Stack, route: list[int], repeats: list[bool]) -> None:
    """Oracle: the n-th new call answers n; a call that is sent again, anywhere, answers what it answered."""

    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        for expected, (worker, again) in enumerate(zip(route, repeats, strict=False), start=1):
            one = task(session)
            assert calls_of(await processors[worker].process(hosted, one)) == expected
            if again:
                elsewhere = processors[(worker + expected) % 3]
                assert calls_of(await elsewhere.process(hosted, one)) == expected

    with_processors(stack, check, count=3)


def test_calls_at_once_on_two_workers_are_each_counted_once(stack: Stack) -> None:
    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        sent = [processors[n % 2].process(hosted, task(session)) for n in range(4)]
        replies = await asyncio.gather(*sent)
        assert sorted(calls_of(reply) for reply in replies) == [1, 2, 3, 4]

    with_processors(stack, check)


def test_an_idle_session_ends_and_begins_anew_under_the_same_id(stack: Stack) -> None:
    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        assert calls_of(await processors[0].process(hosted, task(session))) == 1
        assert calls_of(await processors[0].process(hosted, task(session))) == 2
        await asyncio.sleep(0.4)
        assert calls_of(await processors[0].process(hosted, task(session))) == 1
        await asyncio.sleep(0.4)
        assert calls_of(await processors[1].process(hosted, task(session))) == 1

    with_processors(stack, check, idle_s=0.3)


def test_the_state_stays_in_memory_between_calls(stack: Stack) -> None:
    """Reading it back for each call would cost more than the rest of the bus."""

    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session, sessions = f"1.dummy-1.{uuid.uuid4().hex}", processors[0]._sessions
        await processors[0].process(hosted, task(session))
        held = sessions.hold(session)
        assert held.state is not None
        await processors[0].process(hosted, task(session))
        assert sessions.hold(session) is held

    with_processors(stack, check)


def test_a_task_nobody_waits_for_is_not_computed(stack: Stack) -> None:
    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        assert await processors[0].process(hosted, task(session, in_s=-1)) is None
        assert calls_of(await processors[0].process(hosted, task(session))) == 1

    with_processors(stack, check)


@pytest.mark.parametrize(("trouble", "code"), [("fail", "told_to_fail"), ("crash", "internal_error")])
def test_a_failure_is_a_result_and_leaves_the_state_as_it_was(stack: Stack, trouble: str, code: str) -> None:
    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.trouble-1.{uuid.uuid4().hex}"
        assert calls_of(await processors[0].process(hosted, task(session))) == 1
        failed = await processors[0].process(hosted, task(session, **{trouble: True}))
        assert failed is not None
        assert failed.error_code == code
        assert set(msgspec.json.decode(failed.result)) == {"error", "error_code"}
        assert calls_of(await processors[1].process(hosted, task(session))) == 2

    with_processors(stack, check, service="trouble")


def test_a_state_of_another_release_begins_the_session_anew(stack: Stack) -> None:
    async def check(processors: list[Processor], hosted: Hosted) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        await processors[0]._sessions._bucket.put(session, msgspec.msgpack.encode({"from": "the future"}))
        assert calls_of(await processors[0].process(hosted, task(session))) == 1
        assert calls_of(await processors[1].process(hosted, task(session))) == 2

    with_processors(stack, check)
