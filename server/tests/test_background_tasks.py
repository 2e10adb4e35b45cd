"""A loop that fails is logged, and its process stops by itself."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from onlooker.background_tasks import start_background_task
from testkit import Stack, free_ports

FAILING_LOOPS = {
    "gateway": "from onlooker.gateway.engine.exchange import Exchange as Owner; loop = 'watch'",
    "dispatcher": "from onlooker.gateway.engine.workers import Workers as Owner; loop = 'run'",
}
PROGRAM = """
import asyncio, signal
{chosen}
async def fail(self):
    while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        await asyncio.sleep(0.05)
    raise ZeroDivisionError("as a test wants it")
setattr(Owner, loop, fail)
from onlooker.cli import main
main()
"""
STOP_LIMIT_S = 30


@pytest.mark.parametrize("process", FAILING_LOOPS)
def test_a_process_whose_loop_fails_says_so_and_stops(stack: Stack, process: str) -> None:
    role = {
        "ONLOOKER_NATS_USER": process,
        "ONLOOKER_NATS_PASSWORD": stack.password(process),
        "ONLOOKER_HTTPS_PORT": "0",
        "ONLOOKER_HTTP_PORT": str(free_ports(1)[0]),
        "ONLOOKER_MONITORING_PORT": "0",
    }
    command = [sys.executable, "-c", PROGRAM.format(chosen=FAILING_LOOPS[process]), process]
    ended = subprocess.run(
        command, env=os.environ | stack.environment | role, stderr=subprocess.PIPE, timeout=STOP_LIMIT_S, check=True
    )
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    [failure] = [line for line in lines if line["level"] == "error"]
    assert failure["event"] == "background task failed: the process stops"
    assert "Traceback" in failure["exception"]
    assert "as a test wants it" in failure["exception"]
    assert lines[-1]["event"] == f"{process} stopped"


def test_a_loop_that_is_cancelled_stops_nothing() -> None:
    async def run() -> bool:
        task = start_background_task(_sleep())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())


async def _sleep() -> None:
    await asyncio.sleep(STOP_LIMIT_S)
