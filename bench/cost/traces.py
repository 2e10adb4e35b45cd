"""What traces of jobs cost: the same jobs to a product without them, with a tenth and with all of them, by turns."""

import statistics
import sys
from contextlib import ExitStack

import msgspec

from bench.cost.gateways import GatewayLoad, gateway_loads
from bench.lib.figures import Figure
from bench.lib.product import conclude, concluding, say
from onlooker.bus.messages import Task, encode_task
from testkit import Stack, fresh_database, running_stack
from testkit.trace_receiver import trace_receiver

ROUNDS = 10
ROOMY = {"rate_limit_per_second": 1e6, "rate_limit_burst": 10**6, "worker_services": "dummy", "log_level": "info"}
RATIOS = {"off": 0.0, "tenth": 0.1, "all": 1.0}
CPU_TARGETS = {"tenth": 1.15, "all": 2.0}
"""Times the CPU of a job that computes nothing; a real one costs many times as much."""
KINDS = ("job", "session_job")


def _start(stack: ExitStack, url: str, ratio: float) -> Stack:
    settings: dict[str, object] = dict(ROOMY)
    if ratio:
        settings |= {"traces_url": url, "traces_ratio": ratio}
    return stack.enter_context(running_stack(stack.enter_context(fresh_database()), **settings))


def _measure(rounds: int) -> tuple[dict[str, dict[str, GatewayLoad]], int]:
    """Loads by kind and product, and how many spans came."""
    with ExitStack() as running:
        receiver = running.enter_context(trace_receiver())
        products = {name: _start(running, receiver.url, ratio) for name, ratio in RATIOS.items()}
        loads = {name: gateway_loads(product, product.create_stream()) for name, product in products.items()}
        for number in range(-1, rounds):
            for kind in KINDS:
                for name in list(loads) if number % 2 else reversed(loads):
                    loads[name][kind].run_round(counted=number >= 0)
            say(f"round {number + 1} of {rounds}")
    return {kind: {name: loads[name][kind] for name in loads} for kind in KINDS}, len(receiver.spans())


def _ratio(load: GatewayLoad, off: GatewayLoad) -> float:
    """In a typical round: the machine's other tenants must not decide."""
    pairs = zip(load.costs_ms, off.costs_ms, strict=True)
    return round(statistics.median(one / other for one, other in pairs), 3)


def _field_bytes() -> int:
    """By how much the field makes a task that is not traced larger."""
    sent = encode_task(Task("id", "dummy", 1, {}, {}, None, 1.0, "request", 0.5))
    return len(sent) - len(msgspec.msgpack.encode(msgspec.msgpack.decode(sent)[:-1]))


@concluding
def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    loads, spans = _measure(rounds)
    figures = [
        Figure(f"{kind}_cpu_ratio_{name}", _ratio(loads[kind][name], loads[kind]["off"]), at_most=target)
        for kind in KINDS
        for name, target in CPU_TARGETS.items()
    ]
    figures.append(Figure("task_bytes_when_off", _field_bytes(), at_most=1))
    for figure in figures:
        say(f"{figure.name:32} {figure.value:8.3f}  {figure.target:16} {figure.verdict}")
    cpu_ms = {
        kind: {name: round(statistics.median(load.costs_ms), 3) for name, load in loads[kind].items()} for kind in KINDS
    }
    conclude(
        {
            "ok": spans > 0 and all(figure.met for figure in figures),
            **{figure.name: figure.value for figure in figures},
            "targets": {figure.name: figure.target for figure in figures},
            "cpu_ms": cpu_ms,
            "cpu_us_a_traced_job": {kind: round((one["all"] - one["off"]) * 1000) for kind, one in cpu_ms.items()},
            "spans": spans,
            "rounds": rounds,
        },
        verdict=rounds >= ROUNDS,
    )


if __name__ == "__main__":
    main()
