"""Tests that judge time have the machine to themselves: no other worker of pytest-xdist runs a test meanwhile."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def _lock_files() -> tuple[Path, Path] | None:
    """One pair for all workers of a run; none where tests run one after the other."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return None
    folder = Path(tempfile.gettempdir())
    return folder / f"onlooker-turnstile-{run}", folder / f"onlooker-machine-{run}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Tests share a lock; one marked `alone` holds it exclusively. The turnstile keeps others from overtaking it."""
    files = _lock_files()
    if files is None:
        return (yield)
    kind = fcntl.LOCK_SH if item.get_closest_marker("alone") is None else fcntl.LOCK_EX
    with files[0].open("a") as turnstile, files[1].open("a") as machine:
        fcntl.flock(turnstile, fcntl.LOCK_EX)
        fcntl.flock(machine, kind)
        fcntl.flock(turnstile, fcntl.LOCK_UN)
        return (yield)
