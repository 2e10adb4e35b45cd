"""A real Prometheus on a free port of loopback, that reads a running product's metrics."""

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from testkit.ports import free_ports
from testkit.promql import PROMETHEUS
from testkit.stack import Stack

START_LIMIT_S = 30.0
SCRAPE_EVERY = "1s"


@dataclass(frozen=True)
class PrometheusServer:
    """One that runs."""

    url: str

    def get(self, path: str, **parameters: str) -> Any:
        """The data of an answer; raises urllib's HTTPError where Prometheus refuses."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:  # noqa: S310
            return json.load(answer)["data"]

    def series(self, expression: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def await_true(self, expression: str, *, limit_s: float) -> None:
        """Until the expression has a series."""
        give_up_at = time.monotonic() + limit_s
        while not self.series(expression):
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"no series of {expression} within {limit_s:g} s")
            time.sleep(0.2)


def is_installed() -> bool:
    return bool(shutil.which("prometheus") and shutil.which("promtool"))


def write_configuration(stack: Stack, folder: Path) -> Path:
    """The committed configuration with this product's ports: as many targets, with the same labels."""
    first = int(stack.setting("monitoring_port"))
    configuration = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8"))
    configuration["global"] |= {"scrape_interval": SCRAPE_EVERY, "evaluation_interval": SCRAPE_EVERY}
    targets = yaml.safe_load((PROMETHEUS / "targets/onlooker.yml").read_text(encoding="utf-8"))
    for group in targets:
        ports = [first + int(target.rpartition(":")[2]) - 9100 for target in group["targets"]]
        group["targets"] = [f"127.0.0.1:{port}" for port in ports]
    (folder / "targets").mkdir()
    (folder / "targets/onlooker.yml").write_text(yaml.safe_dump(targets), encoding="utf-8")
    shutil.copy(PROMETHEUS / "alerts.yml", folder)
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    return path


@contextmanager
def running_prometheus(stack: Stack, folder: Path) -> Iterator[PrometheusServer]:
    """Until the block ends; its data and its log are in the folder."""
    (port,) = free_ports(1)
    command = [
        "prometheus",
        f"--config.file={write_configuration(stack, folder)}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        server = PrometheusServer(f"http://127.0.0.1:{port}")
        _await_start(server, process, folder / "prometheus.log")
        yield server
    finally:
        process.terminate()
        process.wait(30)


def _await_start(server: PrometheusServer, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while True:
        try:
            server.get("status/buildinfo")
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise RuntimeError(f"Prometheus did not start:\n{log.read_text()[-2000:]}") from None
            time.sleep(0.1)
