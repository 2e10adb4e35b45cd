"""Starts everything on one machine, in order, and says what runs where."""

import asyncio
import fcntl
import logging
import os
import re
import shutil
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from onlooker.bus.preparation import BUS_NOT_READY, prepare_bus
from onlooker.bus.roles import DISPATCHER, GATEWAY, RECORDER, SETUP
from onlooker.compute.service_loader import chosen_services
from onlooker.console.web.secret_key import ensure_secret_key
from onlooker.database_roles.grants import MIGRATIONS
from onlooker.monitoring import address_of
from onlooker.settings import Settings, SettingsError, variable_name
from onlooker.up.certificates import authority_file, ensure_certificate
from onlooker.up.database_access import open_database
from onlooker.up.environment import (
    CONSOLE,
    DATA,
    as_role,
    process_environment,
    system_environment,
    tls_environment,
    worker_environment,
)
from onlooker.up.file_access import BUS, open_sandbox, private_folder
from onlooker.up.nats_server import find_program, worker_names, write_configuration
from onlooker.up.processes import Child
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.model_runtime import require_models

log = logging.getLogger(__name__)

READY_LIMIT_S = 300.0
"""Beside ten other programs on two cores a start has taken more than a minute."""
SAID_EVERY_S = 20.0
CORES_PER_GATEWAY, MOST_GATEWAYS = 4, 4
"""By default: a frame costs its worker many times what it costs a gateway, and each has connections to PostgreSQL."""
STOPPED_BEFORE_WORKERS = (GATEWAY, DISPATCHER)
STOPPED_AFTER_WORKERS = (RECORDER, CONSOLE, DATA, BUS)

Say = Callable[[str], None]


def stopping_rank(name: str) -> int:
    """Processes that take frames stop first, while workers still answer what is in progress."""
    name = GATEWAY if is_gateway(name) else name
    if name in STOPPED_BEFORE_WORKERS:
        return STOPPED_BEFORE_WORKERS.index(name) - len(STOPPED_BEFORE_WORKERS)
    return 1 + STOPPED_AFTER_WORKERS.index(name) if name in STOPPED_AFTER_WORKERS else 0


