"""A process that has given everything up, and what is left to it."""

import signal
import subprocess
import sys
import textwrap

import pytest

from onlooker_pipeline import landlock
from onlooker_pipeline.confinement import require_confinement
from onlooker_pipeline.landlock import ConfinementUnavailable, landlock_version

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

PROGRAM = """
import os, socket, subprocess, sys, threading, time
from onlooker_pipeline.confinement import forgo_calls, forgo_files

{before}
go = threading.Event()

def run():
    go.wait()
    try:
        {attempt}
        print("done", flush=True)
    except BaseException as error:
        print(type(error).__name__, flush=True)
    os._exit(0)

forgo_files(keep=[], memory_bytes=512 * 1024**2)
threading.Thread(target=run, daemon=True).start()
forgo_calls()
go.set()
time.sleep(20)
"""


def run_confined(attempt: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = textwrap.dedent(PROGRAM).format(attempt=attempt, before=before)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize(
    "attempt",
    [
        "os.write(1, b'')",
        "bytearray(100 * 1024**2)",
        "os.urandom(16)",
        "time.sleep(0.01)",
        "threading.Lock().acquire()",
    ],
)
def test_what_computing_takes_is_left(attempt: str) -> None:
    ended = run_confined(attempt)
    assert (ended.stdout, ended.returncode) == ("done\n", 0), ended.stderr


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        ("open('/etc/passwd')", "PermissionError"),
        ("open('/proc/self/environ')", "PermissionError"),
        ("open('/tmp/escape', 'w')", "PermissionError"),
        ("os.listdir('/')", "PermissionError"),
        ("os.stat('/etc/passwd')", "PermissionError"),
        ("import wave", "PermissionError"),
        ("threading.Thread(target=print).start()", "RuntimeError"),
        ("os.fork()", "BlockingIOError"),
        ("bytearray(1024**3)", "MemoryError"),
        ("__import__('ctypes').CDLL('libcrypt.so.1')", "OSError"),
    ],
)
def test_what_libraries_try_fails(attempt: str, error: str) -> None:
    ended = run_confined(attempt, before="import ctypes")
    assert (ended.stdout, ended.returncode) == (f"{error}\n", 0), ended.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "os.execv('/bin/true', ['/bin/true'])",
        "os.kill(os.getppid(), 15)",
        "os.sched_setaffinity(0, {0})",
        "os.setpriority(os.PRIO_PROCESS, 0, 5)",
        "os.pipe()",
        "os.memfd_create('escape')",
        "os.chdir('/')",
        "os.unlink('/tmp/escape')",
    ],
)
def test_anything_else_ends_the_process(attempt: str) -> None:
    ended = run_confined(attempt)
    assert (ended.stdout, ended.returncode) == ("", -signal.SIGSYS), ended.stderr


def test_threads_from_before_have_given_up_too() -> None:
    before = """
early = threading.Event()
def wait():
    early.wait()
    socket.socket()
threading.Thread(target=wait, daemon=True).start()
"""
    ended = run_confined("early.set(); time.sleep(5)", before=before)
    assert ended.returncode == -signal.SIGSYS


def test_what_was_open_is_closed() -> None:
    ended = run_confined("os.read(left.fileno(), 1)", before="left = open('/etc/passwd')")
    assert ended.stdout == "OSError\n"


def test_a_kernel_without_landlock_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "landlock_version", lambda: 0)
    with pytest.raises(ConfinementUnavailable, match="no Landlock"):
        require_confinement()
