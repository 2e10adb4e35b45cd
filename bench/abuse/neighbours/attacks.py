"""Attacks of one stream on the others: each goes on, in a process of its own, until it is ended."""

import asyncio
import os
import ssl
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import cv2
import httpx2
import numpy as np

from onlooker.child_process import allow_many_files
from testkit.pictures import photograph

JSON_BYTES = 10 * 1024**2
STALLED_BYTES = 9 * 1024**2
FACES, COLUMNS = 100, 10
TOLD_EVERY_S = 0.5
NICE = 10
"""It is the server that is measured, not who gets the CPU of a machine that the attacker does not have."""


@dataclass(frozen=True)
class Target:
    """A gateway, and the attacker's own credentials for it."""

    url: str
    ca_file: str
    auth: tuple[str, str]


class BadNeighbour:
    """Sends, and counts what it is answered with."""

    def __init__(self, target: Target, tell: Connection) -> None:
        trust = ssl.create_default_context(cafile=target.ca_file)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self.target = target
        self.client = httpx2.AsyncClient(
            base_url=target.url, auth=target.auth, verify=trust, limits=limits, timeout=120, trust_env=False
        )
        self.answers: Counter[str] = Counter()
        self._tell = tell

    async def post(self, path: str, **content: object) -> None:
        try:
            answer = await self.client.post(path, **content)  # type: ignore[arg-type]
        except httpx2.HTTPError as error:
            self.answers[type(error).__name__] += 1
            return
        problem = answer.headers["content-type"] == "application/problem+json"
        self.answers[answer.json()["code"] if problem else str(answer.status_code)] += 1

    async def keep_on(self, one: Callable[[], Awaitable[None]], *, at_once: int, every_s: float = 0.0) -> None:
        async def go_on() -> None:
            while True:
                await one()
                await asyncio.sleep(every_s)

        await asyncio.gather(*(go_on() for _ in range(at_once)))

    async def tell(self) -> None:
        while True:
            self._tell.send(dict(self.answers))
            await asyncio.sleep(TOLD_EVERY_S)


async def large_json(attacker: BadNeighbour) -> None:
    body = b'{"async": false, "echo": "' + b"x" * JSON_BYTES + b'"}'
    headers = {"Content-Type": "application/json"}
    await attacker.keep_on(lambda: attacker.post("/services/dummy/1/jobs", content=body, headers=headers), at_once=4)


async def many_values(attacker: BadNeighbour) -> None:
    body = b'{"async": false, "echo": [' + b"0," * 500_000 + b"0]}"
    headers = {"Content-Type": "application/json"}
    await attacker.keep_on(lambda: attacker.post("/services/dummy/1/jobs", content=body, headers=headers), at_once=4)


