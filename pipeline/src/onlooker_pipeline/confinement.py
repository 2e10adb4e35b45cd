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

from onlooker_pipeline.landlock import ConfinementUnavailable, check, enter, no_files, require_landlock

_PR_SET_DUMPABLE = 4

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


def require_confinement() -> None:
    """Raises ConfinementUnavailable where this machine lacks what confines a process."""
    _seccomp()
    require_landlock()


def forgo_files(*, keep: Iterable[int], memory_bytes: int) -> None:
    """No file, no TCP port and no signal to others, for this thread and those it starts from now on; for the whole
    process: so much more memory, no core dump, nothing open except standard input to error and `keep`.
    """
    require_confinement()  # also because finding a library takes files and programs
    check(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_AS, _address_space_bytes() + memory_bytes)
    _close_others({0, 1, 2, *keep})
    sandbox = no_files()
    enter(sandbox)
    os.close(sandbox)


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
