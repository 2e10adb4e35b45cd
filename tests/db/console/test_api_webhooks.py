"""Webhooks by the management interface."""

import pytest

from api_programs import ApiProgram, program_of
from onlooker.console.accounts.models import Account
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]


@pytest.fixture
def manager(owner: Account) -> ApiProgram:
    return program_of(organisation_of(owner), "manage", role="manager")


def test_a_webhook_is_created_tested_disabled_and_removed(manager: ApiProgram) -> None:
    made = manager.do("POST", "webhooks", {"url": "https://example.org/hook", "events": ["device.enrolled"]})
    webhook = made["webhook"]
    assert made["secret"].startswith("whsec_")
    path = f"webhooks/{webhook['id']}"
    assert manager.do("GET", path) == webhook
    sent = manager.do("POST", f"{path}/test")
    assert (sent["event"], sent["tries"], sent["delivered_at"]) == ("test", 0, None)
    (listed,) = manager.do("GET", f"{path}/deliveries")["items"]
    assert listed["message_id"] == sent["message_id"]
    assert manager.do("POST", f"{path}/deliveries/{sent['id']}/replay")["id"] == sent["id"]
    assert manager.do("POST", f"{path}/secret")["secret"] != made["secret"]
    changed = manager.do("PATCH", path, {"enabled": False, "name": "Till"})
    assert (changed["name"], changed["disabled_why"]) == ("Till", "person")
    assert manager.refusal("POST", f"{path}/test") == (409, "conflict")
    assert manager.send("DELETE", path).status_code == 204
    assert manager.do("GET", "webhooks")["items"] == []


@pytest.mark.parametrize("url", ["http://example.org/", "https://127.0.0.1/", "https://169.254.169.254/", "x"])
def test_addresses_inside_are_refused(manager: ApiProgram, url: str) -> None:
    assert manager.refusal("POST", "webhooks", {"url": url}) == (409, "conflict")


def test_unknown_events_are_refused(manager: ApiProgram) -> None:
    body = {"url": "https://example.org/", "events": ["stream.unknown"]}
    assert manager.refusal("POST", "webhooks", body) == (409, "conflict")
