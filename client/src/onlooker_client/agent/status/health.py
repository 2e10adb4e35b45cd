"""Health for machines: a file, an address on this machine, and systemd."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

from onlooker_client.errors import ConfigError

ReadHealth = Callable[[], "dict[str, Any]"]
HEALTHY = ("starting", "running", "degraded")
"""States in which a health check passes."""
HOST = "127.0.0.1"


def write_report(path: Path, report: dict[str, Any]) -> None:
    """Replace the file in one step, so that nobody ever reads half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
        os.chmod(name, 0o644)  # noqa: PTH101 (there is nothing secret in it)
        os.replace(name, path)  # noqa: PTH105
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


class _Server(ThreadingHTTPServer):
    """A slow reader delays neither others nor the agent's end."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Somebody hung up. The log is about the camera."""


class HealthServer:
    """Answers GET /healthz with 200 or 503 and the report; for this machine alone."""

    def __init__(self, port: int, report: ReadHealth) -> None:
        try:
            self._server = _Server((HOST, port), _handler(report))
        except OSError as error:
            raise ConfigError(
                f"Can't listen on {HOST}:{port} ({error.strerror}). Choose another --health-port."
            ) from None
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="health", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(report: ReadHealth) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 2.0
        error_content_type = "text/plain; charset=utf-8"
        error_message_format = "There is only /healthz here.\n"

        def version_string(self) -> str:
            return "onlooker-agent"

        def do_GET(self) -> None:
            # A page in a browser of this machine must not read it under a name of its own.
            is_ours = self.headers.get("Host", HOST).rsplit(":", 1)[0] in (HOST, "localhost")
            if self.path.split("?")[0] != "/healthz" or not is_ours:
                self.send_error(404)
                return
            said = report()
            content = json.dumps(said).encode() + b"\n"
            self.send_response(200 if said["state"] in HEALTHY else 503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """The agent's log is about the camera."""

    return Handler


class Systemd:
    """The socket that systemd names (sd_notify)."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket: socket.socket | None = None
        if self._address and hasattr(socket, "AF_UNIX"):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)

    def tell(self, *lines: str) -> None:
        """Such as READY=1, STATUS=..., WATCHDOG=1, STOPPING=1."""
        if self._socket is None:
            return
        with suppress(OSError):  # it can't be told; the camera matters more
            self._socket.sendto("\n".join(lines).encode(), self._address)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
