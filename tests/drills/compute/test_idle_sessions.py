"""Session states: exact whichever worker a call lands on, and a call that is sent again counts once."""

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from onlooker.compute.processor import Processor
from onlooker_pipeline.catalogue.service import Service
from processors import task, with_processors
from scene_camera import HERE
from testkit import Stack


def test_people_of_an_idle_session_disappear_with_the_first_answer_of_the_next(stack: Stack) -> None:
    """At the worker that had it, and at another one."""
    began = datetime.now(UTC) - timedelta(minutes=1)

    async def check(processors: list[Processor], service: Service) -> None:
        sessions = [f"1.scene_analysis-1.{uuid.uuid4().hex}" for _ in range(2)]

        async def see(session: str, at_s: float, worker: int = 0) -> dict[str, Any]:
            frame = task(session, timestamp=(began + timedelta(seconds=at_s)).isoformat())
            reply = await processors[worker].process(
                service, msgspec.structs.replace(frame, attachments={"image": HERE})
            )
            assert reply is not None
            result: dict[str, Any] = msgspec.json.decode(reply.result)
            return result

        people = []
        for session in sessions:
            last = [await see(session, number / 5) for number in range(5)][-1]
            people += last["entities"]
        assert len(people) == 2
        await asyncio.sleep(1.6)
        for worker, (session, person) in enumerate(zip(sessions, people, strict=True)):
            first = await see(session, 10, worker)
            assert [(event["entity_id"], event["type"]) for event in first["events"]] == [(person, "disappearance")]
            assert set(first["entities"]) == {person}
            second = await see(session, 10.2, worker)
            assert (second["events"], second["entities"]) == ([], {})

    with_processors(stack, check, service="scene_analysis", idle_s=1.5)
