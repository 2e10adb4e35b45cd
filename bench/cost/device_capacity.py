"""What devices that compute take: of their own core, and of a server that takes their visits."""

import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.cost.edge import SCENES, Bench, make_film
from bench.cost.edge_bytes import find_visits, measure_visit_bytes
from bench.lib.processes import product_cpu_seconds
from bench.lib.product import say
from onlooker_client import Client
from onlooker_client.agent.status.condition import PATH as CONDITION_PATH
from onlooker_client.device.journal_rows import WaitingSlot, WaitingVisit
from onlooker_client.device.upload import PATH as VISITS_PATH
from onlooker_client.device.visit_batch import VisitBatch
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.transport import Repeat
from testkit import Stack, TestStream

DEVICES = 200
CONNECTIONS = 4
SETTLED_S = 3.0
"""After the last answer: then the recorder has written all visits."""
IDLE_S = 10.0
FULL_BATCH = 20
SLOT_S = 900
LONGEST_S = 12.0
VIEWS = {"nobody": "quiet", "one_person": "busy", "five_people": "crowded"}


@dataclass(frozen=True)
class DeviceCost:
    """A view, computed on this machine as on a device."""

    view: str
    frame_ms: float
    """CPU of the agent and its process."""
    memory_mb: float


@dataclass(frozen=True)
class RequestCosts:
    """CPU seconds of the whole product, for what devices send."""

    idle_cores: float
    batch_s: float
    """A request with one slot of coverage."""
    visit_s: float
    """Each visit in it."""
    report_s: float
    """A report of the camera's condition."""
    visit_bytes: float
    request_bytes: float
    """Of a request with one item, its head included."""


@dataclass(frozen=True)
class CoreSpeed:
    """One core: operations with single precision that it can do in a second, at most."""

    name: str
    operations_a_cycle: int
    gigahertz: float

    def slowdown(self, here: "CoreSpeed") -> float:
        """By how much longer a frame takes than on another, if both are used alike."""
        return (here.operations_a_cycle * here.gigahertz) / (self.operations_a_cycle * self.gigahertz)


BOARDS = (
    CoreSpeed("Raspberry Pi 5, Cortex-A76", 16, 2.4),
    CoreSpeed("Raspberry Pi 4, Cortex-A72", 8, 1.8),
)
"""Two units of four products and sums a cycle, and one."""
WIDTHS = {"avx512f": 64, "avx2": 32, "asimd": 16}


def this_core() -> CoreSpeed:
    """By what the kernel says of it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = (said.get("flags") or said.get("Features") or "").split()
    width = next((operations for flag, operations in WIDTHS.items() if flag in flags), 16)
    megahertz = float(said.get("cpu MHz") or psutil.cpu_freq().max)
    return CoreSpeed(said.get("model name") or "not named", width, megahertz / 1000)


def measure_devices(stack: Stack, seconds: float) -> list[DeviceCost]:
    """The real agent on films of each view, as `just bench-edge` runs it."""
    with tempfile.TemporaryDirectory(prefix="device-capacity-") as name:
        bench = Bench(stack, Path(name), min(seconds, LONGEST_S), stack.create_stream())
        for scene, people in SCENES.items():
            say(f"a device that computes, {VIEWS[scene]} ...")
            bench.measure_device(scene, make_film(people, Path(name)))
    return [DeviceCost(VIEWS[scene], costs.device[-1], costs.memory_mb[-1]) for scene, costs in bench.costs.items()]


def measure_requests(stack: Stack) -> RequestCosts:
    """Of many devices, each over a connection of its own, as one that comes once a minute needs it."""
    say(f"requests of {DEVICES} devices ...")
    streams = [stack.create_stream() for _ in range(DEVICES)]
    known = find_visits()
    idle_cores = _spent_s(stack, lambda: time.sleep(IDLE_S), idle_cores=0.0) / (IDLE_S + SETTLED_S)

    def cost_s(ask: Callable[[TestStream], None]) -> float:
        def ask_all() -> None:
            with ThreadPoolExecutor(CONNECTIONS) as threads:
                list(threads.map(ask, streams))

        return _spent_s(stack, ask_all, idle_cores=idle_cores) / DEVICES

    report_s = cost_s(lambda stream: _report(stack, stream))
    batch_s = cost_s(lambda stream: _hand_over(stack, stream, visits=0))
    full_s = cost_s(lambda stream: _hand_over(stack, stream, visits=FULL_BATCH))
    return RequestCosts(
        idle_cores,
        batch_s=batch_s,
        visit_s=max(0.0, full_s - batch_s) / FULL_BATCH,
        report_s=report_s,
        visit_bytes=measure_visit_bytes(known),
        request_bytes=measure_visit_bytes(known, batch=1),
    )


def _spent_s(stack: Stack, act: Callable[[], None], *, idle_cores: float) -> float:
    """CPU of the product, without what it takes at rest."""
    before, began = product_cpu_seconds(stack), time.monotonic()
    act()
    time.sleep(SETTLED_S)
    after, took_s = product_cpu_seconds(stack), time.monotonic() - began
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items()) - idle_cores * took_s


def _client(stack: Stack, stream: TestStream) -> Client:
    return Client(stack.url, stream.client_id, stream.access_token, ca_file=stack.ca_file)


def _report(stack: Stack, stream: TestStream) -> None:
    said = {"state": "seeing", "since_s": 60.0, "over_s": 60.0, "sent": 300, "dropped": {}, "version": "0.1.0"}
    with _client(stack, stream) as client:
        client.transport.request("PUT", CONDITION_PATH, json_body(said), repeat=Repeat.NEVER)


def _hand_over(stack: Stack, stream: TestStream, *, visits: int) -> None:
    now_ms = round(time.time() * 1000)
    slot = now_ms // 1000 // SLOT_S - 1
    wires = [_visit(now_ms - 1_000_000 - 100 * number) for number in range(visits)]
    batch = VisitBatch(
        [WaitingVisit(wire["id"], 1, wire) for wire in wires],
        [WaitingSlot(slot, visits + 1, {"slot": slot, "revision": visits + 1, "watched_s": 60.0 + visits})],
    )
    body, _ = batch.encode(str(uuid.UUID(int=stream.id)), now_ms)
    with _client(stack, stream) as client:
        answer = client.transport.request_json("POST", VISITS_PATH, body, repeat=Repeat.NEVER)
    assert not answer["refused"], answer


def _visit(began_ms: int) -> dict[str, Any]:
    """Somebody who stopped for ten seconds and looked."""
    return {
        "id": uuid.uuid4().hex,
        "revision": 1,
        "ended": True,
        "present": [[began_ms, began_ms + 10_000]],
        "still": [[began_ms + 2_000, began_ms + 8_000]],
        "looking": [[began_ms + 3_000, began_ms + 6_000]],
        "age": 33.5,
        "age_confidence": 0.5,
        "gender": "female",
        "gender_confidence": 0.5,
        "expression": None,
        "confidence": 0.9,
    }
