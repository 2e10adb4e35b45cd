"""A backup's file: only its key opens it, a damaged one is refused, and nothing in it leads out of the home folder."""

import os
import subprocess
import sys
from pathlib import Path

import pyrage
import pytest

from onlooker.backup.age_file import create_key, read_key


@pytest.fixture
def key(tmp_path: Path) -> Path:
    create_key(tmp_path / "backup.key")
    return tmp_path / "backup.key"


def public_part(key: Path) -> pyrage.x25519.Recipient:
    return read_key(key)[0].to_public()


def home_of(folder: Path) -> Path:
    files = {
        "secret_key": "the secret",
        "secret_key_fallbacks": "the one before",
        "tls/ca.key": "authority",
        "database/gateway": "postgresql://gateway:password@host/onlooker",
        "nats/passwords.json": "{}",
        "nats/jetstream/state.blk": "session state",
        "nats/nats.log": "log",
        "blobs/1/frame.jpg": "a frame",
        "gateways/turns": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    command = [sys.executable, "-m", "onlooker", "backup", *map(str, arguments)]
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, timeout=60, check=False)


def test_only_secrets_are_backed_up_and_shown_on_request(tmp_path: Path, key: Path) -> None:
    home, file = home_of(tmp_path / "home"), tmp_path / "secrets.age"
    environment = {"ONLOOKER_HOME": str(home), "ONLOOKER_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    public = str(public_part(key))
    made = run(environment, "create", file, "--recipient", public, "--without-database")
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    shown = run(environment, "show", file, "--key", key)
    assert shown.returncode == 0, shown.stderr
    assert "home/tls/ca.key" in shown.stdout
    assert "the secret" not in shown.stdout
    again = run(environment, "create", file, "--recipient", public)
    assert (again.returncode, "never overwritten" in again.stderr) == (2, True)
