"""Tests that judge time have the machine to themselves; `--fast` leaves out all that need a running part."""

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings

RUNNING_PARTS = re.compile(
    r"\b(stack|product|database\w*|browser|django_db|pytest_plugins|running_\w+|subprocess|socket|Popen|sleep|"
    r"client_of|owner|peer|find_testdata|TESTDATA|CLIPS|max_examples|mark\.slow|mark\.alone)\b"
)
"""A test file that names one of these needs more than the interpreter, or takes its time."""
FAST_EXAMPLES = 15
LOCKS = pytest.StashKey[tuple[IO[str], IO[str]]]()
"""A turnstile, and the machine itself."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="pure tests only, with fewer generated examples")


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("fast", max_examples=FAST_EXAMPLES)
    if config.getoption("fast"):
        settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--fast`, files that need a running part are not even imported."""
    if not config.getoption("fast") or not re.fullmatch(r"test_.*\.py", collection_path.name):
        return None
    return True if RUNNING_PARTS.search(collection_path.read_text(encoding="utf-8")) else None


def _lock_files() -> tuple[Path, Path] | None:
    """One pair for all workers of a run; none where tests run one after the other."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return None
    folder = Path(tempfile.gettempdir())
    return folder / f"onlooker-turnstile-{run}", folder / f"onlooker-machine-{run}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """All tests share a lock. Outermost: the wait for it is no part of a test's time limit."""
    files = _lock_files()
    if files is None:
        return (yield)
    with files[0].open("a") as turnstile, files[1].open("a") as machine:
        item.stash[LOCKS] = turnstile, machine
        _lock(turnstile, machine, fcntl.LOCK_SH)
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test marked `alone` holds the lock exclusively once it is set up; so does one that failed among others."""
    is_rerun = getattr(item, "execution_count", 1) > 1
    if LOCKS not in item.stash or not (is_rerun or item.get_closest_marker("alone")):
        return (yield)
    turnstile, machine = item.stash[LOCKS]
    fcntl.flock(machine, fcntl.LOCK_UN)  # else two of them would wait for one another
    _lock(turnstile, machine, fcntl.LOCK_EX)
    try:
        return (yield)
    finally:
        fcntl.flock(machine, fcntl.LOCK_SH)


def _lock(turnstile: IO[str], machine: IO[str], kind: int) -> None:
    """Through the turnstile, so that nobody overtakes a test that waits to be alone."""
    fcntl.flock(turnstile, fcntl.LOCK_EX)
    fcntl.flock(machine, kind)
    fcntl.flock(turnstile, fcntl.LOCK_UN)
