"""The whole product on free ports with a database of its own, for tests and benchmarks."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg

from onlooker.streams.credentials import hash_access_token, new_access_token
from testkit.ports import free_ports

START_LIMIT_S = 300.0
"""As long as `onlooker up` itself waits for its processes."""
OURS = ("nats-server", "gateway", "dispatcher", "recorder", "console", "data")
PORTS = (
    "nats_port",
    "https_port",
    "http_port",
    "console_https_port",
    "console_http_port",
    "data_https_port",
    "data_http_port",
    "monitoring_port",
)


@dataclass(frozen=True)
class TestStream:
    """A stream's credentials and its number in the database."""

    __test__ = False

    id: int
    client_id: str
    access_token: str

    @property
    def auth(self) -> tuple[str, str]:
        return self.client_id, self.access_token


@dataclass
class Stack:
    """A running `onlooker up`; its gateways are `gateway`, `gateway-2` and so on."""

    home: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes]
    output: Path
    streams: list[TestStream] = field(default_factory=list)

    def setting(self, name: str) -> str:
        return self.environment[f"ONLOOKER_{name.upper()}"]

    @property
    def url(self) -> str:
        """HTTPS, as clients see it."""
        return self.setting("public_url")

    @property
    def console_url(self) -> str:
        return self.setting("console_url")

    @property
    def data_url(self) -> str:
        return self.setting("data_url")

    @property
    def plain_url(self) -> str:
        return f"http://127.0.0.1:{self.setting('http_port')}"

    @property
    def ca_file(self) -> str:
        return str(self.home / "tls" / "ca.pem")

    def password(self, user: str) -> str:
        """A role's password on the bus."""
        passwords: dict[str, str] = json.loads((self.home / "nats" / "passwords.json").read_text())
        return passwords[user]

    def execute(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.setting("database_url"), autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def create_stream(
        self, *, kind: str = "enterprise", enabled: bool = True, reads_expression: bool = True
    ) -> TestStream:
        """A stream made straight in the database; one that may do everything, unless told otherwise."""
        access_token = new_access_token()
        rows = self.execute(
            """WITH owner AS (INSERT INTO accounts_account
                                     (password, is_superuser, email, is_staff, is_active, created_at)
                              VALUES ('!', false, 'owner@example.org', false, true, now())
                              ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
                    made AS (INSERT INTO streams_stream
                                    (owner_id, name, client_id, kind, enabled, reads_expression, created_at)
                             SELECT id, 'test', gen_random_uuid(), %s, %s, %s, now() FROM owner
                             RETURNING id, client_id),
                    token AS (INSERT INTO streams_accesstoken (stream_id, sha256, created_at)
                              SELECT id, %s, now() FROM made)
               SELECT id, client_id FROM made""",
            kind,
            enabled,
            reads_expression,
            hash_access_token(access_token),
        )
        stream = TestStream(rows[0][0], str(rows[0][1]), access_token)
        self.streams.append(stream)
        return stream

    def children(self) -> dict[str, int]:
        """Process id of each running child by name; `nats` is the bus, `worker-1-computing` what computes for it."""
        names = {pid: _name(pid) for pid in _child_pids(self.process.pid)}
        found = {
            "nats" if name == "nats-server" else name: pid
            for pid, name in names.items()
            if name in OURS or name.startswith("gateway-")
        }
        found |= {name: pid for pid, name in names.items() if name.startswith("worker-")}
        for name in [name for name in found if name.startswith("worker-")]:
            computing = sorted(_child_pids(found[name]), key=_started_at)
            found |= {f"{name}-computing": pid for pid in computing[:1]}  # the others are its spares
        return found

    def kill(self, name: str) -> bool:
        """SIGKILL a child; False when it is not running at this moment."""
        pid = self.children().get(name)
        if pid is None:
            return False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def monitoring_url(self, name: str) -> str:
        workers = [f"worker-{number}" for number in range(1, int(self.environment.get("ONLOOKER_WORKERS", "1")) + 1)]
        gateways = [f"gateway-{number}" for number in range(2, 65)]
        order = ["gateway", "dispatcher", "recorder", "console", "data", *workers, *gateways]
        return f"http://127.0.0.1:{int(self.setting('monitoring_port')) + order.index(name)}"

    def metrics(self, name: str) -> str:
        with urllib.request.urlopen(f"{self.monitoring_url(name)}/metrics", timeout=5) as answer:  # noqa: S310
            return str(answer.read().decode())

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _started_at(pid: int) -> int:
    """In ticks since the machine started; one that is gone comes last."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return sys.maxsize


def _name(pid: int) -> str:
    """As `ps` shows it: each of our processes gives itself one when it starts."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _child_pids(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task/{parent}/children")
    try:
        return [int(pid) for pid in path.read_text().split()]
    except OSError:
        return []


@dataclass(frozen=True)
class Launch:
    """By which command, ending in it, `onlooker up` is started, and as which user."""

    command: tuple[str, ...] = (sys.executable, "-m", "onlooker", "up")
    user: int | None = None

    def start(self, environment: dict[str, str], log: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
        if self.user is None:
            return subprocess.Popen(self.command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        os.chown(folder, self.user, self.user)
        return subprocess.Popen(
            self.command,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            user=self.user,
            group=self.user,
            extra_groups=[],
        )


@contextmanager
def running_stack(database_url: str, launch: Launch = Launch(), /, **settings: object) -> Iterator[Stack]:  # noqa: B008
    """`onlooker up` on free ports until the block ends; keyword arguments are settings."""
    settings.setdefault("compute_spares", 0)
    settings.setdefault("meters_every_s", 2)  # nobody waits for what was counted
    processes = int(str(settings.get("workers", 1))) + int(str(settings.setdefault("gateways", 1))) - 1
    # The processes' monitoring ports follow: one each, counted up from the first.
    ports = dict(zip(PORTS, free_ports(len(PORTS) + 4 + processes), strict=False))
    with tempfile.TemporaryDirectory(prefix="onlooker-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        values: dict[str, object] = {
            "home": home / "home",
            "database_url": database_url,
            "nats_url": f"nats://127.0.0.1:{ports.pop('nats_port')}",
            "https_host": "127.0.0.1",
            "public_url": f"https://localhost:{ports['https_port']}",
            "console_url": f"https://localhost:{ports['console_https_port']}",
            "data_url": f"https://localhost:{ports['data_https_port']}",
            **ports,
            "log_level": "debug",
            "database_pool_size": 4,  # many stacks share one PostgreSQL
        } | settings
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")}
        environment |= {f"ONLOOKER_{name.upper()}": str(value) for name, value in values.items()}
        output = home / "up.log"
        with output.open("wb") as log:
            process = launch.start(environment, log, home)
        stack = Stack(Path(environment["ONLOOKER_HOME"]), environment, process, output)
        try:
            await_ready(stack)
            yield stack
        finally:
            stack.stop()


def await_ready(stack: Stack) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while "Ready." not in stack.output.read_text():
        if stack.process.poll() is not None or time.monotonic() > give_up_at:
            raise RuntimeError(f"`onlooker up` did not become ready:\n{stack.output.read_text()[-4000:]}")
        time.sleep(0.1)
