"""A worker's start: the computing process first, since its libraries and models take longest; the rest meanwhile."""

import asyncio

from onlooker.compute.process_launch import launch
from onlooker.settings import Settings


async def start_worker(settings: Settings) -> None:
    """Raises SettingsError where computing can't be started."""
    launching = asyncio.create_task(launch(settings))
    await asyncio.sleep(0)  # the process runs from here on
    from onlooker.compute.worker import run_worker

    await run_worker(settings, launching)
