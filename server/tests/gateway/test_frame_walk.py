"""A frame passes through few modules, so that its code can be read in order. `pytest -s` prints them."""

import asyncio
import time
import uuid

import httpx2

from module_walk import ModuleWalk, followed
from onlooker.bus.messages import Task
from onlooker.compute.processor import Processor
from onlooker.gateway.app import build_app
from onlooker.gateway.context import open_context
from onlooker.settings import Settings
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.service_call import Sender
from processors import with_processors
from scene_camera import HERE
from testkit import Stack, TestStream
from wire import multipart

GATEWAY = ("onlooker.http.", "onlooker.streams.", "onlooker.gateway.", "onlooker.bus.")
WORKER = ("onlooker.compute.", "onlooker.bus.")
MOST_IN_GATEWAY, MOST_IN_WORKER = 30, 7


def test_a_gateway_takes_a_frame_in_order(stack: Stack, stream: TestStream) -> None:
    role = {"nats_user": "gateway", "nats_password": stack.password("gateway")}
    own = {name: stack.setting(name) for name in ("home", "nats_url", "database_url", "public_url", "console_url")}

    async def run() -> ModuleWalk:
        async with open_context(Settings(**own, **role)) as context:  # type: ignore[arg-type]
            transport = httpx2.ASGITransport(app=build_app(context))
            async with httpx2.AsyncClient(transport=transport, base_url=own["public_url"], auth=stream.auth) as client:
                await _send_frame(client)  # what is done once per process is done now
                with followed(*GATEWAY, only_this_task=True) as walk:
                    await _send_frame(client)
                return walk

    walk = asyncio.run(run())
    print(walk)
    assert len(walk.modules) <= MOST_IN_GATEWAY


async def _send_frame(client: httpx2.AsyncClient) -> None:
    meta = {"image": "attachment://shot", "async": False, "state": {"session_id": str(uuid.uuid4())}}
    answer = await client.post("/services/scene_analysis/1/jobs", files=multipart(meta, shot=HERE))
    assert answer.status_code == 201, answer.text


def test_a_worker_computes_a_frame_in_order(stack: Stack) -> None:
    walks: list[ModuleWalk] = []

    async def check(processors: list[Processor], service: Service) -> None:
        session = f"0.scene_analysis-1.{uuid.uuid4().hex}"
        await processors[0].process(service, _task(session))
        with followed(*WORKER) as walk:
            reply = await processors[0].process(service, _task(session))
        assert reply
        walks.append(walk)

    with_processors(stack, check, service="scene_analysis", count=1)
    print(walks[0])
    assert len(walks[0].modules) <= MOST_IN_WORKER


def _task(session: str) -> Task:
    now = time.time()
    name = uuid.uuid4().hex
    return Task(
        name, "scene_analysis", 1, {"store": True}, {"image": HERE}, session, now + 30, name, now, now, Sender()
    )
