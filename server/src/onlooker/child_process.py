"""What a process does to itself: a child before its program starts, and each of ours when it has started."""

import ctypes
import gc
import os
import resource
import signal

from onlooker_pipeline.landlock import enter

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME = 1, 4, 15
_libc = ctypes.CDLL(None)

GARBAGE_AFTER = 50_000
"""New objects, before somebody looks for cycles among them."""


def prepare_child(*, ended_by: signal.Signals, sandbox: int | None = None) -> None:
    """Ends when its parent ends, leaves no core dump, ignores the terminal's Ctrl-C: its parent passes that on."""
    _libc.prctl(_PR_SET_PDEATHSIG, ended_by)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setpgid(0, 0)
    if sandbox is not None:
        enter(sandbox)


def hide_process(name: str) -> None:
    """Others of the same user can't read its memory and variables, which hold secrets; `ps` and `top` show its name."""
    _libc.prctl(_PR_SET_DUMPABLE, 0)
    _libc.prctl(_PR_SET_NAME, name.encode()[:15])


def allow_many_files() -> None:
    """As many as the system lets this user have: every connection is one. Children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def collect_garbage_rarely() -> None:
    """Of a process that has started. A page makes thousands of objects, none of them in a cycle, and Python would look
    for cycles after each 700, again and again among all that was loaded at the start."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_AFTER, *gc.get_threshold()[1:])
