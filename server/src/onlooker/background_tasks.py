"""Tasks that run as long as their process: where one fails, the process stops and its supervisor starts it again."""

import asyncio
import logging
import os
import signal
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


def start_background_task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task for a loop that runs until it is cancelled. Nobody awaits it, so it would fail in silence."""
    task = asyncio.create_task(work)
    task.add_done_callback(_note_end)
    return task


def stop_process() -> None:
    """As if it had been asked to: what is in progress is finished."""
    os.kill(os.getpid(), signal.SIGTERM)


def _note_end(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error:
        log.error("background task failed: the process stops", exc_info=error)
        stop_process()
