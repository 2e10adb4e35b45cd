"""Codes of a running product, from its own command line; and what its database knows of the devices."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from terminal_command import run_agent
from testkit import Stack

OWNER = "integrator@example.org"


def run_product(product: Stack, *words: str) -> str:
    """`onlooker` with the product's settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    ended = subprocess.run(
        [sys.executable, "-m", "onlooker", *words],
        env=environment | product.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def make_template(product: Stack, name: str, *options: str) -> None:
    run_product(product, "device", "template", name, "--owner", OWNER, "--preset", "counts", *options)


def make_code(product: Stack, *options: str) -> str:
    said = run_product(product, "device", "code", "--owner", OWNER, *options)
    found = re.search(r"enrol (\S+) --server", said)
    assert found, said
    return found[1]


def enrol(product: Stack, folder: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """As a person types it in a folder of their own."""
    folder.mkdir(exist_ok=True)
    server = ("--server", product.console_url, "--ca", product.ca_file)
    return run_agent("enrol", code, *server, *options, folder=folder, **own_state(folder))


def own_state(folder: Path) -> dict[str, str]:
    return {"STATE_DIRECTORY": str(folder / "state")}


def devices_of(product: Stack, client_id: str) -> list[tuple[Any, ...]]:
    return product.execute(
        "SELECT device.device_id, device.revoked_at IS NULL FROM devices_device device JOIN streams_stream stream "
        "ON stream.id = device.stream_id WHERE stream.client_id = %s ORDER BY device.id",
        client_id,
    )