def gateway_names(settings: Settings) -> list[str]:
    """The first has no number, as where there is only one."""
    by_cores = min(max(len(os.sched_getaffinity(0)) // CORES_PER_GATEWAY, 1), MOST_GATEWAYS)
    return [GATEWAY, *(f"{GATEWAY}-{number}" for number in range(2, (settings.gateways or by_cores) + 1))]


def is_gateway(name: str) -> bool:
    return name.partition("-")[0] == GATEWAY


class Supervisor:
    """The processes of one `onlooker up`."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings = settings
        self._say = say
        self._children: list[Child] = []

    async def run(self) -> None:
        """Start, run until SIGTERM or SIGINT, then stop in the order in which a frame travels."""
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        home = self._settings.home_path
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with lock_home(home):
            starting = asyncio.create_task(self._start())
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
                if starting.done():
                    starting.result()
                    self._say("Ready. Stop with Ctrl-C.")
                    await stopping
                self._say("Stopping ...")
            finally:
                starting.cancel()
                await self._stop()
            self._say("Stopped.")

    async def _stop(self) -> None:
        """Those of one rank stop at the same time."""
        for rank in sorted({stopping_rank(child.name) for child in self._children}):
            await asyncio.gather(*(child.stop() for child in self._children if stopping_rank(child.name) == rank))

    async def _start(self) -> None:
        settings = self._settings
        require_models(chosen_services(read_catalogue(settings.extra_services), settings.worker_services))
        program = find_program(settings)
        certificate, key = self._certificate()
        urls = await self._open_database()
        _require_free_port(settings.nats_url)
        configuration, passwords = write_configuration(settings.home_path / "nats", settings)
        _require_unused(settings.https_host, settings.https_port, "https_port")
        _require_unused(settings.http_host, settings.http_port, "http_port")
        shutil.rmtree(settings.shared_path, ignore_errors=True)
        self._say(f"  bus         {settings.nats_url}")
        bus_environment = system_environment() | {"GOMAXPROCS": str(settings.nats_cores)}
        await self._launch(BUS, [program, "-c", str(configuration)], bus_environment, program)
        await self._prepare(passwords[SETUP])

        ensure_secret_key(settings)
        tls = tls_environment(settings, certificate, key)
        port = settings.monitoring_port
        ports: dict[str, int] = {}
        gateways = gateway_names(settings)
        for name in (GATEWAY, DISPATCHER, RECORDER, CONSOLE, DATA, *worker_names(settings), *gateways[1:]):
            ports[name] = port + len(ports) if port else 0
            role = {"ONLOOKER_MONITORING_PORT": str(ports[name])}
            user = GATEWAY if name in gateways else name
            if name not in (CONSOLE, DATA):
                role |= {"ONLOOKER_NATS_USER": user, "ONLOOKER_NATS_PASSWORD": passwords[user]}
            if name in gateways:
                role |= {"ONLOOKER_GATEWAY_NAME": name, "ONLOOKER_GATEWAYS": str(len(gateways))}
            if user in (GATEWAY, DISPATCHER, RECORDER, CONSOLE, DATA):
                known = process_environment(settings, user, database_url=urls.get(user, ""), tls=tls)
                await self._launch(name, _command(user), known | role)
            else:
                await self._launch(name, _command("worker"), worker_environment(settings, name) | role)
        await self._await_ready(ports)
        self._describe(Path(certificate).parent)

    async def _launch(self, name: str, command: list[str], environment: dict[str, str], *also: str) -> None:
        """In a sandbox with the files that it needs and those named, unless confinement is off."""
        settings, environment = self._settings, environment | {"TMPDIR": str(private_folder(self._settings, name))}
        sandbox = open_sandbox(settings, name, environment, *also) if settings.confinement == "on" else None
        child = Child(name, command, environment, sandbox)
        self._children.append(child)
        await child.start()

    def _certificate(self) -> tuple[str, str]:
        settings = self._settings
        if settings.tls_certificate_file:
            return settings.tls_certificate_file, settings.tls_key_file
        public = (settings.public_url, settings.console_url, settings.data_url)
        names = [*(urlsplit(url).hostname or "localhost" for url in public), "localhost", "127.0.0.1", "::1"]
        names.append(socket.gethostname())
        chain, key = ensure_certificate(settings.home_path / "tls", list(dict.fromkeys(names)))
        return str(chain), str(key)

    async def _open_database(self) -> dict[str, str]:
        """Its URL by process; the migrations have a role of their own, too."""
        urls, remark = await asyncio.to_thread(open_database, self._settings)
        await self._migrate(urls.get(MIGRATIONS, ""))
        if remark:
            self._say(f"              {remark}")
        return urls

    async def _migrate(self, url: str) -> None:
        """In a process of its own, so that Django does not stay in memory here."""
        database = urlsplit(self._settings.database_url)
        server = f"{database.hostname}:{database.port or 5432}" if database.hostname else "local socket, "
        where = f"{server}{database.path if database.hostname else database.path.lstrip('/')}"
        self._say(f"  database    {where}, applying migrations ...")
        process = await asyncio.create_subprocess_exec(*_command("migrate"), env=as_role(dict(os.environ), url))
        if await process.wait():
            raise SettingsError(
                f"The database at {where} could not be migrated (see above). "
                f"Create it with `createdb {database.path.lstrip('/')}`, or name another one, "
                f"with user and password if it needs them, in {variable_name('database_url')}."
            )

    async def _prepare(self, password: str) -> None:
        for attempt in range(100):
            try:
                await prepare_bus(self._settings, password)
                return
            except BUS_NOT_READY:
                self._require_steady()
                if attempt == 99:
                    raise
                await asyncio.sleep(0.1)

    async def _await_ready(self, ports: dict[str, int]) -> None:
        loop, host = asyncio.get_running_loop(), self._settings.monitoring_host
        give_up_at, say_at = loop.time() + READY_LIMIT_S, loop.time() + SAID_EVERY_S
        for name, port in ports.items():
            while port and not await asyncio.to_thread(_is_ready, address_of(host, port)):
                self._require_steady()
                if loop.time() > give_up_at:
                    raise SettingsError(f"{name} did not become ready in {READY_LIMIT_S:g} s. Its log lines say why.")
                if loop.time() > say_at:
                    self._say(f"  {name} is still starting ...")
                    say_at += SAID_EVERY_S
                await asyncio.sleep(0.1)
        for port in [port for name, port in ports.items() if port and is_gateway(name)]:
            while await asyncio.to_thread(_live_workers, address_of(host, port)) < self._settings.workers:
                self._require_steady()
                await asyncio.sleep(0.1)

    def _require_steady(self) -> None:
        """A process that keeps dying at once will not come up by waiting."""
        for child in self._children:
            if child.starts > 3:
                raise SettingsError(f"{child.name} can't be started. Its output above says why.")

    def _say_where(self, process: str, url: str, http_port: int) -> None:
        self._say(f"  {process:<12}{url}")
        if http_port:
            self._say(
                f"              http://{address_of(self._settings.http_host, http_port)} (plain, for a proxy in front)"
            )

    def _describe(self, tls_folder: Path) -> None:
        settings = self._settings
        self._say_where("gateway", settings.public_url, settings.http_port)
        gateways = gateway_names(settings)
        if len(gateways) > 1:
            self._say(f"              {len(gateways)} processes: {', '.join(gateways)}")
        self._say_where("console", settings.console_url, settings.console_http_port)
        self._say_where("data", settings.data_url, settings.data_http_port)
        self._say(f"  workers     {', '.join(worker_names(settings))}")
        threads, cores = settings.workers * settings.worker_threads * settings.inference_threads, os.cpu_count() or 1
        if threads > cores:
            self._say(f"              {threads} compute threads share {cores} cores: fewer would not be slower")
        if settings.monitoring_port:
            address = address_of(settings.monitoring_host, settings.monitoring_port)
            self._say(f"  monitoring  http://{address}/metrics and the ports after it")
        if settings.https_port and not settings.tls_certificate_file:
            self._say(f"  authority   {authority_file(tls_folder)} (curl --cacert)")


def _command(process: str) -> list[str]:
    return [sys.executable, "-m", "onlooker", process]


def _require_free_port(url: str) -> None:
    if "," in url:
        raise SettingsError(
            f"{variable_name('nats_url')} has several addresses, and `onlooker up` starts a bus of its own at one. "
            "Give it one, or start the processes by themselves (`onlooker gateway`, `onlooker worker` and so on)."
        )
    address = urlsplit(url)
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex((address.hostname or "127.0.0.1", address.port or 4222)) == 0:
            raise SettingsError(f"Something listens on {url} already. Stop it, or set {variable_name('nats_url')}.")


def _require_unused(host: str, port: int, setting: str) -> None:
    """Gateways that share a port would not notice that another product of the same user listens there."""
    if not port:
        return
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise SettingsError(
            f"Can't listen on {host}:{port} ({error.strerror}). Stop what uses it, or set {variable_name(setting)}."
        ) from None


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _live_workers(address: str) -> int:
    """How many workers a gateway sees."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=2) as answer:
        found = re.search(rb"^onlooker_live_workers (\d+)", answer.read(), re.MULTILINE)
    return int(found[1]) if found else 0


def lock_home(home: Path) -> IO[str]:
    """Two of us on one home would share a bus and its files."""
    lock = (home / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise SettingsError(f"Onlooker runs already with {home}. Stop it, or set {variable_name('home')}.") from None
    return lock
