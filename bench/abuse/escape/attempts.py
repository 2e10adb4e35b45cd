"""What an attacker tries who runs code in a computing process. Each returns what it got; refusals raise or kill."""

import ctypes
import mmap
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.abuse.system_access import connect_to, list_folder, read_file, read_memory, write_file
from onlooker.compute.call_messages import CallMessage

GIGABYTE = 1024**3
_PTRACE_ATTACH = 16
_NUMBERS = {
    "ptrace": 101,
    "unshare": 272,
    "mount": 165,
    "setns": 308,
    "process_vm_readv": 310,
    "memfd_create": 319,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "pidfd_getfd": 438,
    "clock_settime": 227,
    "setpriority": 141,
    "keyctl": 250,
    "perf_event_open": 298,
}
"""Of system calls on x86-64."""


@dataclass(frozen=True)
class Surroundings:
    """What the attacker is told about the installation: nothing has to be guessed."""

    home: Path
    worker: int
    others: list[int]
    database_port: int
    bus_port: int


def _call(name: str, *arguments: Any) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(_NUMBERS[name], *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"{name} gave {result}"


def _do(act: Callable[..., object], *arguments: Any) -> str:
    act(*arguments)
    return "it was done"


def _variables(pid: int) -> str:
    return read_file(Path(f"/proc/{pid}/environ"))


def _of_each(around: Surroundings, get: Callable[[int], str]) -> str:
    return str([get(pid) for pid in around.others])


def _listen() -> str:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        return f"listens on port {listening.getsockname()[1]}"


def _send_datagram() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        return f"{sending.sendto(b'frame', ('127.0.0.1', 53))} bytes sent"


def _local_socket(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(path)
        return f"a connection to {path!r}"


def _fork(count: int) -> str:
    for _ in range(count):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
    return f"{count} processes"


def _run_on() -> str:
    """A thread that goes on after the job."""
    threading.Thread(target=time.sleep, args=[600], daemon=True).start()
    return "a thread that outlives its job"


def _fill_memory() -> str:
    kept = bytearray(8 * GIGABYTE)
    kept[:: mmap.PAGESIZE] = b"x" * len(kept[:: mmap.PAGESIZE])
    return f"{len(kept) // GIGABYTE} GB"


def _executable_memory() -> str:
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC):
        return "memory that can be executed"


def _load_library() -> str:
    return f"loaded {ctypes.CDLL('libcrypt.so.1')}"


def _raise_limits() -> str:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "no limit of memory"


def _own_variables() -> str:
    told = [name for name in os.environ if "PASSWORD" in name or "SECRET" in name or "DATABASE" in name]
    if not told:
        raise PermissionError("no secret among its own variables")
    return f"variables: {told}"


def _open_files() -> list[int]:
    return [number for number in range(3, 200) if _is_open(number)]


def _is_open(number: int) -> bool:
    asked = select.poll()
    asked.register(number, select.POLLOUT)
    return not any(event & select.POLLNVAL for _, event in asked.poll(0))


def _use_open_files() -> str:
    """A file of the installation, or a connection."""
    if len(found := _open_files()) > 1:
        return f"open: {found}"
    raise PermissionError("nothing open but the socket to its worker")


def _say(body: bytes, length: int | None = None) -> str:
    """Write to the worker what the program would not, and wait for what comes of it."""
    os.write(_open_files()[0], (len(body) if length is None else length).to_bytes(4, "big") + body)
    time.sleep(1)
    return "the worker took it"


def _lie(number: int, **said: Any) -> str:
    """An answer that can't be true."""
    answer = [number, said.get("result", b"{}"), said.get("code"), None, said.get("seen", []), None, 0.0, ""]
    return _say(msgspec.msgpack.encode(answer))


def attempts(around: Surroundings) -> dict[str, Callable[[], str]]:
    """By name. Where a file or a process is not there, an attempt also fails without confinement."""
    home, worker = around.home, around.worker
    other_time = [[[1_000_000_000_000, []]], [], {}, []]
    return {
        "read the variables of its worker": lambda: _variables(worker),
        "read the variables of the others": lambda: _of_each(around, _variables),
        "read the memory of its worker": lambda: read_memory(worker),
        "read the memory of the others": lambda: _of_each(around, read_memory),
        "read its own variables for secrets": _own_variables,
        "use what was left open": _use_open_files,
        "read the console's secret key": lambda: read_file(home / "secret_key"),
        "read the authority's key": lambda: read_file(home / "tls/ca.key"),
        "read the passwords of the bus": lambda: read_file(home / "nats/passwords.json"),
        "list the home folder": lambda: list_folder(home),
        "list the blobs": lambda: list_folder(home / "blobs"),
        "read a file of the system": lambda: read_file(Path("/etc/passwd")),
        "connect to PostgreSQL": lambda: connect_to(around.database_port),
        "connect to PostgreSQL's local socket": lambda: _local_socket(f"/tmp/.s.PGSQL.{around.database_port}"),
        "connect to the bus": lambda: connect_to(around.bus_port),
        "connect to an abstract socket": lambda: _local_socket("\0onlooker"),
        "send a datagram": _send_datagram,
        "listen": _listen,
        "run a program": lambda: str(subprocess.run(["/bin/true"], check=True, timeout=5)),
        "become another program": lambda: os.execv("/bin/true", ["/bin/true"]),
        "fork": lambda: _fork(1),
        "fork bomb": lambda: _fork(200),
        "outlive its job": _run_on,
        "write to a shared folder": lambda: write_file(Path("/tmp/onlooker-escape")),
        "write to the home folder": lambda: write_file(home / "escape"),
        "write to a file in memory": lambda: _call("memfd_create", b"escape", 0),
        "trace its worker": lambda: _call("ptrace", _PTRACE_ATTACH, worker, 0, 0),
        "read its worker's memory by a call": lambda: _call("process_vm_readv", worker, 0, 0, 0, 0, 0),
        "take a file from its worker": lambda: _call("pidfd_open", worker, 0),
        "end its worker": lambda: _do(os.kill, worker, signal.SIGTERM),
        "stop its worker": lambda: _do(os.kill, worker, signal.SIGSTOP),
        "take 8 GB of memory": _fill_memory,
        "raise its limits": _raise_limits,
        "load a library": _load_library,
        "execute memory": _executable_memory,
        "set the clock": lambda: _call("clock_settime", 0, struct.pack("qq", int(time.time()), 0)),
        "choose its cores": lambda: _do(os.sched_setaffinity, 0, {0}),
        "run before others": lambda: _call("setpriority", 0, 0, -10),
        "enter a namespace": lambda: _call("unshare", 0x10000000),
        "mount": lambda: _call("mount", b"none", b"/nowhere", b"tmpfs", 0, 0),
        "leave the file system": lambda: _do(os.chroot, "/tmp"),
        "use io_uring": lambda: _call("io_uring_setup", 8, b"\0" * 120),
        "load a program into the kernel": lambda: _call("bpf", 0, b"\0" * 64, 64),
        "use the kernel's keys": lambda: _call("keyctl", 0, -3, 0),
        "measure other processes": lambda: _call("perf_event_open", b"\0" * 120, worker, -1, -1, 0),
        "handle others' page faults": lambda: _call("userfaultfd", 0),
        "answer a call that it was not given": lambda: _lie(10**9),
        "answer with a text that is no object": lambda: _lie(number_of_this_call(), result=b"[1]"),
        "answer with an invented code": lambda: _lie(number_of_this_call(), code="x" * 1000),
        "answer with visits of another time": lambda: _lie(number_of_this_call(), seen=[other_time]),
        "answer with what is no message": lambda: _say(b"\xc1" * 100),
        "announce an answer of 4 GB": lambda: _say(b"", 2**32 - 1),
        "compute longer than it may": lambda: _do(time.sleep, 60),
    }


EAVESDROP = "eavesdrop"
_overheard: set[int] = set()


def eavesdrop() -> list[int]:
    """From the first time on notes whose calls this process is given; the streams so far."""
    program: Any = sys.modules["__main__"].ServiceProgram
    if not hasattr(program, "answer_quietly"):
        program.answer_quietly = program.answer

        def answer(self: Any, message: CallMessage) -> Any:
            _overheard.add(message.sender.stream_id)
            return self.answer_quietly(message)

        program.answer = answer
    return sorted(_overheard)


def number_of_this_call() -> int:
    """On the stack of the program below."""
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, CallMessage):
                return value.number
        frame = frame.f_back  # type: ignore[assignment]
    raise LookupError("no call is being computed")
