"""Landlock, the kernel's own sandbox of files: what a process and its children may still open, for good.

A process in a sandbox can't look into the memory or the variables of a process outside it either.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many of Landlock's rights to files there are, from which version on."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""The others are rights to folders."""
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_NET_SINCE_ABI, _NET_RIGHTS = 4, 0b11
_SCOPES_SINCE_ABI, _SCOPES = 6, 0b11
"""Abstract sockets and signals of processes outside."""


class ConfinementUnavailable(Exception):
    """This machine can't confine a process; the message says what is missing."""


def landlock_version() -> int:
    """Of the running kernel; 0 where it has none."""
    version: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, version)


def require_landlock() -> None:
    """Raises ConfinementUnavailable where the kernel lacks it."""
    if not landlock_version():
        raise ConfinementUnavailable("the kernel has no Landlock (Linux 5.13 or later, and `landlock` among its LSMs)")


def no_files() -> int:
    """A sandbox without files, TCP ports and signals to others, as a descriptor."""
    return _create(_all_rights(), closes_ports=True)


def some_files(*, read: Iterable[Path], write: Iterable[Path]) -> int:
    """A sandbox with these files and folders only, as a descriptor; the network stays. Paths that are missing are left
    out, and devices can be controlled.
    """
    handled = _all_rights() & ~_IOCTL_DEV
    sandbox = _create(handled, closes_ports=False)
    for path in read:
        _allow(sandbox, path, _READING)
    for path in write:
        _allow(sandbox, path, handled)
    return sandbox


def enter(sandbox: int) -> None:
    """For this thread and what it starts from now on, programs included."""
    libc = _libc()
    check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    check(libc.syscall(_RESTRICT_SELF, sandbox, 0), "landlock_restrict_self")


def check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise ConfinementUnavailable(f"the kernel refuses {what}: {os.strerror(number)}")


def _all_rights() -> int:
    version = landlock_version()
    return (1 << max(count for since, count in _RIGHTS_BY_ABI.items() if since <= version)) - 1


def _create(rights: int, *, closes_ports: bool) -> int:
    """struct landlock_ruleset_attr: rights to files, to TCP ports, scopes; an older kernel takes its beginning."""
    version, ports = landlock_version(), _NET_RIGHTS if closes_ports else 0
    ruleset = rights.to_bytes(8, "little")
    ruleset += ports.to_bytes(8, "little") if version >= _NET_SINCE_ABI else b""
    ruleset += _SCOPES.to_bytes(8, "little") if version >= _SCOPES_SINCE_ABI else b""
    sandbox: int = _libc().syscall(_CREATE_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), 0)
    check(sandbox, "landlock_create_ruleset")
    return sandbox


def _allow(sandbox: int, path: Path, rights: int) -> None:
    """struct landlock_path_beneath_attr, packed: rights, and the descriptor of a file or folder."""
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(beneath).st_mode)
        rule = (rights if is_folder else rights & _OF_FILES).to_bytes(8, "little") + beneath.to_bytes(4, "little")
        check(_libc().syscall(_ADD_RULE, sandbox, _PATH_BENEATH, rule, 0), "landlock_add_rule")
    finally:
        os.close(beneath)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