def crowd() -> bytes:
    """A picture tiled with faces."""
    face = cv2.resize(photograph()[10:285, 100:325], (128, 156))
    return bytes(cv2.imencode(".jpg", np.tile(face, (FACES // COLUMNS, COLUMNS, 1)))[1])


async def send_crowds(attacker: BadNeighbour, *, is_async: str, at_once: int) -> None:
    picture = crowd()

    async def send() -> None:
        parts = {
            "meta": (None, f'{{"async": {is_async}, "image": "attachment://image"}}', "application/json"),
            "attachment://image": ("image", picture, "image/jpeg"),
        }
        await attacker.post("/services/age_and_gender_estimation/1/jobs", files=parts)

    await attacker.keep_on(send, at_once=at_once)


async def crowds_at_once(attacker: BadNeighbour) -> None:
    await send_crowds(attacker, is_async="false", at_once=100)


async def crowds_accepted(attacker: BadNeighbour) -> None:
    await send_crowds(attacker, is_async="true", at_once=20)


async def stalled_uploads(attacker: BadNeighbour) -> None:
    async def stall() -> None:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(STALLED_BYTES // 65_536):
                yield b"x" * 65_536
            await asyncio.sleep(300)

        head = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(JSON_BYTES - 1000)}
        await attacker.post("/services/dummy/1/jobs", content=body(), headers=head)

    await attacker.keep_on(stall, at_once=52, every_s=0.2)


async def idle_connections(attacker: BadNeighbour, count: int) -> None:
    """As many as may be, opened again as soon as they are closed."""
    address = urlsplit(attacker.target.url)
    places = asyncio.Semaphore(50)

    async def hold() -> None:
        async with places:
            try:
                reader, writer = await asyncio.open_connection(address.hostname, address.port)
            except OSError:
                attacker.answers["not connected"] += 1
                return
        attacker.answers["connected"] += 1
        try:
            attacker.answers["closed" if await reader.read() == b"" else "answered"] += 1
        except OSError:
            attacker.answers["closed"] += 1
        finally:
            writer.close()

    await attacker.keep_on(hold, at_once=count, every_s=1.0)


async def few_idle(attacker: BadNeighbour) -> None:
    await idle_connections(attacker, 1100)


async def many_idle(attacker: BadNeighbour) -> None:
    await idle_connections(attacker, 5000)


async def accepted_jobs(attacker: BadNeighbour) -> None:
    """Accepted faster than they are computed."""
    face = bytes(cv2.imencode(".jpg", photograph()[10:285, 100:325])[1])

    async def send() -> None:
        parts = {
            "meta": (None, '{"image": "attachment://image"}', "application/json"),
            "attachment://image": ("image", face, "image/jpeg"),
        }
        await attacker.post("/services/age_and_gender_estimation/1/jobs", files=parts)

    await attacker.keep_on(send, at_once=16)


async def new_sessions(attacker: BadNeighbour) -> None:
    async def send() -> None:
        body = {"async": False, "state": {"session_id": str(uuid.uuid4())}}
        await attacker.post("/services/dummy/1/jobs", json=body)

    await attacker.keep_on(send, at_once=30, every_s=0.1)


async def large_results(attacker: BadNeighbour) -> None:
    body = {"async": False, "echo": "x" * 900_000}
    await attacker.keep_on(lambda: attacker.post("/services/dummy/1/jobs", json=body), at_once=4)


async def _attack(name: str, target: Target, tell: Connection) -> None:
    attacker = BadNeighbour(target, tell)
    await asyncio.gather(ATTACKS[name].make(attacker), attacker.tell())


def attack(name: str, target: Target, tell: Connection) -> None:
    """The whole life of an attacking process."""
    os.nice(NICE)
    allow_many_files()
    asyncio.run(_attack(name, target, tell))


@dataclass(frozen=True)
class WayToAttack:
    """One way to be a bad neighbour, and how it must be answered."""

    make: Callable[[BadNeighbour], Awaitable[None]]
    refused_with: str
    """A code of a problem, or a reason for which connections are refused; empty: it keeps within its limits."""
    by_stream: bool = True
    prelude_s: float = 0.0
    """How long it goes on before the camera is judged."""


ATTACKS = {
    "10 MB JSON bodies": WayToAttack(large_json, "too_large"),
    "500,000 values in a JSON body": WayToAttack(many_values, "bad_request", by_stream=False),
    "pictures of 100 faces, synchronous": WayToAttack(crowds_at_once, "rate_limited"),
    "pictures of 100 faces, accepted": WayToAttack(crowds_accepted, ""),
    "52 stalled uploads": WayToAttack(stalled_uploads, "rate_limited"),
    "1,100 idle connections": WayToAttack(few_idle, "address", by_stream=False),
    "5,000 idle connections": WayToAttack(many_idle, "address", by_stream=False),
    "10,000 accepted jobs": WayToAttack(accepted_jobs, "overloaded", prelude_s=90),
    "300 sessions a second": WayToAttack(new_sessions, "rate_limited"),
    "result floods": WayToAttack(large_results, "rate_limited"),
}
