"""Tests that share a running product run in one process; tests that judge time have the machine to themselves.

`--fast` leaves out all that need a running part.
"""

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parent
RUNNING_PARTS = re.compile(
    r"\b(stack|product|database\w*|browser|django_db|pytest_plugins|running_\w+|subprocess|socket|Popen|sleep|"
    r"client_of|owner|peer|find_testdata|TESTDATA|CLIPS|max_examples|mark\.slow|mark\.alone|layout|testkit\.pictures|"
    r"SceneSession|SceneState)\b"
)
"""A test file that names one of these needs a server, a net or more than a second."""
RUNNING_FIXTURES = {"stack", "product", "database_url", "archive"}
SHARED_PRODUCTS = {
    "server": re.compile(r"\b(stack: Stack|stream: TestStream|client: httpx2\.Client|stored: StoredStack)\b"),
    "client": re.compile(r"\b(product: Stack|stream: TestStream|client: Client)\b"),
}
"""What a test file says, by its package, that needs the product of that package's tests."""
LONG_FOLDERS = {"journey", "docs"}
FAST_EXAMPLES = 15
LOCKS = pytest.StashKey[tuple[IO[str], IO[str]]]()
"""A turnstile, and the machine itself."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="pure tests only, with fewer generated examples")


def pytest_configure(config: pytest.Config) -> None:
    # How long an example takes says more about the machine's other work than about the code.
    settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("fast", settings.get_profile("all"), max_examples=FAST_EXAMPLES)
    settings.load_profile("fast" if config.getoption("fast") else "all")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--fast`, files that need a running part are not even imported."""
    if not config.getoption("fast") or not re.fullmatch(r"test_.*\.py", collection_path.name):
        return None
    return True if RUNNING_PARTS.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--fast`, tests whose fixtures start a running part are left out. Long files come first."""
    if config.getoption("fast"):
        pure = [item for item in items if RUNNING_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))]
        config.hook.pytest_deselected(items=[item for item in items if item not in pure])
        items[:] = pure
    items.sort(key=lambda item: _turn_of(item.path))


class SharedProductScheduling(LoadScopeScheduling):
    """Sends all files that share a product to one process, so that it is started once; any other file by itself."""

    def _split_scope(self, nodeid: str) -> str:
        return _group_of(ROOT / nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedProductScheduling:
    return SharedProductScheduling(config, log)


@cache
def _group_of(file: Path) -> str:
    package = file.relative_to(ROOT).parts[0]
    needed = SHARED_PRODUCTS.get(package)
    return package if needed and needed.search(file.read_text(encoding="utf-8")) else str(file)


@cache
def _turn_of(file: Path) -> int:
    """What takes longest begins first, so that no process waits long for the last one."""
    if _group_of(file) in SHARED_PRODUCTS:
        return 0
    return 1 if file.parent.name in LONG_FOLDERS or "mark.slow" in file.read_text(encoding="utf-8") else 2


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
