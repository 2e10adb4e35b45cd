"""Jobs on which a computing process ended: on a machine they are tried one at a time."""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from onlooker.bus.connection import NoAnswer

LOOK_EVERY_S = 0.02


class Suspects:
    """The turn of a suspect: the one that kills takes none of the others with it.

    Gateways and dispatchers with the same home take turns by a lock on a file, which the kernel releases when its
    holder dies. Suspects of other machines may still meet.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._here = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, deadline: float) -> AsyncIterator[None]:
        """Raises NoAnswer if it has not come by then."""
        try:
            async with asyncio.timeout(deadline - time.time()):
                await self._here.acquire()
        except TimeoutError:
            raise NoAnswer from None
        try:
            await self._acquire(deadline)
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self._here.release()

    async def _acquire(self, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.time() > deadline:
                    raise NoAnswer from None
                await asyncio.sleep(LOOK_EVERY_S)

    def close(self) -> None:
        os.close(self._descriptor)
