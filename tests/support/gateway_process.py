"""Another gateway of a running stack, as a process."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from testkit import Stack, free_ports


@contextmanager
def running_gateway(stack: Stack, **environment: str) -> Iterator[str]:
    """Another gateway of a stack, with more variables."""
    port = free_ports(1)[0]
    role = {
        "ONLOOKER_NATS_USER": "gateway",
        "ONLOOKER_NATS_PASSWORD": stack.password("gateway"),
        "ONLOOKER_HTTPS_PORT": "0",
        "ONLOOKER_HTTP_PORT": str(port),
        "ONLOOKER_MONITORING_PORT": "0",
    } | environment
    with (stack.home / "second-gateway.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "onlooker", "gateway"],
            env=os.environ | stack.environment | role,
            stderr=log,
        )
    try:
        _await_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=2):
                return
        except (OSError, urllib.error.URLError):
            assert process.poll() is None, "the second gateway died"
            time.sleep(0.1)
    raise RuntimeError("the second gateway did not become ready")
