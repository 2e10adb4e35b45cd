"""The configuration of one server of the bus: who may connect, what they may do, what it keeps; and the passwords."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.bus.bucket_setup import disk_needed
from onlooker.bus.roles import Role, dispatcher_role, gateway_role, recorder_role, setup_role, worker_role
from onlooker.settings import Settings, SettingsError

ROUTE = "route"
"""The user as which the servers of a bus connect to each other."""
POOL = "worker"
"""The user of the workers where only one pool of them is wanted."""
PAYLOAD_SLACK_BYTES = 2 * 1024**2
DISK_SLACK_BYTES = 1024**3
ANSWER_TIME = "2m"


@dataclass(frozen=True)
class BusCluster:
    """How a server finds the others: `routes` are their addresses, as nats:// URLs without a user."""

    name: str
    listen: str
    routes: tuple[str, ...]


@dataclass(frozen=True)
class BusCertificate:
    """Files of a server's certificate; with an authority, clients and other servers must show one that it signed."""

    certificate: str
    key: str
    authority: str = ""


@dataclass(frozen=True, kw_only=True)
class BusServer:
    """What one server of the bus is called, where it listens, and which pools of workers it lets in."""

    name: str
    listen: str
    folder: Path
    pools: tuple[str, ...]
    cluster: BusCluster | None = None
    certificate: BusCertificate | None = None


def default_passwords_file(settings: Settings) -> Path:
    return settings.home_path / "nats" / "passwords.json"


def ensure_passwords(path: Path, users: list[str]) -> dict[str, str]:
    """A random password for each user, in a file that only its owner can read, and one by one in a folder beside it."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = read_passwords(path) if path.exists() else {}
    passwords = known | {user: secrets.token_urlsafe(24) for user in users if user not in known}
    texts = {path: json.dumps(passwords)} | {folder / user: password for user, password in passwords.items()}
    for file, text in texts.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.touch(mode=0o600)
            file.write_text(text, encoding="utf-8")
    return passwords


def read_passwords(path: Path) -> dict[str, str]:
    try:
        passwords: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"The passwords of the bus can't be read: {error.strerror}: {path}") from None
    except ValueError:
        raise SettingsError(f"{path} does not contain the passwords of the bus: it is not JSON.") from None
    return passwords


def roles_of(pools: tuple[str, ...], settings: Settings) -> list[Role]:
    """Every user of the bus, except the one of the routes."""
    shards = settings.bucket_shards
    fixed = [gateway_role(shards=shards), dispatcher_role(), recorder_role(shards=shards), setup_role()]
    taken = {ROUTE, *(role.user for role in fixed)}
    for pool in pools:
        if pool in taken:
            raise SettingsError(f"A pool of workers can't be called {pool!r}: the bus has such a user already.")
        taken.add(pool)
    return [*fixed, *(worker_role(pool, shards=shards) for pool in pools)]


def configure_server(server: BusServer, settings: Settings, passwords: dict[str, str]) -> dict[str, Any]:
    """As nats-server reads it, once it is written as JSON. Contains the passwords."""
    roles = roles_of(server.pools, settings)
    tls = {"tls": _tls(server.certificate)} if server.certificate else {}
    configuration = {
        "listen": server.listen,
        "server_name": server.name,
        "max_payload": settings.body_limit_bytes + PAYLOAD_SLACK_BYTES,
        "jetstream": {
            "store_dir": str(server.folder / "jetstream"),
            "sync_interval": "1s",
            "max_file_store": disk_needed(settings) + settings.visits_disk_bytes + DISK_SLACK_BYTES,
        },
        "authorization": {"users": [_user(role, passwords[role.user]) for role in roles]},
    } | tls
    if server.cluster:
        configuration["cluster"] = _cluster(server.cluster, passwords[ROUTE]) | tls
    return configuration


def _user(role: Role, password: str) -> dict[str, Any]:
    permissions: dict[str, Any] = {
        "publish": {"allow": list(role.publish)},
        "subscribe": {"allow": list(role.subscribe)},
    }
    if role.answers:
        permissions["allow_responses"] = {"max": 1, "expires": ANSWER_TIME}
    return {"user": role.user, "password": password, "permissions": permissions}


def _cluster(cluster: BusCluster, password: str) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "listen": cluster.listen,
        "authorization": {"user": ROUTE, "password": password},
        "routes": [route.replace("://", f"://{ROUTE}:{password}@", 1) for route in cluster.routes],
    }


def _tls(files: BusCertificate) -> dict[str, Any]:
    shown = {"cert_file": files.certificate, "key_file": files.key}
    return shown | {"ca_file": files.authority, "verify": True} if files.authority else shown
