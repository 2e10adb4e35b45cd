"""What a program that decodes a camera's video gives up, where Linux can: files, programs, other ports."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NAME_FILES = ("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf")
"""A host's name is looked up with these."""
CHANCE = "/dev/urandom"
MEMORY_BYTES = 1024**3
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SIGKILL = 9
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on every architecture."""
_VERSION = 1
_BENEATH, _PORT = 1, 2
_READ_FILE, _CONNECT_TCP = 1 << 2, 1 << 1
_FILE_RIGHTS_SINCE = {1: 13, 2: 14, 3: 15, 5: 16}
_PORTS_SINCE, _SCOPES_SINCE = 4, 6


def end_with_parent() -> None:
    """Whatever happens to the parent, this process does not outlive it."""
    _libc().prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def confine(*, port: int | None) -> bool:
    """Leave this process its memory, its open files, what looks names up, and TCP to one port.

    Without a port, where the protocol is not TCP or has no fixed one, TCP is not limited. False where Linux can't.
    """
    if not _is_alone():
        return False
    libc = _libc()
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    if version < 1:
        return False
    _limit_resources()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    limits_ports = port is not None and version >= _PORTS_SINCE
    ruleset = libc.syscall(_CREATE_RULESET, *_sized(_ruleset(version, limits_ports=limits_ports)), 0)
    if ruleset < 0:
        return False
    try:
        _allow_files(libc, ruleset, [*NAME_FILES, CHANCE])
        if limits_ports:
            libc.syscall(_ADD_RULE, ruleset, _PORT, struct.pack("=QQ", _CONNECT_TCP, port), 0)
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _ruleset(version: int, *, limits_ports: bool) -> bytes:
    """`struct landlock_ruleset_attr`: rights to files and to TCP ports, scopes; older kernels take its beginning."""
    rights = max(count for since, count in _FILE_RIGHTS_SINCE.items() if since <= version)
    files, ports, scopes = (1 << rights) - 1, 0b11 if limits_ports else 0, 0b11
    if version >= _SCOPES_SINCE:
        return struct.pack("=QQQ", files, ports, scopes)
    return struct.pack("=QQ", files, ports) if version >= _PORTS_SINCE else struct.pack("=Q", files)


def _allow_files(libc: Any, ruleset: int, paths: Iterable[str]) -> None:
    for path in paths:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        libc.syscall(_ADD_RULE, ruleset, _BENEATH, struct.pack("=Qi", _READ_FILE, handle), 0)
        os.close(handle)


def _sized(attributes: bytes) -> tuple[bytes, ctypes.c_size_t]:
    return attributes, ctypes.c_size_t(len(attributes))


def _is_alone() -> bool:
    """Landlock holds for this thread and those that it starts: one that runs already would stay free."""
    return len(list(Path("/proc/self/task").iterdir())) == 1


def _limit_resources() -> None:
    """Not under a filter of system calls, such as the systemd unit's, which ends a process that sets limits."""
    import resource

    lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    if status.get("Seccomp") != "0":
        return
    data_kb = int(status["VmData"].split()[0])
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_DATA, data_kb * 1024 + MEMORY_BYTES),
    ):
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (limit, limit))


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
