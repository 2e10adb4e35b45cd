"""A loop that fails is logged, and its process stops by itself."""

import asyncio
import logging
import signal

import pytest

from onlooker.background_tasks import start_background_task

STOP_LIMIT_S = 30


def test_a_process_whose_loop_fails_says_so_and_stops(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("as a test wants it")

    async def run() -> None:
        asked_to_stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_stop.set)
        task = start_background_task(fail())
        await asyncio.wait_for(asked_to_stop.wait(), STOP_LIMIT_S)
        assert task.done()

    asyncio.run(run())
    (failure,) = [line for line in caplog.records if line.levelno == logging.ERROR]
    assert failure.getMessage() == "background task failed: the process stops"
    assert failure.exc_info
    assert "as a test wants it" in str(failure.exc_info[1])


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
