"""A bus of three servers: kept on all of them, reached by any, and with certificates."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from onlooker.bus.bucket_setup import disk_needed
from onlooker.bus.connection import connect
from onlooker.settings import Settings, SettingsError
from onlooker.up.certificates import authority_file, ensure_certificate
from onlooker.up.nats_server import find_program
from testkit import free_ports

SERVERS = 3


@dataclass
class Cluster:
    """Its addresses, as the setting has them, and its processes."""

    url: str
    servers: list[subprocess.Popen[bytes]]

    def settings(self, **more: Any) -> Settings:
        return Settings(nats_url=self.url, **more)


@contextmanager
def cluster_of(folder: Path, tls: dict[str, Any] | None = None) -> Iterator[Cluster]:
    """Three servers of a bus of its own, without passwords."""
    ports, routes = free_ports(SERVERS), free_ports(SERVERS)
    servers = []
    for number, (port, route) in enumerate(zip(ports, routes, strict=True)):
        configuration = {
            "listen": f"127.0.0.1:{port}",
            "server_name": f"bus-{number}",
            "jetstream": {"store_dir": str(folder / str(number)), "max_file_store": disk_needed(Settings()) + 2**32},
            "cluster": {
                "name": "onlooker",
                "listen": f"127.0.0.1:{route}",
                "routes": [f"nats://127.0.0.1:{other}" for other in routes],
            },
        } | ({"tls": tls} if tls else {})
        file = folder / f"{number}.conf"
        file.write_text(json.dumps(configuration))
        command = [find_program(Settings()), "-c", str(file)]
        servers.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
    try:
        yield Cluster(", ".join(f"nats://127.0.0.1:{port}" for port in ports), servers)
    finally:
        for server in servers:
            server.kill()
            server.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with cluster_of(tmp_path) as found:
        yield found


def test_a_bus_with_certificates_is_checked_by_its_authority(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A process that trusts another authority waits, and says why."""
    certificate, key = ensure_certificate(tmp_path / "tls", ["localhost", "127.0.0.1"])
    ensure_certificate(tmp_path / "other", ["localhost"])
    ours, other = (str(authority_file(tmp_path / folder)) for folder in ("tls", "other"))
    with cluster_of(tmp_path, {"cert_file": str(certificate), "key_file": str(key)}) as cluster:

        async def run() -> None:
            bus = await connect(cluster.settings(nats_authority_file=ours), name="test")
            assert bus.is_connected
            await bus.close()
            caplog.clear()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connect(cluster.settings(nats_authority_file=other), name="test"), 2)
            assert "no bus yet" in caplog.text

        asyncio.run(run())


def test_certificates_that_cannot_be_read_name_their_settings(tmp_path: Path) -> None:
    settings = Settings(nats_authority_file=str(tmp_path / "none.pem"))
    with pytest.raises(SettingsError, match="ONLOOKER_NATS_AUTHORITY_FILE"):
        asyncio.run(connect(settings, name="test"))
