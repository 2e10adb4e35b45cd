"""`onlooker webhook` creates, lists, tests and removes webhooks."""

import re
from typing import Any

import pytest
from click.testing import CliRunner, Result

from onlooker.audit.models import OrganisationEntry
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.models import Delivery, Endpoint

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def secret_key(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """The one that the console of this test has."""
    monkeypatch.setenv("ONLOOKER_SECRET_KEY", settings.SECRET_KEY)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["webhook", *(str(word) for word in words)])


def test_a_webhook_from_creation_to_its_end(owner: Account) -> None:
    organisation = organisation_of(owner)
    url = "https://example.com/hooks?token=hidden"
    made = run("create", organisation.pk, url, "--name", "Tickets", "--event", "stream.silent")
    assert made.exit_code == 0, made.output
    assert re.search(r"^whsec_\S{44}$", made.output, re.MULTILINE)
    endpoint = Endpoint.objects.get()
    assert (endpoint.url, endpoint.name, endpoint.events) == (url, "Tickets", ["stream.silent"])
    listed = run("list").output
    assert "example.com, Tickets, stream.silent" in listed
    assert "hidden" not in listed
    assert Delivery.objects.count() == 0
    assert run("test", endpoint.pk).exit_code == 0
    assert Delivery.objects.get().event == "test"
    assert run("remove", endpoint.pk).exit_code == 0
    assert not Endpoint.objects.exists()
    actors = set(OrganisationEntry.objects.filter(action__startswith="webhook.").values_list("actor", flat=True))
    assert len(actors) == 1
    assert "command" in actors.pop()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("create", 99999, "https://example.com/"), "There is no organisation"),
        (("test", 99999), "There is no webhook"),
        (("remove", 99999), "There is no webhook"),
    ],
)
def test_what_is_not_there(words: tuple[object, ...], complaint: str) -> None:
    answer = run(*words)
    assert answer.exit_code != 0
    assert complaint in answer.output


def test_what_is_refused_names_the_remedy(owner: Account) -> None:
    number = organisation_of(owner).pk
    assert "begins with https://" in run("create", number, "http://example.com/").output
    assert "Choose from" in run("create", number, "https://example.com/", "--event", "stream.sneezed").output
