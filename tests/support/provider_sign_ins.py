"""An organisation with a provider, and the way of a browser through it; for tests of organisations' sign-in."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.utils.html import escape

from onlooker.console.accounts.models import Account
from onlooker.console.sign_in.models import GroupRole, IdentityProvider, ProvenDomain
from onlooker.console.web.secret_key import seal
from onlooker.streams.models import Membership, Organisation
from onlooker.streams.organisations import create_organisation

ADDRESS = "acme"
PAGE, RETURN = f"/sign-in/{ADDRESS}/", f"/sign-in/{ADDRESS}/return/"
RETURN_URL = f"https://console.example.org{RETURN}"
DOMAIN = "acme.example"


def make_organisation(owner: Account, issuer: str, *, secret: str = "a secret", **values: Any) -> Organisation:
    """Acme, whose group `screens` are managers; the domain is proven."""
    organisation = create_organisation("Acme", owner)
    chosen = {"issuer": issuer, "client_id": "onlooker", "sealed_secret": seal(secret), "address": ADDRESS} | values
    provider = IdentityProvider.objects.create(organisation=organisation, **chosen)
    GroupRole.objects.create(provider=provider, group="screens", role="manager")
    GroupRole.objects.create(provider=provider, group="numbers", role="analyst")
    ProvenDomain.objects.create(domain=DOMAIN, organisation=organisation)
    return organisation


def begin(browser: Client, **values: str) -> str:
    """Press the button; the provider's address for this sign-in."""
    answer = browser.post(PAGE, values)
    assert answer.status_code == 200, answer.content.decode()
    return answer.context["target"]


def parameters_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def roles_of(email: str) -> dict[str, str]:
    """By the names of organisations."""
    rows = Membership.objects.filter(account__email=email).values_list("organisation__name", "role")
    return dict(rows)


def says(answer: Any, text: str) -> bool:
    return escape(text) in answer.content.decode() or text in answer.content.decode()
