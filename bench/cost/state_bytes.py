"""How many bytes a frame leaves in the bucket of session states, compressed or not, and what compressing costs."""

import asyncio
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from bench.cost.drawn_scene import FPS, draw_standing
from bench.lib.camera import Camera
from bench.lib.product import running_product, say
from onlooker.bus.connection import ANSWER_LIMIT_S, connect
from onlooker.bus.roles import RECORDER, info_subject
from onlooker.bus.session_store import SessionBucket, compress_state
from onlooker.settings import Settings
from testkit import Stack

WARM_UP_FRAMES, FRAMES = 30, 60
PEOPLE = (0, 1, 5)
COMPRESSIONS, REPEATS = 200, 5


@dataclass(frozen=True)
class StateCost:
    """Of one frame."""

    kept_bytes: float
    """In the bucket, as the bus counts them."""
    compression_us: float
    """CPU, where other programs disturbed it least."""


def measure_states() -> dict[str, dict[int, StateCost]]:
    """By way and people in view; the same scenes."""
    scenes = {people: draw_standing(people) for people in PEOPLE}
    found: dict[str, dict[int, StateCost]] = {}
    for way, compression in (("before", "off"), ("after", "on")):
        with running_product(state_compression=compression, rate_limit_per_second=1e5) as stack:
            found[way] = {people: _film(stack, frames) for people, frames in scenes.items()}
        said = ", ".join(f"{people} people {cost.kept_bytes:.0f} B" for people, cost in found[way].items())
        say(f"  states {way}: {said}")
    return found


def _film(stack: Stack, frames: list[bytes]) -> StateCost:
    camera = Camera(stack, stack.create_stream(), begins_at=datetime.now(UTC) - timedelta(hours=1))
    for number in range(WARM_UP_FRAMES + FRAMES):
        if number == WARM_UP_FRAMES:
            before = asyncio.run(_read_bytes(stack))
        answer = camera.send(frames[number % len(frames)], number / FPS)
        assert answer.status_code == 201, answer.text
    kept_bytes = (asyncio.run(_read_bytes(stack)) - before) / FRAMES
    state = asyncio.run(_read_state(stack, camera))
    camera.close()
    return StateCost(kept_bytes, min(_time_compression(state) for _ in range(REPEATS)))


def _time_compression(state: bytes) -> float:
    started = time.process_time()
    for _ in range(COMPRESSIONS):
        compress_state(state)
    return (time.process_time() - started) / COMPRESSIONS * 1e6


def _settings(stack: Stack) -> Settings:
    return Settings(nats_url=stack.setting("nats_url"), nats_user=RECORDER, nats_password=stack.password(RECORDER))


async def _read_bytes(stack: Stack) -> int:
    bus = await connect(_settings(stack), name="bench")
    answer = await bus.ask(info_subject("KV_session-states-0"), timeout_s=ANSWER_LIMIT_S)
    await bus.close()
    return int(msgspec.json.decode(answer.data)["state"]["bytes"])


async def _read_state(stack: Stack, camera: Camera) -> bytes:
    bus = await connect(_settings(stack), name="bench")
    session = f"{camera.stream.id}.scene_analysis-1.{uuid.UUID(camera.session_id).hex}"
    entry = await SessionBucket(bus, Settings()).get(session)
    await bus.close()
    assert entry
    return entry.value
