"""Many devices at one gateway, each with a connection that it keeps."""

import asyncio
import base64
import ssl
from urllib.parse import urlsplit

import psutil

from onlooker.child_process import allow_many_files
from testkit import Stack, TestStream

DEVICES, STREAMS = 5000, 50
AT_ONCE = 50


class KeptConnection:
    """One connection, from an address of its own shop."""

    def __init__(self, stack: Stack, stream: TestStream, number: int, trust: ssl.SSLContext) -> None:
        credentials = base64.b64encode(":".join(stream.auth).encode()).decode()
        self._url = urlsplit(stack.url)
        self._request = (
            f"GET /stream HTTP/1.1\r\nHost: {self._url.netloc}\r\nAuthorization: Basic {credentials}\r\n\r\n"
        )
        self._address = f"127.0.{1 + number // 200}.{1 + number % 200}"
        self._trust = trust
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1",
            self._url.port,
            ssl=self._trust,
            server_hostname=self._url.hostname,
            local_addr=(self._address, 0),
            ssl_handshake_timeout=60,
        )

    async def ask(self) -> bool:
        """Whether it is answered, on the connection that it has."""
        self._writer.write(self._request.encode())
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        return head.startswith(b"HTTP/1.1 200")

    def close(self) -> None:
        self._writer.close()


async def _measure(stack: Stack) -> dict[str, object]:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    streams = [stack.create_stream() for _ in range(STREAMS)]
    devices = [KeptConnection(stack, streams[number % STREAMS], number, trust) for number in range(DEVICES)]
    places = asyncio.Semaphore(AT_ONCE)

    async def first(device: KeptConnection) -> bool:
        async with places:
            await device.connect()
            return await device.ask()

    async def again(device: KeptConnection) -> bool:
        async with places:
            return await device.ask()

    try:
        connected = sum(await asyncio.gather(*map(first, devices)))
        answered = sum(await asyncio.gather(*map(again, devices)))
    finally:
        for device in devices:
            if hasattr(device, "_writer"):
                device.close()
    return {
        "ok": connected == answered == DEVICES,
        "devices": DEVICES,
        "connected": connected,
        "answered_again": answered,
        "gateways_mb": _memory_mb(stack),
    }


def _memory_mb(stack: Stack) -> int:
    pids = [pid for name, pid in stack.children().items() if name.startswith("gateway")]
    return round(sum(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6)


def keep_devices(stack: Stack) -> dict[str, object]:
    """How many of them are answered twice on one connection; memory is that of the gateways afterwards."""
    allow_many_files()
    return asyncio.run(_measure(stack))
