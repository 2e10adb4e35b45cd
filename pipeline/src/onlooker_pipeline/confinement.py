"""Gives up what code that decodes strangers' bytes does not need: files, network, programs, other processes.

Two steps, because Landlock holds for the calling thread and for those that it starts later, and the filter of system
calls allows no new thread: `forgo_files`, then start the threads, then `forgo_calls`, which holds for all of them.
"""

import ctypes
import errno
import mmap
import os
import platform
import resource
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_VERSION = 1
_FILES_BY_ABI = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many of Landlock's rights to files there are, from which version on."""
_NET_SINCE_ABI, _NET_RIGHTS = 4, 0b11
_SCOPES_SINCE_ABI, _SCOPES = 6, 0b11
"""Abstract sockets and signals of processes outside."""

ALLOWED = (
    # its memory
    "brk",
    "madvise",
    "mremap",
    "munmap",
    # its threads
    "exit",
    "exit_group",
    "futex",
    "futex_waitv",
    "getpid",
    "getppid",
    "gettid",
    "membarrier",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "sigaltstack",
    # time and chance
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "getcpu",
    "getrandom",
    "gettimeofday",
    "nanosleep",
    # what it has open
    "close",
    "fstat",
    "lseek",
    "poll",
    "ppoll",
    "read",
    "write",
    # what it has used
    "getrusage",
    "sysinfo",
    "uname",
)
REFUSED = {
    # Libraries try these and go on without.
    "access": errno.EACCES,
    "faccessat": errno.EACCES,
    "faccessat2": errno.EACCES,
    "getcwd": errno.EACCES,
    "getdents64": errno.EACCES,
    "ioctl": errno.ENOTTY,
    "lstat": errno.EACCES,
    "newfstatat": errno.EACCES,
    "open": errno.EACCES,
    "openat": errno.EACCES,
    "openat2": errno.EACCES,
    "readlink": errno.EACCES,
    "readlinkat": errno.EACCES,
    "stat": errno.EACCES,
    "statx": errno.EACCES,
    # A library that would start a thread does its work in the one that it has.
    "clone": errno.EAGAIN,
    "clone3": errno.ENOSYS,
}
"""With which error; any other call ends the process."""


class ConfinementUnavailable(Exception):
    """This machine can't confine a process; the message says what is missing."""


def landlock_version() -> int:
    """Of the running kernel; 0 where it has none."""
    version: int = _libc().syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    return max(0, version)


def require_confinement() -> None:
    """Raises ConfinementUnavailable where this machine lacks what confines a process."""
    _seccomp()
    if not landlock_version():
        raise ConfinementUnavailable("the kernel has no Landlock (Linux 5.13 or later, and `landlock` among its LSMs)")


def forgo_files(*, keep: Iterable[int], memory_bytes: int) -> None:
    """No file, no TCP port and no signal to others, for this thread and those it starts from now on; for the whole
    process: so much more memory, no core dump, nothing open except standard input to error and `keep`.
    """
    require_confinement()  # also because finding a library takes files and programs
    version, libc = landlock_version(), _libc()
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_AS, _address_space_bytes() + memory_bytes)
    _close_others({0, 1, 2, *keep})
    rights = max(count for since, count in _FILES_BY_ABI.items() if since <= version)
    # struct landlock_ruleset_attr: rights to files, to TCP ports, scopes; an older kernel takes its beginning.
    ruleset = ((1 << rights) - 1).to_bytes(8, "little")
    ruleset += _NET_RIGHTS.to_bytes(8, "little") if version >= _NET_SINCE_ABI else b""
    ruleset += _SCOPES.to_bytes(8, "little") if version >= _SCOPES_SINCE_ABI else b""
    handle = libc.syscall(_LANDLOCK_CREATE_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), 0)
    _check(handle, "landlock_create_ruleset")
    _check(libc.syscall(_LANDLOCK_RESTRICT_SELF, handle, 0), "landlock_restrict_self")
    os.close(handle)


def forgo_calls() -> None:
    """No system call except ALLOWED, for all threads of this process; some fail as REFUSED says, others end it."""
    pyseccomp = _seccomp()
    allow = pyseccomp.ALLOW
    rules = pyseccomp.SyscallFilter(pyseccomp.KILL_PROCESS)
    rules.set_attr(pyseccomp.Attr.CTL_TSYNC, 1)
    for name in ALLOWED:
        rules.add_rule(allow, name)
    for name, number in REFUSED.items():
        _add_where_known(rules, pyseccomp.ERRNO(number), name)
    without_code = pyseccomp.Arg(2, pyseccomp.MASKED_EQ, mmap.PROT_EXEC, 0)
    with_code = pyseccomp.Arg(2, pyseccomp.MASKED_EQ, mmap.PROT_EXEC, mmap.PROT_EXEC)
    for name in ("mmap", "mprotect"):
        rules.add_rule(allow, name, without_code)
        rules.add_rule(pyseccomp.ERRNO(errno.EPERM), name, with_code)
    rules.add_rule(allow, "tgkill", pyseccomp.Arg(0, pyseccomp.EQ, os.getpid()))  # abort()
    rules.load()


def _seccomp() -> Any:
    try:
        import pyseccomp  # type: ignore[import-untyped]
    except (ImportError, RuntimeError, OSError) as error:
        raise ConfinementUnavailable(f"libseccomp is missing (Debian: libseccomp2): {error}") from None
    return pyseccomp


def _add_where_known(rules: Any, action: int, name: str) -> None:
    """Newer architectures lack the older calls."""
    try:
        rules.add_rule(action, name)
    except (OSError, ValueError):
        if platform.machine() == "x86_64":
            raise


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise ConfinementUnavailable(f"the kernel refuses {what}: {os.strerror(number)}")


def _limit(what: int, most: int) -> None:
    resource.setrlimit(what, (most, most))


def _address_space_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE


def _close_others(keep: set[int]) -> None:
    highest = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    first = 0
    for number in [*sorted(keep), highest]:
        if first < number:  # an empty range would close all
            os.closerange(first, number)
        first = number + 1
    _limit(resource.RLIMIT_NOFILE, max(keep) + 2)
