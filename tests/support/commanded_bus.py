"""A bus of three servers whose configurations `onlooker bus` printed, for tests of a cell."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nats.js.client import JetStreamContext

from onlooker.bus.preparation import open_setup
from onlooker.bus.subjects import VISITS
from onlooker.settings import Settings
from onlooker.up.nats_server import find_program
from testkit import free_ports

COMMAND_LIMIT_S = 240


@dataclass
class CommandedBus:
    """Three servers whose configurations the command printed."""

    folder: Path
    ports: list[int]
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    tls: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        ours = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")}
        url = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)
        return ours | {"ONLOOKER_HOME": str(self.folder), "ONLOOKER_NATS_URL": url} | self.tls

    @property
    def passwords(self) -> dict[str, str]:
        known: dict[str, str] = json.loads((self.folder / "nats/passwords.json").read_text())
        return known

    def settings(self, user: str, **more: Any) -> Settings:
        tls = {name.removeprefix("ONLOOKER_").lower(): value for name, value in self.tls.items()}
        url = self.environment["ONLOOKER_NATS_URL"]
        return Settings(nats_url=url, nats_user=user, nats_password=self.passwords[user], **tls, **more)

    def run(self, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
        more = {f"ONLOOKER_{name.upper()}": str(value) for name, value in settings.items()}
        return subprocess.run(
            [sys.executable, "-m", "onlooker", "bus", *arguments],
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            check=False,
        )

    @contextmanager
    def running(self, command: str, **settings: object) -> Iterator[subprocess.Popen[bytes]]:
        """The same without waiting for it; what it prints is in `output`."""
        more = {f"ONLOOKER_{name.upper()}": str(value) for name, value in settings.items()}
        with (self.folder / f"{command}.output").open("wb") as printed:
            started = subprocess.Popen(
                [sys.executable, "-m", "onlooker", "bus", command],
                env=self.environment | more,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )
        try:
            yield started
        finally:
            started.kill()
            started.wait()

    def output(self, command: str) -> str:
        return (self.folder / f"{command}.output").read_text()

    def start(self, name: str) -> None:
        command = [find_program(Settings()), "-c", str(self.folder / f"{name}.conf")]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.servers[name] = subprocess.Popen(command, stderr=log)

    def kill(self, name: str) -> None:
        self.servers[name].kill()
        self.servers[name].wait()

    def as_setup(self, act: Callable[[JetStreamContext], Any]) -> Any:
        async def run() -> Any:
            async with open_setup(self.settings("setup"), self.passwords["setup"]) as jetstream:
                return await act(jetstream)

        return asyncio.run(run())

    def leader(self) -> str:
        return str(self.as_setup(lambda jetstream: jetstream.stream_info(VISITS)).cluster.leader)


@contextmanager
def commanded_bus(folder: Path, *certificates: str, tls: dict[str, str] | None = None) -> Iterator[CommandedBus]:
    """All three are started; nothing is on them yet. With the command's arguments and the settings for TLS."""
    found = free_ports(6)
    ports, routes = found[:3], found[3:]
    bus = CommandedBus(folder, ports, tls=tls or {})
    for number, port in enumerate(ports):
        name = f"n{number + 1}"
        others = [f"--route=nats://127.0.0.1:{other}" for other in routes if other != routes[number]]
        listen = (f"--listen=127.0.0.1:{port}", f"--cluster-listen=127.0.0.1:{routes[number]}")
        files = ("--folder", str(folder / name))
        printed = bus.run("configuration", "--name", name, *listen, *others, *files, *certificates)
        assert printed.returncode == 0, printed.stderr
        (folder / f"{name}.conf").write_text(printed.stdout)
    try:
        for number in range(3):
            bus.start(f"n{number + 1}")
        yield bus
    finally:
        for name in bus.servers:
            bus.kill(name)
