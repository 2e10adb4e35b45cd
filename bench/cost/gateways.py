"""What a second gateway on the same ports brings and costs: the same requests to one and to two, by turns."""

import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
import uuid
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.figures import Figure
from bench.lib.processes import cpu_seconds
from onlooker.gateway.machine_turns import MachineTurns
from onlooker.gateway.stream_limits import SessionTurns
from onlooker.streams.rate_limit import MemoryTable, RateLimit, Table
from onlooker.streams.shared_table import SharedTable
from testkit import Stack, TestStream, fresh_database, running_stack

ROUNDS = 10
ROUND_S = 1.5
RATE_TARGET, CPU_TARGET = 1.1, 1.15
CONNECTIONS = 8
TAKES = 20_000
ROOMY = {"rate_limit_per_second": 1e6, "rate_limit_burst": 10**6, "worker_services": "dummy", "log_level": "info"}


@dataclass
class GatewayLoad:
    """One kind of request to one product."""

    name: str
    stack: Stack
    requests: list[bytes]
    """One for each connection."""
    rates: list[float] = field(default_factory=list)
    costs_ms: list[float] = field(default_factory=list)

    def run_round(self, *, counted: bool = True) -> None:
        pids = [self.stack.process.pid, *self.stack.children().values()]
        before, began = cpu_seconds(pids), time.perf_counter()
        counts = [0] * len(self.requests)
        threads = [threading.Thread(target=self._send, args=(number, counts)) for number in range(len(counts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if counted:
            self.rates.append(sum(counts) / (time.perf_counter() - began))
            self.costs_ms.append((cpu_seconds(pids) - before) / sum(counts) * 1000)

    def _send(self, number: int, counts: list[int]) -> None:
        """One after the other over one new connection; the kernel chooses the gateway."""
        port, request = int(self.stack.setting("http_port")), self.requests[number]
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            end = time.perf_counter() + ROUND_S
            while time.perf_counter() < end:
                connection.sendall(request)
                _read_answer(connection)
                counts[number] += 1


def _read_answer(connection: socket.socket) -> None:
    received = connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")), received[:300]
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)


def gateway_loads(stack: Stack, stream: TestStream) -> dict[str, GatewayLoad]:
    head = f"Host: localhost\r\nAuthorization: Basic {b64encode(':'.join(stream.auth).encode()).decode()}\r\n"

    def job(session: bool) -> bytes:
        state = {"state": {"session_id": str(uuid.uuid4())}} if session else {}
        body = json.dumps({"async": False, "echo": "x"} | state).encode()
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return f"POST /services/dummy/1/jobs HTTP/1.1\r\n{head}{kind}".encode() + body

    directory = f"GET /services HTTP/1.1\r\n{head}\r\n".encode()
    kinds: dict[str, Callable[[], bytes]] = {
        "directory": lambda: directory,
        "job": lambda: job(session=False),
        "session_job": lambda: job(session=True),
    }
    return {name: GatewayLoad(name, stack, [make() for _ in range(CONNECTIONS)]) for name, make in kinds.items()}


def _measure(rounds: int) -> dict[str, tuple[GatewayLoad, GatewayLoad]]:
    with (
        fresh_database() as first_url,
        fresh_database() as second_url,
        running_stack(first_url, gateways=1, **ROOMY) as one,
        running_stack(second_url, gateways=2, **ROOMY) as two,
    ):
        loads = [gateway_loads(stack, stack.create_stream()) for stack in (one, two)]
        pairs = {name: (loads[0][name], loads[1][name]) for name in loads[0]}
        for number in range(-1, rounds):
            for pair in pairs.values():
                for load in pair if number % 2 else reversed(pair):
                    load.run_round(counted=number >= 0)
            print(f"round {number + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
    return pairs


def _take_us(rates: RateLimit) -> float:
    began = time.process_time()
    for number in range(TAKES):
        rates.wait_s(number % 1000)
    return (time.process_time() - began) / TAKES * 1e6


async def _turn_us(turns: SessionTurns) -> float:
    began = time.process_time()
    for number in range(TAKES):
        async with turns.take(f"session {number % 1000}"):
            pass
    return (time.process_time() - began) / TAKES * 1e6


def _shared_costs() -> dict[str, float]:
    """Microseconds of CPU, alone in one process and shared with others."""
    with tempfile.TemporaryDirectory() as folder:
        rates: dict[str, Table] = {"alone": MemoryTable(), "shared": SharedTable(Path(folder) / "rates")}
        turns = {"alone": None, "shared": MachineTurns(Path(folder) / "turns", wait_limit_s=1)}
        found: dict[str, list[float]] = {}
        for _ in range(5):
            for name in ("alone", "shared"):
                limit = RateLimit(per_second=1e6, burst=10**6, table=rates[name])
                found.setdefault(f"rate_{name}_us", []).append(_take_us(limit))
                taken = asyncio.run(_turn_us(SessionTurns(limit=16, machine=turns[name])))
                found.setdefault(f"turn_{name}_us", []).append(taken)
    return {name: round(statistics.median(values), 2) for name, values in found.items()}


def _ratio(second: list[float], first: list[float]) -> float:
    """In a typical round: the machine's other tenants must not decide."""
    return round(statistics.median(b / a for a, b in zip(first, second, strict=True)), 3)


def main(rounds: int) -> int:
    costs = _shared_costs()
    pairs = _measure(rounds)
    ratios = {
        name: {"rate": _ratio(two.rates, one.rates), "cpu": _ratio(two.costs_ms, one.costs_ms)}
        for name, (one, two) in pairs.items()
    }
    targets = [
        *(
            Figure(f"{name}_rate_ratio", ratio["rate"], at_least=RATE_TARGET if name == "directory" else None)
            for name, ratio in ratios.items()
        ),
        *(Figure(f"{name}_cpu_ratio", ratio["cpu"], at_most=CPU_TARGET) for name, ratio in ratios.items()),
        Figure("rate_shared_us", costs["rate_shared_us"], at_most=30),
        Figure("turn_shared_us", costs["turn_shared_us"], at_most=100),
    ]
    for figure in targets:
        print(f"{figure.name:24} {figure.value:8.3f}  {figure.target:16} {figure.verdict}")
    figures = {
        "ok": all(figure.met for figure in targets),
        "two_gateways_to_one": ratios,
        "targets": {figure.name: figure.target for figure in targets if figure.target},
        "requests_a_second": {
            name: [round(statistics.median(load.rates)) for load in pair] for name, pair in pairs.items()
        },
        "cpu_ms": {name: [round(statistics.median(load.costs_ms), 3) for load in pair] for name, pair in pairs.items()},
        **costs,
        "cores": len(os.sched_getaffinity(0)),
        "rounds": rounds,
    }
    print(json.dumps(figures))
    # A run shorter than the full one says what it measured; only the full one is a verdict.
    return 0 if figures["ok"] or rounds < ROUNDS else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
