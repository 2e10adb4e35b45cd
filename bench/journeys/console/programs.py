"""What an owner gives to programs: a key, a webhook, and the reference that says what they can do."""

import re

from bench.journeys.console.person import JourneySetup, Person
from bench.journeys.console.steps import choose

INSIDE = "127.0.0.0/8"
"""What the product is allowed to ask here: nothing leaves the machine."""
NOBODY_THERE = "https://127.0.0.1:9/onlooker"


def give_key(scene: JourneySetup, person: Person) -> None:
    """It reads what it is for, is listed with its last use, and does nothing once it is revoked."""
    organisation = _open_organisation(person)
    person.open(f"{organisation}keys/")
    person.see("There is no key")
    person.look("no-keys")
    person.follow("Create key")
    person.fill("Name", "Weekly report")
    choose(person, "scopes", "numbers")
    person.look("new-key")
    person.press("Create key")
    person.see("Copy this key now")
    person.look("key")
    key = person.text("#key")
    assert _ask(scene, key) == 200
    person.open(f"{organisation}keys/")
    person.see("Weekly report", key[:12])
    person.look("keys")
    person.follow("Revoke")
    person.look("revoke-key")
    person.press("Revoke")
    person.see("Ended")
    person.look("ended-keys")
    assert _ask(scene, key) == 401


def _ask(scene: JourneySetup, key: str) -> int:
    with scene.client(scene.stack.console_url) as client:
        return client.get("/api/v1/numbers", headers={"Authorization": f"Bearer {key}"}).status_code


def add_webhook(person: Person) -> None:
    """Its test event is tried; the page says why it did not arrive."""
    organisation = _open_organisation(person)
    person.open(f"{organisation}webhooks/")
    person.look("no-webhooks")
    person.follow("Create webhook")
    person.fill("URL", NOBODY_THERE)
    person.look("new-webhook")
    person.press("Create webhook")
    person.see("Signing secret")
    person.look("webhook-secret")
    person.follow("Go to the webhook")
    person.press("Send test event")
    person.see("Test event on its way")

    def is_tried() -> bool:
        person.browser.refresh()
        return "1 of 10" in person.text()

    person.wait(is_tried, "a try of the test event")
    person.look("webhook")
    person.open(f"{organisation}webhooks/")
    person.look("webhooks")


def read_reference(person: Person) -> None:
    person.open("/api/v1/")
    person.see("Idempotency-Key")
    person.look("management-reference")


def _open_organisation(person: Person) -> str:
    """Its path."""
    person.open("/organisations/")
    found = re.search(r"/organisations/\d+/", person.browser.page_source)
    assert found, "no organisation on the page"
    return found[0]
