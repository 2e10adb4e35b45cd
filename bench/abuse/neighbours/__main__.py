"""A camera at ten frames a second, alone and beside another stream that attacks in each of several ways."""

import argparse
import multiprocessing
import re
import statistics
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing.connection import Connection

import httpx2

from bench.abuse.neighbours.attacks import ATTACKS, Target, WayToAttack, attack
from bench.abuse.neighbours.devices import keep_devices
from bench.cost.drawn_scene import FPS, draw_standing
from bench.lib.clients import open_client
from bench.lib.product import conclude, concluding, running_product, say
from testkit import Stack, TestStream

PEOPLE = 2
TIMES_ALONE, PLUS_MS = 2.0, 20.0
BETWEEN_S = 4.0
"""For what an attack has left to be worked off."""
LIMITS = {"rate_limit_per_second": 400, "rate_limit_burst": 800}
"""More than by default: what is behind the rate limit must hold as well."""


@dataclass
class Victim:
    """A session that goes on through all attacks."""

    client: httpx2.Client
    frames: Iterator[bytes]
    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    faults: list[str] = field(default_factory=list)

    def film(self, seconds: float) -> list[float]:
        """Milliseconds that each frame took."""
        took_ms = []
        started = time.monotonic()
        for number in range(round(seconds * FPS)):
            time.sleep(max(0.0, started + number / FPS - time.monotonic()))
            took_ms.append(self._send(next(self.frames)))
        return took_ms

    def _send(self, frame: bytes) -> float:
        meta = {"async": False, "store": True, "image": "attachment://image", "state": {"session_id": self.session}}
        parts = {
            "meta": (None, httpx2.Request("POST", "http://any", json=meta).content, "application/json"),
            "attachment://image": ("image", frame, "image/jpeg"),
        }
        began = time.monotonic()
        try:
            answer = self.client.post("/services/scene_analysis/1/jobs", files=parts)
            if answer.status_code != 201 or "error" in answer.json():
                self.faults.append(f"{answer.status_code} {answer.text[:200]}")
        except httpx2.HTTPError as error:
            self.faults.append(repr(error))
        return (time.monotonic() - began) * 1000


@contextmanager
def attacking(name: str, target: Target) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=attack, args=[name, target, tell], daemon=True)
    process.start()
    try:
        if not told.poll(30):
            raise RuntimeError(f"{name}: the attacker did not start")
        yield told
    finally:
        process.terminate()
        process.join()


def latest(told: Connection) -> dict[str, int]:
    answers: dict[str, int] = {}
    while told.poll():
        answers = told.recv()
    return answers


def p95(took_ms: list[float]) -> float:
    return statistics.quantiles(took_ms, n=20, method="inclusive")[-1]


def named(stack: Stack, one: WayToAttack, stream: TestStream) -> float:
    """What the metric that names the attacker says."""
    if one.by_stream:
        pattern = rf'onlooker_stream_refusals_total\{{code="{one.refused_with}",stream="{stream.id}"\}} (\S+)'
    elif one.refused_with == "address":
        pattern = r'onlooker_connections_refused_total\{reason="address"\} (\S+)'
    else:
        pattern = rf'onlooker_refusals_total\{{code="{one.refused_with}"\}} (\S+)'
    names = [name for name in stack.children() if name.startswith("gateway")]
    return sum(float(count) for name in names for count in re.findall(pattern, stack.metrics(name)))


@dataclass(frozen=True)
class Endurance:
    """How a camera fared beside an attack, and the attacker itself."""

    alone_ms: list[float]
    beside_ms: list[float]
    failed: int
    answers: dict[str, int]
    named: float
    must_be_named: bool

    def judge(self, limit_ms: float) -> dict[str, object]:
        is_named = self.named > 0 or not self.must_be_named
        return {"ok": p95(self.beside_ms) <= limit_ms and not self.failed and is_named} | self.figures()

    def figures(self) -> dict[str, object]:
        return {
            "p95_alone_ms": round(p95(self.alone_ms), 1),
            "p95_beside_ms": round(p95(self.beside_ms), 1),
            "slowest_ms": round(max(self.beside_ms)),
            "failed_frames": self.failed,
            "answers": self.answers,
            "refusals_in_the_metric": self.named,
        }


def endure(stack: Stack, camera: Victim, name: str, seconds: float) -> Endurance:
    one, stream = ATTACKS[name], stack.create_stream()
    alone_ms = camera.film(seconds / 2)
    failed_before, named_before = len(camera.faults), named(stack, one, stream)
    with attacking(name, Target(stack.url, stack.ca_file, stream.auth)) as told:
        camera.film(one.prelude_s or 2.0)
        beside_ms = camera.film(seconds)
        answers = latest(told)
    verdict = Endurance(
        alone_ms=alone_ms,
        beside_ms=beside_ms,
        failed=len(camera.faults) - failed_before,
        answers=answers,
        named=named(stack, one, stream) - named_before,
        must_be_named=bool(one.refused_with),
    )
    stack.execute("DELETE FROM gateway_job WHERE stream_id = %s", stream.id)
    time.sleep(BETWEEN_S)
    return verdict


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="that the camera films beside each attack")
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    arguments = parser.parse_args()
    verdicts: dict[str, Endurance] = {}
    with running_product(**LIMITS) as stack, open_client(stack, stack.create_stream(), timeout_s=60) as client:
        camera = Victim(client, cycle(draw_standing(PEOPLE)))
        camera.film(5)
        for name in [name for name in ATTACKS if arguments.only in name]:
            say(f"{name} ...")
            verdicts[name] = endure(stack, camera, name, arguments.seconds)
            say(f"  {verdicts[name].figures()}")
        say("5,000 devices that keep their connections ...")
        devices = keep_devices(stack)
        say(f"  {devices}")
    alone_ms = p95([took for verdict in verdicts.values() for took in verdict.alone_ms])
    limit_ms = TIMES_ALONE * alone_ms + PLUS_MS
    judged = {name: verdict.judge(limit_ms) for name, verdict in verdicts.items()}
    conclude(
        {
            "ok": bool(judged) and all(verdict["ok"] for verdict in judged.values()) and devices["ok"] is True,
            "p95_alone_ms": round(alone_ms, 1),
            "p95_beside_at_most_ms": round(limit_ms, 1),
            "failed_frames_target": 0,
            "attacks": judged,
            "devices_that_keep_their_connections": devices,
            "first_faults": camera.faults[:5],
        }
    )


if __name__ == "__main__":
    main()
