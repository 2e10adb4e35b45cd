"""Session states: exact whichever worker a call lands on, and a call that is sent again counts once."""

import asyncio
import uuid

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.bus.messages import Reply
from onlooker.compute.processor import Processor
from onlooker_pipeline.catalogue.service import Service
from processors import task, with_processors
from testkit import Stack


def calls_of(reply: Reply | None) -> int:
    assert reply is not None
    return int(msgspec.json.decode(reply.result)["calls"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.lists(st.integers(0, 2), min_size=1, max_size=12), repeats=st.lists(st.booleans(), min_size=12))
def test_calls_count_exactly_on_any_route_over_workers(stack: Stack, route: list[int], repeats: list[bool]) -> None:
    """Oracle: the n-th new call answers n; a call that is sent again, anywhere, answers what it answered."""

    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        for expected, (worker, again) in enumerate(zip(route, repeats, strict=False), start=1):
            one = task(session)
            assert calls_of(await processors[worker].process(service, one)) == expected
            if again:
                elsewhere = processors[(worker + expected) % 3]
                assert calls_of(await elsewhere.process(service, one)) == expected

    with_processors(stack, check, count=3)


def test_calls_at_once_on_two_workers_are_each_counted_once(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        sent = [processors[n % 2].process(service, task(session)) for n in range(4)]
        replies = await asyncio.gather(*sent)
        assert sorted(calls_of(reply) for reply in replies) == [1, 2, 3, 4]

    with_processors(stack, check)


def test_an_idle_session_ends_and_begins_anew_under_the_same_id(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        assert calls_of(await processors[0].process(service, task(session))) == 1
        assert calls_of(await processors[0].process(service, task(session))) == 2
        await asyncio.sleep(0.4)
        assert calls_of(await processors[0].process(service, task(session))) == 1
        await asyncio.sleep(0.4)
        assert calls_of(await processors[1].process(service, task(session))) == 1

    with_processors(stack, check, idle_s=0.3)


def test_the_state_stays_in_memory_between_calls(stack: Stack) -> None:
    """Reading it back for each call would cost more than the rest of the bus."""

    async def check(processors: list[Processor], service: Service) -> None:
        session, sessions = f"1.dummy-1.{uuid.uuid4().hex}", processors[0]._sessions
        await processors[0].process(service, task(session))
        held = sessions.hold(session)
        assert held.state is not None
        await processors[0].process(service, task(session))
        assert sessions.hold(session) is held

    with_processors(stack, check)


def test_a_task_nobody_waits_for_is_not_computed(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        assert await processors[0].process(service, task(session, in_s=-1)) is None
        assert calls_of(await processors[0].process(service, task(session))) == 1

    with_processors(stack, check)


@pytest.mark.parametrize(("trouble", "code"), [("fail", "told_to_fail"), ("crash", "internal_error")])
def test_a_failure_is_a_result_and_leaves_the_state_as_it_was(stack: Stack, trouble: str, code: str) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.trouble-1.{uuid.uuid4().hex}"
        assert calls_of(await processors[0].process(service, task(session))) == 1
        failed = await processors[0].process(service, task(session, **{trouble: True}))
        assert failed is not None
        assert failed.error_code == code
        assert set(msgspec.json.decode(failed.result)) == {"error", "error_code"}
        assert calls_of(await processors[1].process(service, task(session))) == 2

    with_processors(stack, check, service="trouble")


def test_a_state_of_another_release_begins_the_session_anew(stack: Stack) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.dummy-1.{uuid.uuid4().hex}"
        foreign = msgspec.msgpack.encode({"from": "the future"})
        await processors[0]._sessions._bucket.replace(session, foreign, revision=0)
        assert calls_of(await processors[0].process(service, task(session))) == 1
        assert calls_of(await processors[1].process(service, task(session))) == 2

    with_processors(stack, check)
