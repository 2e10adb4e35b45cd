"""The pages of webhooks: a secret that is shown once, what was delivered, and what members may change."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.web.secret_key import unseal
from onlooker.console.webhooks.endpoints import ENDPOINTS_AT_MOST, create_endpoint, replace_secret, send_test
from onlooker.console.webhooks.outbox import note_failed
from onlooker.streams.models import Organisation
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.models import Delivery, Endpoint
from onlooker.webhooks.pinned_post import PostFailed, Trouble

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)
"""An actor that is declared holds for a transaction: each request must have its own."""
URL = "https://hooks.example.org/in?token=hidden"


@pytest.fixture
def organisation(owner: Account) -> Organisation:
    return organisation_of(owner)


@pytest.fixture
def endpoint(organisation: Organisation) -> Endpoint:
    return create_endpoint(organisation, URL, name="Tickets").endpoint


def page(name: str, *numbers: int) -> str:
    return reverse(name, args=numbers)


def actions_of(organisation: Organisation) -> list[tuple[str, str]]:
    rows = OrganisationEntry.objects.filter(organisation=organisation, action__startswith="webhook.")
    return list(rows.order_by("number").values_list("actor", "action"))


def test_a_webhook_is_created_and_its_secret_shown_once(
    owner: Account, organisation: Organisation, sign_in: Callable[..., Client]
) -> None:
    browser = sign_in(owner)
    given = {"url": URL, "name": "Tickets", "events": ["stream.silent"]}
    answer = browser.post(page("webhook-new", organisation.pk), given)
    found = re.search(r"whsec_[A-Za-z0-9+/=]{44}", answer.content.decode())
    assert found
    assert answer["Cache-Control"] == "no-store"
    made = Endpoint.objects.get()
    assert (made.url, made.name, made.events, made.created_by) == (URL, "Tickets", ["stream.silent"], owner)
    assert unseal(made.secrets.get().sealed_secret) == found[0]
    shown = browser.get(page("webhook", organisation.pk, made.pk)).content.decode()
    assert found[0] not in shown
    assert "hooks.example.org" in browser.get(page("webhooks", organisation.pk)).content.decode()
    (entry,) = OrganisationEntry.objects.filter(organisation=organisation, action="webhook.created")
    assert entry.actor == f"account:{owner.pk}"
    assert "hooks.example.org" in entry.detail
    assert "hidden" not in entry.detail
    log = browser.get(page("organisation-audit", organisation.pk)).content.decode()
    assert f"Webhook {made.pk} (hooks.example.org) created." in log


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://hooks.example.org/", "over HTTPS only"),
        ("https://127.0.0.1/", "inside a private network"),
        ("https://2130706433/", "inside a private network"),
        ("https://[::ffff:10.0.0.1]/", "inside a private network"),
        ("https://user:pw@example.org/", "Leave user and password out"),
    ],
)
def test_a_url_inside_is_refused_with_a_remedy(
    owner: Account, organisation: Organisation, sign_in: Callable[..., Client], url: str, complaint: str
) -> None:
    answer = sign_in(owner).post(page("webhook-new", organisation.pk), {"url": url})
    assert complaint in answer.content.decode()
    assert not Endpoint.objects.exists()


def test_there_are_at_most_so_many(owner: Account, organisation: Organisation, sign_in: Callable[..., Client]) -> None:
    for _ in range(ENDPOINTS_AT_MOST):
        create_endpoint(organisation, URL)
    answer = sign_in(owner).post(page("webhook-new", organisation.pk), {"url": URL})
    assert "at most 10 webhooks" in answer.content.decode()


def test_a_failed_delivery_is_explained_and_sent_again(
    owner: Account, organisation: Organisation, endpoint: Endpoint, sign_in: Callable[..., Client]
) -> None:
    browser, here = sign_in(owner), page("webhook", organisation.pk, endpoint.pk)
    assert "Nothing was sent yet." in browser.get(here).content.decode()
    assert browser.post(page("webhook-test", organisation.pk, endpoint.pk)).status_code == 302
    delivery = Delivery.objects.get()
    assert "Waiting" in browser.get(here).content.decode()
    note_failed(endpoint.pk, delivery.pk, PostFailed(Trouble.STATUS, 500), timezone.now())
    shown = browser.get(here).content.decode()
    for text in ("500", "1 of 10", "Next try", "Answer with a status from 200 to 299.", delivery.message_id):
        assert text in shown
    Delivery.objects.update(failed_at=timezone.now())
    assert "Given up" in browser.get(here).content.decode()
    browser.post(page("webhook-replay", organisation.pk, endpoint.pk, delivery.pk))
    delivery.refresh_from_db()
    assert (delivery.is_waiting, delivery.tries) == (True, 0)
    other = send_test(create_endpoint(organisation, URL).endpoint)
    assert browser.post(page("webhook-replay", organisation.pk, endpoint.pk, other.pk)).status_code == 404


def test_it_is_changed_switched_off_and_on_and_deleted(
    owner: Account, organisation: Organisation, endpoint: Endpoint, sign_in: Callable[..., Client]
) -> None:
    browser = sign_in(owner)
    given = {"url": "https://new.example.org/", "name": "Tickets", "events": []}
    assert browser.post(page("webhook", organisation.pk, endpoint.pk), given).status_code == 302
    browser.post(page("webhook-switch", organisation.pk, endpoint.pk), {"enabled": "no"})
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.disabled_why) == ("https://new.example.org/", Endpoint.Disabled.BY_PERSON)
    browser.post(page("webhook-test", organisation.pk, endpoint.pk))
    shown = browser.get(page("webhook", organisation.pk, endpoint.pk)).content.decode()
    assert "Enable it first" in shown
    assert not Delivery.objects.exists()
    browser.post(page("webhook-switch", organisation.pk, endpoint.pk), {"enabled": "yes"})
    answer = browser.post(page("webhook-secret", organisation.pk, endpoint.pk))
    assert "whsec_" in answer.content.decode()
    assert endpoint.secrets.count() == 2
    browser.post(page("webhook-remove", organisation.pk, endpoint.pk))
    assert not Endpoint.objects.exists()
    names = ("changed", "disabled", "enabled", "secret_replaced", "removed")
    actor = f"account:{owner.pk}"
    assert actions_of(organisation)[1:] == [(actor, f"webhook.{name}") for name in names]


def test_what_a_deliverer_notes_is_not_in_the_audit_log(organisation: Organisation, endpoint: Endpoint) -> None:
    delivery = send_test(endpoint)
    note_failed(endpoint.pk, delivery.pk, PostFailed(Trouble.CLOSED), timezone.now())
    assert [action for _, action in actions_of(organisation)] == ["webhook.created"]
    Endpoint.objects.update(failing_since=timezone.now() - timedelta(days=4))
    note_failed(endpoint.pk, delivery.pk, PostFailed(Trouble.CLOSED), timezone.now())
    assert [action for _, action in actions_of(organisation)] == ["webhook.created", "webhook.disabled"]


def test_a_replaced_secret_is_replaced_again(endpoint: Endpoint) -> None:
    second, third = replace_secret(endpoint), replace_secret(endpoint)
    opened = [unseal(row.sealed_secret) for row in endpoint.secrets.order_by("id")]
    assert opened == [second, third]


def test_deliveries_are_on_pages(
    owner: Account, organisation: Organisation, endpoint: Endpoint, sign_in: Callable[..., Client]
) -> None:
    Delivery.objects.bulk_create([Delivery(endpoint=endpoint, event="test", body="{}") for _ in range(60)])
    browser, here = sign_in(owner), page("webhook", organisation.pk, endpoint.pk)
    first = browser.get(here).content.decode()
    found = re.search(r"\?before=(\d+)", first)
    assert found
    second = browser.get(f"{here}?before={found[1]}").content.decode()
    assert (first.count("msg_"), second.count("msg_")) == (50, 10)
    for odd in ("x", "9" * 30, "-1"):
        assert browser.get(f"{here}?before={odd}").status_code == 200
