"""Sign-in with a real OpenID provider (`oidc-provider` from npm, on loopback), over its own pages."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
import requests

from bench.lib.identity_provider import is_installed, running_identity_provider
from bench.lib.identity_provider.process import NEEDS, SCOPES
from onlooker.console.accounts.models import Account
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.web.secret_key import seal
from onlooker.streams.models import Membership
from provider_sign_ins import RETURN_URL, begin, make_organisation, roles_of, says
from sign_in_forms import is_signed_in, link_in

pytest_plugins = ["pages"]
pytestmark = pytest.mark.skipif(not is_installed(), reason=NEEDS)

ALICE = "alice@acme.example"
MOST_STEPS = 10


@pytest.fixture(scope="module")
def running():
    with running_identity_provider(RETURN_URL) as provider:
        yield provider


@pytest.fixture
def provider(running, settings, owner):
    settings.SIGN_IN_ALLOWS_LOOPBACK = True
    running.put("alice", email=ALICE, email_verified=True, name="Alice", groups=["screens"])
    make_organisation(owner, running.issuer, secret=running.client_secret, scopes=SCOPES)
    return running


def walk(browser, provider, login="alice"):
    """Through the provider's pages, as somebody with a browser there; what the console answers at the end."""
    with requests.Session() as person:
        answer = person.get(begin(browser), allow_redirects=False)
        for _ in range(MOST_STEPS):
            if answer.is_redirect:
                target = urljoin(answer.url, answer.headers["Location"])
                if target.startswith(RETURN_URL):
                    return browser.get(f"{urlsplit(target).path}?{urlsplit(target).query}")
                answer = person.get(target, allow_redirects=False)
            else:
                form = re.search(r'action="([^"]+)"', answer.text)[1]
                typed = {"prompt": "login", "login": login, "password": "any"}
                answer = person.post(urljoin(answer.url, form), data=typed, allow_redirects=False)
    raise AssertionError(f"the provider does not lead back: {answer.status_code} {answer.url}")


def test_a_new_person_signs_in_and_comes_again(provider, sign_in) -> None:
    for _ in range(2):
        browser = sign_in(None)
        assert walk(browser, provider).headers["location"] == "/streams/"
        assert is_signed_in(browser)
    assert Account.objects.filter(email=ALICE).count() == 1
    assert roles_of(ALICE) == {"Acme": "manager"}


def test_the_role_follows_the_groups(provider, sign_in) -> None:
    walk(sign_in(None), provider)
    provider.put("alice", groups=["numbers"])
    walk(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "analyst"}
    provider.put("alice", groups=["elsewhere"])
    browser = sign_in(None)
    assert says(walk(browser, provider), "None of your groups")
    assert roles_of(ALICE) == {}
    assert not is_signed_in(browser)


def test_an_unverified_address_takes_nothing_over_and_is_confirmed_by_mail(provider, sign_in, owner, mailbox) -> None:
    provider.put("mallory", email=owner.email, email_verified=False, groups=["screens"])
    browser = sign_in(None)
    assert says(walk(browser, provider, "mallory"), "There is already an account")
    assert not is_signed_in(browser)
    provider.put("bob", email="bob@acme.example", email_verified=False, groups=["screens"])
    browser = sign_in(None)
    assert walk(browser, provider, "bob").headers["location"] == "/accounts/confirm-email/"
    assert not is_signed_in(browser)
    browser.post(link_in(mailbox.to("bob@acme.example")[0]))
    assert is_signed_in(browser)


def test_a_removed_member_stays_out(provider, sign_in) -> None:
    walk(sign_in(None), provider)
    Membership.objects.get(account__email=ALICE).delete()
    browser = sign_in(None)
    assert says(walk(browser, provider), "no longer a member")
    assert not is_signed_in(browser)


def test_a_wrong_secret_is_told(provider, sign_in) -> None:
    IdentityProvider.objects.update(sealed_secret=seal("another"))
    assert says(walk(sign_in(None), provider), "the client id and the secret")


def test_a_wrong_issuer_is_told(provider, sign_in) -> None:
    IdentityProvider.objects.update(issuer=f"{provider.issuer}/")
    assert says(sign_in(None).post("/sign-in/acme/"), "to the letter")
