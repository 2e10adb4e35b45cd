"""What a cell costs and how it grows: light cameras, one and two gateways and workers, one and three copies."""

import argparse
import asyncio
import base64
import json
import os
import ssl
import statistics
import tempfile
import time
import uuid
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.cost.worker_growth import measure_workers
from bench.lib.cell_hosts import ADDRESSES, EDGE, Cell, running_cell
from bench.lib.cpu_share import at_most
from bench.lib.processes import cpu_seconds
from bench.lib.product import conclude, concluding, running_product, say
from onlooker.child_process import allow_many_files
from testkit import Stack, TestStream

LIGHT = ((500, 1.0), (2000, 5.0))
"""Cameras, and seconds between two frames of each."""
P99_TARGET_MS = 500.0
GROWTH_TARGET = 1.8
STREAMS = 50
CONNECT_AT_ONCE = 50
CALLERS = 12
"""Devices at each gateway."""
ROUND_S = 8.0
GATEWAY_SHARE = 0.15
"""Of a core. The devices, the bus, the workers and the database are on the same two cores: gateways with whole cores
would be limited by these, and a second one could bring nothing."""
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "new_sessions_per_second": 1e5, "log_level": "info"}
PROCESSES = ("gateway", "worker-1", "nats", "haproxy", "recorder", "dispatcher", "postgresql")


@dataclass
class CameraAnswers:
    """What many devices saw."""

    took_ms: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)


