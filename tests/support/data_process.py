"""A data endpoint in a process of its own, for tests."""

import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil

from readers import Archive, Watched


@dataclass(frozen=True)
class Served:
    """How to reach it."""

    archive: Archive
    process: subprocess.Popen[bytes]
    http_port: int
    monitoring_port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=2):
                return True
        except (OSError, urllib.error.URLError):
            return False

    def client(self, stream: Watched) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.archive.token(stream)}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitoring_port}/metrics", timeout=5) as answer:
            return str(answer.read().decode())

    def memory_bytes(self) -> int:
        return int(psutil.Process(self.process.pid).memory_info().rss)
