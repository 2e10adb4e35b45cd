"""What an attacker's code asks of the system. Each returns what it got; a refusal raises."""

import socket
from pathlib import Path


def read_file(path: Path) -> str:
    return f"{len(path.read_bytes())} bytes of {path.name}"


def list_folder(folder: Path) -> str:
    return str([path.name for path in folder.iterdir()])


def write_file(path: Path) -> str:
    path.write_bytes(b"stolen")
    path.unlink()
    return f"wrote {path}"


def connect_to(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=3):
        return f"a connection to port {port}"


def read_memory(pid: int) -> str:
    maps = Path(f"/proc/{pid}/maps").read_text()
    start = int(next(line for line in maps.splitlines() if "rw-p" in line).partition("-")[0], 16)
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        memory.seek(start)
        return f"{len(memory.read(4096))} bytes of its memory"
