"""Whether workers are confined, as `/readyz` says it and as the console reads it from the database."""

import json
import time
import urllib.request
from importlib.metadata import version

import pytest

from testkit import Stack, migrated_database, running_stack

APPEARS_S = 15


def ready_of(stack: Stack, name: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{stack.monitoring_url(name)}/readyz", timeout=5) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def await_row(stack: Stack, *, other_than: str = "") -> tuple[str, list[object]]:
    """The instance of a worker that was heard of lately, and what it says of itself."""
    columns = "instance, name, version, services, confined"
    query = f"SELECT {columns} FROM gateway_listedworker WHERE instance <> %s AND seen_at > now() - interval '10 s'"
    until = time.monotonic() + APPEARS_S
    while not (rows := stack.execute(query, other_than)):
        assert time.monotonic() < until, "no worker was listed"
        time.sleep(0.2)
    [(instance, *said)] = rows
    return instance, said


@pytest.mark.parametrize(("confinement", "is_confined"), [("on", True), ("off", False)])
def test_a_live_worker_is_listed_and_says_whether_it_is_confined(confinement: str, is_confined: bool) -> None:
    settings = {"confinement": confinement, "worker_services": "dummy"}
    with migrated_database() as url, running_stack(url, **settings) as stack:
        ready = {"ready": True, "checks": {"bus": True, "computing": True}, "confined": is_confined}
        assert ready_of(stack, "worker-1") == ready
        assert "confined" not in ready_of(stack, "dispatcher")
        first, said = await_row(stack)
        assert said == ["worker-1", version("onlooker"), ["dummy-1"], is_confined]
        stack.execute("UPDATE gateway_listedworker SET seen_at = now() - interval '2 hours'")
        stack.kill("worker-1")
        _, said = await_row(stack, other_than=first)
        assert said == ["worker-1", version("onlooker"), ["dummy-1"], is_confined]
