"""Runs every process from the image and asks each one's health check; prints who is healthy, and after how long."""

import argparse
import json
import time
from pathlib import Path
from urllib.parse import urlsplit

from bench.containers.engine import ContainerEngine
from bench.containers.image_launch import CONTAINER, ImageLaunch
from testkit import Stack, fresh_database, running_stack

PROCESSES = ("gateway", "dispatcher", "recorder", "console", "data", "worker-1")
LIMIT_S = 60.0


def is_healthy(engine: ContainerEngine, stack: Stack, process: str) -> bool:
    """By the command of the image's own health check, in the container."""
    port = urlsplit(stack.monitoring_url(process)).port
    command = ["podman", "exec", f"--env=ONLOOKER_MONITORING_PORT={port}", CONTAINER]
    return engine.succeeds([*command, "python", "-m", "onlooker.health_check"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    engine = ContainerEngine(parser.parse_args().folder)
    began = time.monotonic()
    with fresh_database() as url, running_stack(url, ImageLaunch(engine=engine)) as stack:
        ready_s = round(time.monotonic() - began, 1)
        healthy = dict.fromkeys(PROCESSES, False)
        while not all(healthy.values()) and time.monotonic() - began < ready_s + LIMIT_S:
            healthy = {process: is_healthy(engine, stack, process) for process in PROCESSES}
    print(json.dumps({"ready_s": ready_s, "healthy": healthy}))


if __name__ == "__main__":
    main()
