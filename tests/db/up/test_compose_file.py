"""deploy/compose: services have settings that exist and the secrets that are made, and are no more open than said."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from onlooker.bus.roles import SETUP
from onlooker.bus.server_configuration import ROUTE, read_passwords, roles_of
from onlooker.database_roles.grants import ROLES
from onlooker.settings import Settings, read_settings

COMPOSE = Path(__file__).parents[3] / "deploy" / "compose"
KNOWN: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = KNOWN["services"]
WITH_SETTINGS = [name for name, service in SERVICES.items() if "ONLOOKER_CONFINEMENT" in service.get("environment", {})]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy with secrets."""
    shutil.copytree(COMPOSE, tmp_path / "compose", ignore=shutil.ignore_patterns("secrets", ".env"))
    shutil.copy(COMPOSE / ".env.example", tmp_path / "compose" / ".env")
    create_secrets(tmp_path / "compose")
    return tmp_path / "compose"


def create_secrets(folder: Path) -> None:
    subprocess.run([folder / "secrets-create"], check=True, timeout=60, capture_output=True)


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in (folder / "secrets").rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def filled(text: str) -> str:
    """As compose fills in a variable that is not set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def secrets_of(service: dict[str, Any], folder: Path) -> Iterator[tuple[str, Path]]:
    """Where each is in the container, and beside the file."""
    for secret in service.get("secrets", ()):
        source, target = (secret, secret) if isinstance(secret, str) else (secret["source"], secret["target"])
        yield f"/run/secrets/{target}", folder / KNOWN["secrets"][source]["file"]


@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_settings_of_a_service_are_ones_that_the_product_knows(name: str, folder: Path) -> None:
    service = SERVICES[name]
    places = {inside: str(outside) for inside, outside in secrets_of(service, folder)}
    environment = {key: filled(str(value)) for key, value in service["environment"].items()}
    settings = read_settings({key: places.get(value, value) for key, value in environment.items()})
    assert settings.confinement == "on"
    assert settings.nats_url == "nats://nats:4322"


@pytest.mark.parametrize("name", SERVICES)
def test_services_have_nothing_to_write_no_powers_and_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "pids_limit", "networks", "healthcheck"} <= service.keys()
    assert "privileged" not in service
    assert "cap_add" not in service


def test_only_the_proxy_and_the_console_reach_outside() -> None:
    assert [name for name, service in SERVICES.items() if "outside" in service["networks"]] == ["proxy"]
    assert [name for name, service in SERVICES.items() if "mail" in service["networks"]] == ["console"]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert {name for name, network in KNOWN["networks"].items() if not network.get("internal")} == {"mail", "outside"}


def test_the_proxy_reaches_services_only_from_the_address_that_they_trust() -> None:
    shared = {name: set(service["networks"]) & set(SERVICES["proxy"]["networks"]) for name, service in SERVICES.items()}
    assert {name for name, networks in shared.items() if networks} == {"proxy", "gateway", "console", "data"}
    assert all(shared[name] == {"edge"} for name in ("gateway", "console", "data"))


def test_a_worker_has_no_way_to_the_database() -> None:
    assert SERVICES["worker"]["networks"] == ["bus"]
    assert SERVICES["worker"]["secrets"] == ["nats-worker"]


def test_every_secret_is_made_and_used(folder: Path) -> None:
    used = {path for service in SERVICES.values() for _, path in secrets_of(service, folder)}
    assert used == {folder / secret["file"] for secret in KNOWN["secrets"].values()}
    assert [path for path in used if not path.exists()] == []


def test_secrets_are_for_their_owner_alone(folder: Path) -> None:
    assert (folder / "secrets").stat().st_mode & 0o777 == 0o700
    assert (folder / "secrets" / "authority.key").stat().st_mode & 0o777 == 0o600


def test_every_role_and_user_has_a_password(folder: Path) -> None:
    secrets = folder / "secrets"
    assert {path.name for path in (secrets / "database").iterdir()} == set(ROLES)
    passwords = read_passwords(secrets / "nats-passwords.json")
    assert passwords.keys() == {ROUTE, *(role.user for role in roles_of(("worker",), Settings()))}
    assert passwords[SETUP] == (secrets / "nats-setup").read_text().strip()
    assert len(set(passwords.values())) == len(passwords)


def test_making_secrets_again_changes_nothing(folder: Path) -> None:
    before = contents(folder)
    create_secrets(folder)
    assert contents(folder) == before


def test_another_host_gets_a_certificate_from_the_same_authority(folder: Path) -> None:
    before = contents(folder)
    (folder / ".env").write_text("ONLOOKER_HOST=vision.example.org\n")
    create_secrets(folder)
    after = contents(folder)
    assert {name for name in after if after[name] != before[name]} == {"secrets/server.pem", "secrets/server.names"}
    verify = [
        "openssl",
        "verify",
        "-verify_hostname",
        "vision.example.org",
        "-CAfile",
        folder / "secrets/authority.pem",
    ]
    subprocess.run([*verify, folder / "secrets" / "server.pem"], check=True, capture_output=True)


def test_a_certificate_of_ones_own_stays(folder: Path) -> None:
    (folder / "secrets" / "server.pem").write_text("mine")
    (folder / "secrets" / "server.names").unlink()
    create_secrets(folder)
    assert (folder / "secrets" / "server.pem").read_text() == "mine"
