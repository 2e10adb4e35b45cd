"""Compute threads, so that the event loop keeps answering the bus."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

Result = TypeVar("Result")
Work = Callable[[], Result]


class ComputeThreads(Generic[Result]):
    """Runs work that never raises, first come, first served; its results return faster than a ThreadPoolExecutor's."""

    def __init__(self, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[tuple[Work[Result], asyncio.Future[Result]]] = SimpleQueue()
        for number in range(count):
            threading.Thread(target=self._run, name=f"compute-{number}", daemon=True).start()

    async def run(self, work: Work[Result]) -> Result:
        future: asyncio.Future[Result] = self._loop.create_future()
        self._queue.put((work, future))
        return await future

    def _run(self) -> None:
        while True:
            work, future = self._queue.get()
            result = work()
            self._loop.call_soon_threadsafe(_set_result, future, result)


def _set_result(future: asyncio.Future[Result], result: Result) -> None:
    if not future.done():
        future.set_result(result)
