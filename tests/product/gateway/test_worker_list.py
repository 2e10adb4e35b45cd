"""Whether workers are confined, as `/readyz` says it and as the console reads it from the database."""

import json
import urllib.request
from importlib.metadata import version

import pytest

from onlooker.bus.worker_announcement import Announcement, announcement
from testkit import Stack
from wire import wait_for


def ready_of(stack: Stack, name: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{stack.monitoring_url(name)}/readyz", timeout=5) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def test_live_workers_are_listed_and_say_whether_they_are_confined(stack: Stack) -> None:
    ready = {"ready": True, "checks": {"bus": True, "computing": True}, "confined": True}
    assert ready_of(stack, "worker-1") == ready
    assert "confined" not in ready_of(stack, "dispatcher")
    query = """SELECT name, version, 'dummy-1' = ANY(services), confined FROM gateway_listedworker
               WHERE seen_at > now() - interval '10 s' ORDER BY name"""
    expected = [(name, version("onlooker"), True, True) for name in ("worker-1", "worker-2")]
    wait_for(lambda: stack.execute(query), lambda rows: rows == expected, limit_s=15, every_s=0.2)


@pytest.mark.parametrize("is_confined", [True, False])
def test_a_worker_announces_it_as_it_is(is_confined: bool) -> None:
    assert Announcement(**announcement("one", is_confined=is_confined)).is_confined is is_confined