class LightCamera:
    """A device with one connection and one session of `dummy`."""

    def __init__(self, url: str, stream: TestStream, trust: ssl.SSLContext) -> None:
        self._url, self._trust = urlsplit(url), trust
        body = json.dumps({"async": False, "state": {"session_id": str(uuid.uuid4())}})
        credentials = base64.b64encode(":".join(stream.auth).encode()).decode()
        self._request = (
            f"POST /services/dummy/1/jobs HTTP/1.1\r\nHost: {self._url.netloc}\r\n"
            f"Authorization: Basic {credentials}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def connect(self) -> None:
        name, port = self._url.hostname, self._url.port
        self._reader, self._writer = await asyncio.open_connection(
            name, port, ssl=self._trust, server_hostname=name, ssl_handshake_timeout=60
        )

    async def call(self, answers: CameraAnswers) -> None:
        began = time.perf_counter()
        self._writer.write(self._request)
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            body = await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            answers.statuses[type(error).__name__] += 1
            return
        answers.took_ms.append((time.perf_counter() - began) * 1000)
        status = head.split(b" ", 2)[1].decode()
        answers.statuses[status if status == "201" else f"{status} {body[:150].decode()}"] += 1


async def _connected(cameras: list[LightCamera]) -> None:
    places = asyncio.Semaphore(CONNECT_AT_ONCE)

    async def connect(camera: LightCamera) -> None:
        async with places:
            await camera.connect()

    await asyncio.gather(*map(connect, cameras))


async def steady(cameras: list[LightCamera], every_s: float, seconds: float) -> CameraAnswers:
    """Each sends once in so many seconds, all evenly spread; a camera that waits for an answer sends none."""
    await _connected(cameras)
    answers, began = CameraAnswers(), time.perf_counter()

    async def send(number: int, camera: LightCamera) -> None:
        due = began + every_s * number / len(cameras)
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await camera.call(answers)
            due += every_s

    await asyncio.gather(*(send(number, camera) for number, camera in enumerate(cameras)))
    return answers


async def at_full_speed(cameras: list[LightCamera], seconds: float) -> tuple[CameraAnswers, float]:
    """Each sends one after the other; also how long it took."""
    await _connected(cameras)
    answers, began = CameraAnswers(), time.perf_counter()

    async def send(camera: LightCamera) -> None:
        while time.perf_counter() < began + seconds:
            await camera.call(answers)

    await asyncio.gather(*map(send, cameras))
    return answers, time.perf_counter() - began


def measure_light_cameras(seconds: float) -> dict[str, Any]:
    """At one gateway and one worker of `onlooker up`."""
    figures: dict[str, Any] = {}
    with running_product(
        gateways=1, workers=1, worker_services="dummy", connections_per_address=5000, **ROOMY
    ) as stack:
        trust = ssl.create_default_context(cafile=stack.ca_file)
        streams = [stack.create_stream() for _ in range(STREAMS)]
        for count, every_s in LIGHT:
            say(f"{count} cameras, a frame in {every_s:g} s each ...")
            cameras = [LightCamera(stack.url, streams[number % STREAMS], trust) for number in range(count)]
            answers = asyncio.run(steady(cameras, every_s, seconds))
            p99 = statistics.quantiles(answers.took_ms, n=100)[98]
            others = {status: number for status, number in answers.statuses.items() if status != "201"}
            figures[f"{count} cameras"] = {
                "ok": p99 <= P99_TARGET_MS and not others,
                "requests_a_second": round(len(answers.took_ms) / seconds),
                "p50_ms": round(statistics.median(answers.took_ms), 1),
                "p99_ms": round(p99, 1),
                "p99_target_ms": P99_TARGET_MS,
                "not_computed": others,
            }
            say(f"  {figures[f'{count} cameras']}")
    return figures


def cost_by_process(cell: Cell, url: str, stack: Stack, gateways: int) -> dict[str, Any]:
    """Requests a second at full speed, and what a request costs each kind of process of all hosts, in microseconds."""
    pids = {name: [pid for host in ADDRESSES if (pid := cell.pid_of(host, name)) is not None] for name in PROCESSES}
    trust = ssl.create_default_context(cafile=stack.ca_file)
    stream = stack.create_stream()
    before = {name: cpu_seconds(found) for name, found in pids.items()}
    cameras = [LightCamera(url, stream, trust) for _ in range(CALLERS * gateways)]
    answers, took_s = asyncio.run(at_full_speed(cameras, ROUND_S))
    spent = {name: cpu_seconds(found) - before[name] for name, found in pids.items()}
    done = answers.statuses["201"]
    return {
        "requests_a_second": round(done / took_s),
        "microseconds_a_request": {name: round(one / max(done, 1) * 1e6) for name, one in spent.items()},
        "not_computed": {status: number for status, number in answers.statuses.items() if status != "201"},
    }


def measure_cell(folder: Path, *, replicas: int, rounds: int) -> dict[str, Any]:
    """One and two gateways by turns, each with a share of a core; and what a request costs whom, with whole cores."""
    settings = {"bus_replicas": replicas} | ROOMY
    lines = "\n".join(f"ONLOOKER_{name.upper()}={value}" for name, value in settings.items())
    with running_cell(folder, settings=lines) as cell:
        stack = cell.as_stack()
        gateways = {1: f"https://{ADDRESSES['h1']}:9443", 2: f"https://{ADDRESSES[EDGE]}:8443"}
        whole = [cost_by_process(cell, gateways[1], stack, 1) for _ in range(rounds)]
        rates: dict[int, list[float]] = {1: [], 2: []}
        with ExitStack() as shares:
            for host in ("h1", "h2"):
                pid = cell.pid_of(host, "gateway")
                assert pid is not None, f"no gateway runs on {host}"
                shares.enter_context(at_most(GATEWAY_SHARE, pid))
            for _ in range(rounds):
                for count, url in gateways.items():
                    found = cost_by_process(cell, url, stack, count)
                    rates[count].append(found["requests_a_second"])
                    say(f"  {replicas} copies, {count} gateways: {found}")
    medians = {count: statistics.median(found) for count, found in rates.items()}
    return {
        "replicas": replicas,
        "requests_a_second": medians,
        "growth": round(medians[2] / medians[1], 2),
        "requests_a_second_with_whole_cores": statistics.median(one["requests_a_second"] for one in whole),
        "microseconds_a_request": {
            name: round(statistics.median(one["microseconds_a_request"][name] for one in whole)) for name in PROCESSES
        },
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30, help="that light cameras send")
    parser.add_argument("--rounds", type=int, default=5, help="of one and two gateways")
    parser.add_argument("--light-only", action="store_true", help="no cell, which needs root")
    arguments = parser.parse_args()
    allow_many_files()
    light = measure_light_cameras(arguments.seconds)
    cells: list[dict[str, Any]] = []
    for replicas in () if arguments.light_only else (1, 3):
        with tempfile.TemporaryDirectory(prefix="onlooker-cell-") as folder:
            cells.append(measure_cell(Path(folder), replicas=replicas, rounds=arguments.rounds))
    workers = measure_workers(arguments.rounds)
    grows = all(one["growth"] >= GROWTH_TARGET for one in (*cells, workers))
    conclude(
        {
            "ok": all(one["ok"] for one in light.values()) and grows,
            "light_cameras": light,
            "workers": workers,
            "cells": cells,
            "growth_target": GROWTH_TARGET,
            "gateway_share_of_a_core": GATEWAY_SHARE,
            "cores": os.cpu_count(),
        }
    )


if __name__ == "__main__":
    main()
