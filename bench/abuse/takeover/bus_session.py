"""A bare session on the bus that says at once whether a command is allowed."""

import json
import os
import socket
from dataclasses import dataclass


@dataclass(frozen=True)
class BusSession:
    """As a user of the bus, in NATS's own protocol."""

    port: int
    user: str
    password: str

    @classmethod
    def of_this_process(cls, port: int) -> "BusSession":
        """With what this process knows; without credentials, where it has none."""
        return cls(port, os.environ.get("ONLOOKER_NATS_USER", ""), os.environ.get("ONLOOKER_NATS_PASSWORD", ""))

    def run(self, *commands: str) -> str:
        """Raises PermissionError if the server refuses one."""
        hello = {"verbose": False, "pedantic": False, "user": self.user, "pass": self.password}
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            said = "".join(f"{command}\r\n" for command in commands)
            connection.sendall(f"CONNECT {json.dumps(hello)}\r\nPING\r\n{said}PING\r\n".encode())
            heard = b""
            while heard.count(b"PONG\r\n") < 2:
                more = connection.recv(65536)
                heard += more
                if not more or b"-ERR" in heard:
                    raise PermissionError(heard.decode(errors="replace")[-200:])
        return f"allowed: {commands}"
