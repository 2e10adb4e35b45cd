"""Tests that share a running product run in one process; tests that judge time have the machine to themselves.

`--fast` leaves out all that need a running part.
"""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from testkit.machine_lock import MachineLock
from testkit.work_units import SHARED_FIXTURES, turn_of, unit_of

RUNNING_PARTS = re.compile(
    r"\b(stack|product|database\w*|browser|django_db|pytest_plugins|running_\w+|subprocess|socket|Popen|sleep|"
    r"client_of|owner|peer|find_testdata|TESTDATA|CLIPS|max_examples|mark\.slow|mark\.alone|layout|testkit\.pictures|"
    r"SceneSession|SceneState)\b"
)
"""A test file that names one of these needs a server, a net or more than a second."""
RUNNING_FIXTURES = {"stack", "product", "database_url", "archive"}
FAST_EXAMPLES = 15
LOCK = pytest.StashKey[MachineLock]()
"""Only where several processes run tests."""
NEXT = pytest.StashKey[pytest.Item | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="pure tests only, with fewer generated examples")


def pytest_configure(config: pytest.Config) -> None:
    # How long an example takes says more about the machine's other work than about the code.
    settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("fast", settings.get_profile("all"), max_examples=FAST_EXAMPLES)
    settings.load_profile("fast" if config.getoption("fast") else "all")
    if run := os.environ.get("PYTEST_XDIST_TESTRUNUID"):
        config.stash[LOCK] = MachineLock(run)


def pytest_unconfigure(config: pytest.Config) -> None:
    if lock := config.stash.get(LOCK, None):
        lock.close()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--fast`, files that need a running part are not even imported."""
    if not config.getoption("fast") or not re.fullmatch(r"test_.*\.py", collection_path.name):
        return None
    return True if RUNNING_PARTS.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--fast`, tests whose fixtures start a running part are left out. Long units come first."""
    if config.getoption("fast"):
        pure = [item for item in items if RUNNING_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))]
        config.hook.pytest_deselected(items=[item for item in items if item not in pure])
        items[:] = pure
    items.sort(key=lambda item: turn_of(unit_of(item.nodeid)))


class UnitScheduling(LoadScopeScheduling):
    """Sends all tests of a unit to one process, so that what they share is started once."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _reschedule(self, node: WorkerController) -> None:
        """A process knows its next test, and takes no further unit before that has begun: another may be free first."""
        if node.shutting_down or not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> UnitScheduling:
    return UnitScheduling(config, log)


def _is_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """All tests share a lock. Outermost: the wait for it is no part of a test's time limit."""
    lock = item.config.stash.get(LOCK, None)
    if lock is None:
        return (yield)
    item.stash[NEXT] = nextitem
    if not lock.is_alone:
        lock.share()
    try:
        return (yield)
    finally:
        if not (lock.is_alone and _next_is_alone(item)):
            lock.leave()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test marked `alone` holds the lock exclusively once it is set up; so does one that failed among others."""
    lock = item.config.stash.get(LOCK, None)
    is_rerun = getattr(item, "execution_count", 1) > 1
    if lock is None or not (is_rerun or _is_alone(item)):
        return (yield)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, 0)  # of pytest-timeout: waiting is no part of a test's time limit
    lock.be_alone()
    signal.setitimer(signal.ITIMER_REAL, left_s)
    try:
        return (yield)
    finally:
        if not _next_is_alone(item):
            lock.share()


def _next_is_alone(item: pytest.Item) -> bool:
    """Then the lock is kept: the others would begin something, and be waited for again."""
    following = item.stash[NEXT]
    return following is not None and _is_alone(following) and unit_of(following.nodeid) == unit_of(item.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A product ends with its unit: nobody asks it any more, and it would go on using the machine."""
    if LOCK not in item.config.stash or nextitem is None or unit_of(nextitem.nodeid) == unit_of(item.nodeid):
        return
    for name in SHARED_FIXTURES:
        for fixture in item.session._fixturemanager.getfixturedefs(name, item) or ():
            if fixture.scope == "session":
                fixture.finish(item._request)
