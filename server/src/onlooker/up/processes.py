"""Child processes: started, watched, restarted when they die, stopped in order."""

import asyncio
import logging
import signal
import time
from dataclasses import dataclass, field
from functools import partial

from onlooker.background_tasks import start_background_task
from onlooker.child_process import prepare_child
from onlooker.logs import fields

log = logging.getLogger(__name__)

STOP_LIMIT_S = 15.0
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0
STEADY_AFTER_S = 10.0


@dataclass
class Child:
    """One process to keep running."""

    name: str
    command: list[str]
    environment: dict[str, str]
    sandbox: int | None = None
    """What it may open, as a descriptor of Landlock."""
    process: asyncio.subprocess.Process | None = None
    watch: asyncio.Task[None] | None = None
    starts: int = 0
    stopping: bool = field(default=False)

    async def start(self) -> None:
        await self._spawn()
        self.watch = start_background_task(self._keep_running())

    async def _spawn(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            preexec_fn=partial(prepare_child, ended_by=signal.SIGTERM, sandbox=self.sandbox),
        )
        self.starts += 1

    async def _keep_running(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            started = time.monotonic()
            assert self.process
            code = await self.process.wait()
            if self.stopping:
                return
            log.error("process died", extra=fields(child=self.name, code=code))
            wait_s = FIRST_WAIT_S if time.monotonic() - started > STEADY_AFTER_S else min(wait_s * 2, LONGEST_WAIT_S)
            await asyncio.sleep(wait_s)
            if self.stopping:
                return
            try:
                await self._spawn()
            except OSError as error:  # no memory, or no room for one more process: later there may be
                log.error("process not started", extra=fields(child=self.name, error=str(error)))
                continue
            log.info("process started again", extra=fields(child=self.name))

    async def stop(self) -> None:
        """Ask it to end, then kill it."""
        self.stopping = True
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await self.process.wait()
        except TimeoutError:
            log.error("process killed: it did not stop", extra=fields(child=self.name))
            self.process.kill()
            await self.process.wait()
