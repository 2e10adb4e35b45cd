"""What a worker keeps of a session in its memory only."""

import time
import uuid
from collections.abc import Iterator

import msgspec
import pytest

from onlooker.bus.messages import Reply, Task
from onlooker.bus.session_store import SessionState
from onlooker.compute import sessions as sessions_module
from onlooker.compute.processor import Processor
from onlooker.compute.service_loader import HostedService
from onlooker.compute.sessions import Session, Sessions
from processors import task, with_processors
from testkit import Stack
from testkit.pictures import on_a_wall, portrait


@pytest.fixture
def shots() -> Iterator[bytes]:
    """Someone who walks to the right."""
    return iter([on_a_wall(portrait(), left=20 + 12 * step, top=100) for step in range(12)])


def shown(session: str, image: bytes) -> Task:
    return msgspec.structs.replace(task(session), attachments={"image": image})


def targets_of(reply: Reply | None) -> int:
    assert reply is not None
    assert reply.error_code is None, reply.result
    return int(msgspec.json.decode(reply.result)["nb_targets"])


def test_a_session_that_moves_to_another_worker_answers_once_with_no_targets(
    stack: Stack, shots: Iterator[bytes]
) -> None:
    async def check(processors: list[Processor], hosted: HostedService) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        route = [0, 0, 0, 1, 1, 0, 0]
        found = [targets_of(await processors[n].process(hosted, shown(session, next(shots)))) for n in route]
        assert found == [0, 1, 1, 0, 1, 0, 1]

    with_processors(stack, check, service="motion_detection")


def test_an_idle_session_takes_its_memory_along(stack: Stack, shots: Iterator[bytes]) -> None:
    async def check(processors: list[Processor], hosted: HostedService) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        held = processors[0]._sessions.hold(session)
        for _ in range(2):
            await processors[0].process(hosted, shown(session, next(shots)))
        assert held.memory.size_bytes > 0
        processors[0]._sessions.sweep()
        assert processors[0]._sessions.hold(session) is held
        assert held.state is not None
        held.state.last_seen -= 100
        assert targets_of(await processors[0].process(hosted, shown(session, next(shots)))) == 0
        held.state.last_seen -= 100
        processors[0]._sessions.sweep()
        assert processors[0]._sessions.hold(session) is not held

    with_processors(stack, check, service="motion_detection")


def test_nothing_of_a_picture_is_written_anywhere(stack: Stack, shots: Iterator[bytes]) -> None:
    """What goes over the bus of a session is a few hundred bytes; the smallest picture kept has thousands."""

    async def check(processors: list[Processor], hosted: HostedService) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        for _ in range(3):
            await processors[0].process(hosted, shown(session, next(shots)))
        entry = await processors[0]._sessions._bucket.get(session)
        assert entry is not None
        assert entry.value is not None
        assert len(entry.value) < 600
        assert processors[0]._sessions.hold(session).memory.size_bytes > 10_000

    with_processors(stack, check, service="motion_detection")


def test_the_oldest_memories_go_first_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MEMORY_LIMIT_BYTES", 250)
    held = Sessions(None, idle_s=60)  # type: ignore[arg-type]  # the bus is not asked
    kept: list[Session] = []
    for number in range(4):
        session = held.hold(f"session {number}")
        session.state = SessionState(last_seen=time.time())
        session.memory.keep(f"picture {number}", size_bytes=100)
        kept.append(session)
    held.hold("session 0")
    held.sweep()
    assert [session.memory.kept for session in kept] == ["picture 0", None, None, "picture 3"]
