"""How the agent is, for machines: a file that is always whole, and an address on this machine."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

from onlooker_client.errors import ConfigError

Report = Callable[[], "dict[str, Any]"]
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
    """Whoever lingers holds up neither others nor the agent's end."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Somebody hung up. The log is about the camera."""


class HealthServer:
    """Answers GET /healthz with 200 or 503 and the report; for this machine alone."""

    def __init__(self, port: int, report: Report) -> None:
        try:
            self._server = _Server((HOST, port), _handler(report))
        except OSError as error:
            raise ConfigError(
                f"Nothing can listen on {HOST}:{port} ({error.strerror}). Choose another --health-port."
            ) from None
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="health", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(report: Report) -> type[BaseHTTPRequestHandler]:
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
