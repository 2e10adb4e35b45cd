"""What a worker keeps of a session in its memory only."""

import time
import uuid
from collections.abc import Iterator

import msgspec
import pytest

from onlooker.bus.messages import Reply, Task
from onlooker.compute import service_program
from onlooker.compute.processor import Processor
from onlooker.compute.service_program import Memories
from onlooker.compute.sessions import Session
from onlooker_pipeline.catalogue.service import Service
from processors import ThreadComputing, task, with_processors
from testkit import Stack
from testkit.pictures import on_a_wall, portrait


@pytest.fixture
def shots() -> Iterator[bytes]:
    """Someone who walks to the right."""
    return iter([on_a_wall(portrait(), left=20 + 12 * step, top=100) for step in range(12)])


def shown(session: str, image: bytes) -> Task:
    return msgspec.structs.replace(task(session), attachments={"image": image})


def kept_bytes(processor: Processor, session: Session) -> int:
    computing = processor._computing
    assert isinstance(computing, ThreadComputing)
    memory = computing.program.memories.take(session.memory)
    computing.program.memories.give_back(session.memory, memory)
    return memory.size_bytes


def targets_of(reply: Reply | None) -> int:
    assert reply is not None
    assert reply.error_code is None, reply.result
    return int(msgspec.json.decode(reply.result)["nb_targets"])


def test_a_session_that_moves_to_another_worker_answers_once_with_no_targets(
    stack: Stack, shots: Iterator[bytes]
) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        route = [0, 0, 0, 1, 1, 0, 0]
        found = [targets_of(await processors[n].process(service, shown(session, next(shots)))) for n in route]
        assert found == [0, 1, 1, 0, 1, 0, 1]

    with_processors(stack, check, service="motion_detection")


def test_an_idle_session_takes_its_memory_along(stack: Stack, shots: Iterator[bytes]) -> None:
    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        held = processors[0]._sessions.hold(session)
        for _ in range(2):
            await processors[0].process(service, shown(session, next(shots)))
        assert kept_bytes(processors[0], held) > 0
        processors[0]._sessions.sweep()
        assert processors[0]._sessions.hold(session) is held
        assert held.state is not None
        held.state.last_seen -= 100
        assert targets_of(await processors[0].process(service, shown(session, next(shots)))) == 0
        held.state.last_seen -= 100
        processors[0]._sessions.sweep()
        assert processors[0]._sessions.hold(session) is not held

    with_processors(stack, check, service="motion_detection")


def test_nothing_of_a_picture_is_written_anywhere(stack: Stack, shots: Iterator[bytes]) -> None:
    """What goes over the bus of a session is a few hundred bytes; the smallest picture kept has thousands."""

    async def check(processors: list[Processor], service: Service) -> None:
        session = f"1.motion_detection-1.{uuid.uuid4().hex}"
        for _ in range(3):
            await processors[0].process(service, shown(session, next(shots)))
        entry = await processors[0]._sessions._bucket.get(session)
        assert entry is not None
        assert entry.value is not None
        assert len(entry.value) < 600
        assert kept_bytes(processors[0], processors[0]._sessions.hold(session)) > 10_000

    with_processors(stack, check, service="motion_detection")


def test_the_oldest_memories_go_first_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_program, "MEMORIES_LIMIT_BYTES", 250)
    memories = Memories(idle_s=60)
    for number in (1, 2, 3, 1, 4):
        memory = memories.take(number)
        memory.keep(f"picture {number}", size_bytes=100)
        memories.give_back(number, memory)
    assert [memories.take(number).kept for number in (1, 2, 3, 4)] == ["picture 1", None, None, "picture 4"]


def test_a_memory_that_was_taken_is_nobody_elses() -> None:
    memories = Memories(idle_s=60)
    memory = memories.take(1)
    memory.keep("picture", size_bytes=100)
    memories.give_back(1, memory)
    assert memories.take(1) is memory
    assert memories.take(1).kept is None


def test_without_a_session_nothing_is_remembered() -> None:
    memories = Memories(idle_s=60)
    memory = memories.take(0)
    memory.keep("picture", size_bytes=100)
    memories.give_back(0, memory)
    assert memories.take(0).kept is None


def test_what_a_session_left_goes_when_it_has_been_idle() -> None:
    memories = Memories(idle_s=0.2)
    for number in (1, 2):
        memory = memories.take(number)
        memory.keep("picture", size_bytes=100)
        memories.give_back(number, memory)
    memories.sweep()
    assert len(memories) == 2
    time.sleep(0.15)
    memories.give_back(1, memories.take(1))
    time.sleep(0.1)
    memories.sweep()
    assert len(memories) == 1
    assert memories.take(1).kept == "picture"
