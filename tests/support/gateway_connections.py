"""Connections to a chosen one of several gateways that listen on the same port."""

import http.client
import json
import time
from typing import Any

import psutil

from testkit import Stack, TestStream
from wire import basic


class GatewayConnection:
    """A connection that stays with the gateway that accepted it."""

    def __init__(self, stack: Stack, stream: TestStream) -> None:
        self._address = ("127.0.0.1", int(stack.setting("http_port")))
        self._headers = {"Authorization": basic(*stream.auth), "Content-Type": "application/json"}
        self._connection = http.client.HTTPConnection(*self._address, timeout=40)
        self.request("GET", "/livez")
        self.gateway = self._find_gateway(stack)

    def _find_gateway(self, stack: Stack) -> str:
        port = self._connection.sock.getsockname()[1]
        for name, pid in stack.children().items():
            if name.startswith("gateway"):
                ports = {one.raddr.port for one in psutil.Process(pid).net_connections() if one.raddr}
                if port in ports:
                    return name
        raise RuntimeError("no gateway has this connection")

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Status and body; a connection that broke is an OSError or an HTTPException."""
        encoded = json.dumps(body).encode() if body is not None else None
        self._connection.request(method, path, encoded, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else {}

    def post(self, service: str, **fields: Any) -> tuple[int, dict[str, Any]]:
        return self.request("POST", f"/services/{service}/1/jobs", {"async": False} | fields)

    def close(self) -> None:
        self._connection.close()


def connect_to(stack: Stack, stream: TestStream, gateway: str) -> GatewayConnection:
    """The kernel chooses; so until it has chosen this one."""
    give_up_at = time.monotonic() + 20
    while time.monotonic() < give_up_at:
        try:
            connection = GatewayConnection(stack, stream)
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
            continue
        if connection.gateway == gateway:
            return connection
        connection.close()
    raise RuntimeError(f"no connection reached {gateway}")
