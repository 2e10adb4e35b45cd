"""What a process does to itself when it starts: it does not outlive its parent, and may have many files open."""

import ctypes
import os
import resource
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def prepare_child(*, ended_by: signal.Signals) -> None:
    """Ends when its parent ends, leaves no core dump, ignores the terminal's Ctrl-C: its parent passes that on."""
    _libc.prctl(_PR_SET_PDEATHSIG, ended_by)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setpgid(0, 0)


def allow_many_files() -> None:
    """As many as the system lets this user have: every connection is one. Children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
