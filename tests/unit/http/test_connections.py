"""Connections: limited in all and for each address, closed when they show no credentials, and all given back."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from onlooker.http import connections
from onlooker.http.connections import ConnectionLimits
from onlooker.http.servers import Listener, make_server
from onlooker.settings import Settings
from onlooker.up.certificates import authority_file, ensure_certificate

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """As the gate does for a request with credentials."""
    if scope["path"] == "/known":
        scope["stream_id"] = 1
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


Connect = Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


def serve(
    check: Callable[[Connect, ConnectionLimits], Awaitable[None]],
    *,
    certificate: tuple[str, str] | None = None,
    limit: int = 100,
    per_address: int = 5,
) -> None:
    async def run() -> None:
        settings = Settings()
        if certificate:
            settings = Settings(tls_certificate_file=certificate[0], tls_key_file=certificate[1])
        listening = socket.create_server(("127.0.0.1", 0))
        limits = ConnectionLimits(limit, per_address)
        server = make_server(settings, answer, Listener(listening, tls=certificate is not None), limits)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        port, writers = listening.getsockname()[1], []

        async def connect(host: str = "127.0.0.1", **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection(host, port, **options)
            writers.append(writer)
            return reader, writer

        try:
            await check(connect, limits)
        finally:
            for writer in writers:
                writer.close()
            server.leave()
            await serving

    asyncio.run(run())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    certificate, key = ensure_certificate(tmp_path_factory.mktemp("tls"), ["localhost"])
    return str(certificate), str(key)


async def ends_within(reader: asyncio.StreamReader, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await reader.read() == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def test_an_address_has_only_so_many_and_others_have_theirs(certificate: tuple[str, str]) -> None:
    async def check(connect: Connect, limits: ConnectionLimits) -> None:
        held = [await connect() for _ in range(5)]
        more, _ = await connect()
        assert await ends_within(more, 2)
        other, _ = await connect(local_addr=("127.0.0.2", 0))
        assert not await ends_within(other, 0.3)
        for _, writer in held:
            writer.close()
        await until(lambda: limits.by_address["127.0.0.1"] == 0)

    serve(check, certificate=certificate)


def test_proxies_of_this_machine_are_limited_only_by_all(certificate: tuple[str, str]) -> None:
    async def check(connect: Connect, limits: ConnectionLimits) -> None:
        held = [await connect() for _ in range(10)]
        await until(lambda: limits.count == 10)
        more, _ = await connect()
        assert await ends_within(more, 2)
        held[0][1].write(REQUEST)
        assert (await held[0][0].readline()).startswith(b"HTTP/1.1 204")

    serve(check, limit=10)


def test_a_stranger_is_idle_only_for_a_moment_and_a_known_device_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.http.limits.STRANGER_TIME_LIMIT_S", 0.3)

    async def check(connect: Connect, limits: ConnectionLimits) -> None:
        silent, _ = await connect()
        stranger, stranger_writer = await connect()
        known, known_writer = await connect()
        stranger_writer.write(REQUEST)
        known_writer.write(REQUEST.replace(b"GET /", b"GET /known"))
        await stranger.readuntil(b"\r\n\r\n")
        await known.readuntil(b"\r\n\r\n")
        assert await ends_within(silent, 2)
        assert await ends_within(stranger, 2)
        assert not await ends_within(known, 1)
        assert limits.count == 1

    serve(check)


def test_a_handshake_that_never_comes_is_given_up(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HANDSHAKE_LIMIT_S", 0.3)

    async def check(connect: Connect, limits: ConnectionLimits) -> None:
        before = connections.refused("handshake")._value.get()
        reader, _ = await connect()
        assert await ends_within(reader, 3)
        await until(lambda: limits.count == 0)
        assert connections.refused("handshake")._value.get() == before + 1
        context = ssl.create_default_context(cafile=str(authority_file(Path(certificate[0]).parent)))
        polite, writer = await connect("localhost", ssl=context)
        writer.write(REQUEST)
        assert (await polite.readline()).startswith(b"HTTP/1.1 204")

    serve(check, certificate=certificate)


def test_what_can_not_be_opened_is_counted_and_the_next_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no more files, accepting fails; it goes on when some are free."""

    async def check(connect: Connect, limits: ConnectionLimits) -> None:
        before = connections.refused("files")._value.get()
        loop = asyncio.get_running_loop()
        accept, failures = loop.sock_accept, iter([OSError(24, "Too many open files")] * 2)

        async def fail_twice(listening: socket.socket) -> tuple[socket.socket, object]:
            accepted = await accept(listening)
            for failure in failures:
                accepted[0].close()
                raise failure
            return accepted

        monkeypatch.setattr(loop, "sock_accept", fail_twice)
        for _ in range(4):
            reader, writer = await connect()
            writer.write(REQUEST)
            try:
                line = await reader.readline()
            except ConnectionError:
                line = b""
        assert line.startswith(b"HTTP/1.1 204")
        assert connections.refused("files")._value.get() == before + 2

    serve(check)
