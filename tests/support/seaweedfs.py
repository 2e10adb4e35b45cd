"""A real S3 server for tests (SeaweedFS, on loopback, gone afterwards), and a look into a blob store."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, S3Store

from testkit import Stack, free_ports

START_LIMIT_S = 60.0
PORTS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
)


@dataclass(frozen=True)
class S3Server:
    """Where the server is, and an administrator's keys, who makes the bucket by writing to it."""

    endpoint: str
    bucket: str = "onlooker-test"
    access_key: str = "test-access-key"
    secret_key: str = "test-secret-key"

    def store(self, prefix: str | None = None) -> S3Store:
        return S3Store(
            self.bucket,
            prefix=prefix,
            endpoint=self.endpoint,
            region="us-east-1",
            access_key_id=self.access_key,
            secret_access_key=self.secret_key,
            client_options={"allow_http": True, "timeout": "10s"},
            retry_config={"max_retries": 0},
            virtual_hosted_style_request=False,
        )


@dataclass(frozen=True)
class StoredStack:
    """A running stack and a look into its blob store, past the gateway."""

    stack: Stack
    store: LocalStore | S3Store

    def paths(self, prefix: str) -> set[str]:
        return {item["path"] for page in obstore.list(self.store, prefix=prefix) for item in page}


@contextmanager
def running_seaweedfs() -> Iterator[S3Server]:
    """SeaweedFS with one bucket until the block ends."""
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    server = S3Server(f"http://127.0.0.1:{ports['s3.port']}")
    with tempfile.TemporaryDirectory(prefix="onlooker-s3-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / "weed.log").open("wb") as log:
            process = subprocess.Popen(_command(folder, server, ports), stdout=log, stderr=log, cwd=folder)
        try:
            _await_bucket(server, process, folder / "weed.log")
            yield server
        finally:
            process.kill()
            process.wait()
            for port in ports.values():
                for socket in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                    socket.unlink(missing_ok=True)


def _command(folder: Path, server: S3Server, ports: dict[str, int]) -> list[str]:
    keys = {"accessKey": server.access_key, "secretKey": server.secret_key}
    identities = [{"name": "test", "credentials": [keys], "actions": ["Admin"]}]
    (folder / "s3.json").write_text(json.dumps({"identities": identities}))
    (folder / "data").mkdir()
    return [
        str(Path(sys.executable).parent / "weed"),
        "server",
        f"-dir={folder / 'data'}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-filer",
        "-s3",
        f"-s3.config={folder / 's3.json'}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=20",
        *(f"-{name}={port}" for name, port in ports.items()),
    ]


def _await_bucket(server: S3Server, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while True:
        try:
            obstore.put(server.store(), "ready", b"")
            return
        except BaseError:
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise RuntimeError(f"SeaweedFS did not become ready:\n{log.read_text()[-4000:]}") from None
            time.sleep(0.1)
