"""The parts that the client's tests share: a running product, credentials of a fresh stream, a client, a film."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from testkit import Stack, TestStream, migrated_database, running_stack

from onlooker_client import Client


@pytest.fixture(scope="session")
def product() -> Iterator[Stack]:
    """The whole product, shared by all tests of the client that do not break it."""
    with migrated_database() as database_url, running_stack(database_url, credential_cache_s=0.5) as running:
        yield running


@pytest.fixture
def stream(product: Stack) -> TestStream:
    """A fresh enterprise stream."""
    return product.create_stream()


@pytest.fixture
def client(product: Stack, stream: TestStream) -> Iterator[Client]:
    """The SDK with the fresh stream's credentials, over HTTPS."""
    with Client(product.url, stream.client_id, stream.access_token, ca_file=product.ca_file) as made:
        yield made


@pytest.fixture(scope="session")
def passing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a video: ten seconds of somebody who comes, stands and looks for five, and goes."""
    path = tmp_path_factory.mktemp("clips") / "passing.mp4"
    maker = Path(__file__).resolve().parents[2] / "docs" / "make_passing.py"
    subprocess.run([sys.executable, str(maker), str(path)], check=True, timeout=120)
    return str(path)


@pytest.fixture(autouse=True)
def no_config(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the config of the user who runs it."""
    monkeypatch.delenv("ONLOOKER_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
