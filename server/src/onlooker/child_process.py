"""What a child process does to itself before its program starts, so that it does not outlive its parent."""

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
