"""A provider that lies signs nobody in, and takes nobody's time; requests to it have bounds."""

import time
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.sign_in import outbound, views
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.sign_in.outbound import LARGEST_ANSWER, ProviderTroubleError, place_of
from provider_sign_ins import PAGE, RETURN, begin, make_organisation, parameters_of, roles_of, says
from sign_in_forms import is_signed_in
from testkit.lying_provider import make_key, running_lying_provider

pytest_plugins = ["pages"]

ALICE = "alice@acme.example"
DISCOVERY = "/.well-known/openid-configuration"
HOUR_S = 3600


@pytest.fixture
def provider(settings, owner):
    settings.SIGN_IN_ALLOWS_LOOPBACK = True
    with running_lying_provider() as lying:
        lying.userinfo = {"email": ALICE, "email_verified": True, "groups": ["screens"]}
        make_organisation(owner, lying.issuer)
        yield lying


def come_back(browser, provider, **changed):
    """As the provider's page would send the browser back."""
    asked = parameters_of(begin(browser))
    provider.nonce = asked["nonce"]
    return browser.get(RETURN, {"code": "a code", "state": asked["state"], **changed})


def assert_refused(browser, answer, text="could not be verified"):
    assert answer.status_code == 403
    assert says(answer, text), answer.content.decode()
    assert not is_signed_in(browser)
    assert not Account.objects.filter(email=ALICE).exists()


def test_an_honest_one_signs_in(provider, sign_in) -> None:
    browser = sign_in(None)
    assert come_back(browser, provider).headers["location"] == "/streams/"
    assert is_signed_in(browser)
    assert roles_of(ALICE) == {"Acme": "manager"}


def test_what_is_asked_for_has_state_nonce_and_a_proof_key(provider, sign_in) -> None:
    asked = parameters_of(begin(sign_in(None)))
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == "https://console.example.org/sign-in/acme/return/"
    assert len(asked["nonce"]) >= 30
    assert len(asked["state"]) >= 16
    again = parameters_of(begin(sign_in(None)))
    assert not {asked["nonce"], asked["state"], asked["code_challenge"]} & set(again.values())


NOW = int(time.time())
LIES = {
    "another issuer": {"claims": {"iss": "https://login.example.org"}},
    "another client": {"claims": {"aud": "somebody else"}},
    "several clients": {"claims": {"aud": ["onlooker", "somebody else"]}},
    "expired": {"claims": {"exp": NOW - HOUR_S}},
    "from the future": {"claims": {"iat": NOW + HOUR_S}},
    "no expiry": {"claims": {"exp": None}},
    "no subject": {"claims": {"sub": None}},
    "an empty subject": {"claims": {"sub": ""}, "userinfo": {"sub": ""}},
    "a subject that is a number": {"claims": {"sub": 5}, "userinfo": {"sub": 5}},
    "a subject without end": {"claims": {"sub": "x" * 192}, "userinfo": {"sub": "x" * 192}},
    "somebody else's details": {"userinfo": {"sub": "bob"}},
    "another key": {"signs_with": make_key()},
    "no signature": {"algorithm": "none", "signs_with": ""},
    "the client's secret as a key": {
        "algorithm": "HS256",
        "signs_with": "a secret that is long enough for SHA-256 here",
    },
    "an unknown key": {"key_name": "second"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_lies_is_refused(provider, sign_in, lie) -> None:
    for name, value in LIES[lie].items():
        setattr(provider, name, provider.userinfo | value if name == "userinfo" else value)
    browser = sign_in(None)
    assert_refused(browser, come_back(browser, provider))


@pytest.mark.parametrize("nonce", ["another", None])
def test_a_token_for_another_sign_in_is_refused(provider, sign_in, nonce) -> None:
    provider.claims = {"nonce": nonce}
    browser = sign_in(None)
    assert_refused(browser, come_back(browser, provider), "not for this sign-in")


def test_an_answer_counts_once_and_in_the_browser_that_began(provider, sign_in) -> None:
    browser, other = sign_in(None), sign_in(None)
    asked = parameters_of(begin(browser))
    provider.nonce = asked["nonce"]
    answer = {"code": "a code", "state": asked["state"]}
    assert_refused(other, other.get(RETURN, answer), "Start again")
    assert_refused(browser, browser.get(RETURN, answer | {"iss": "https://login.example.org"}), "Start again")
    assert browser.get(RETURN, answer).status_code == 302
    browser.post("/accounts/logout/")
    assert browser.get(RETURN, answer).status_code == 403


@pytest.mark.parametrize("query", [{}, {"error": "access_denied"}, {"error": "server_error"}])
def test_who_comes_back_without_a_code_is_told_to_start_again(provider, sign_in, query) -> None:
    browser = sign_in(None)
    asked = parameters_of(begin(browser))
    assert_refused(browser, browser.get(RETURN, {"state": asked["state"]} | query), "Start again")


WRONG_DOCUMENTS = {
    "calls itself": {"issuer": "https://login.example.org"},
    "refers to inside.example": {"token_endpoint": "https://inside.example/token"},
    "refers to 127.0.0.1:1,": {"jwks_uri": "http://127.0.0.1:1/keys"},
    "is not an HTTPS URL": {"authorization_endpoint": "http://login.example.org/authorize"},
    "has no token_endpoint": {"token_endpoint": None},
    "has no jwks_uri": {"jwks_uri": 5},
}


@pytest.mark.parametrize("text", WRONG_DOCUMENTS)
def test_a_document_that_leads_elsewhere_is_refused(provider, sign_in, text) -> None:
    provider.document = WRONG_DOCUMENTS[text]
    answer = sign_in(None).post(PAGE)
    assert answer.status_code == 403
    assert says(answer, text), answer.content.decode()
    assert provider.asked == [DISCOVERY]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((302, {"Location": "http://127.0.0.1:1/"}, []), "redirects elsewhere"),
        ((200, {}, [b"x" * (LARGEST_ANSWER + 1)]), "too large"),
        ((200, {}, [b"[]"]), "no JSON object"),
        ((200, {}, [b"[" * 100_000]), "no JSON object"),
        ((200, {}, [b"\xff\xfe"]), "no JSON object"),
        ((500, {}, [b"{}"]), "no JSON object"),
    ],
)
def test_an_answer_that_is_none_is_refused(provider, sign_in, answer, text) -> None:
    provider.answers[DISCOVERY] = answer
    refused = sign_in(None).post(PAGE)
    assert refused.status_code == 403
    assert says(refused, text), refused.content.decode()


@pytest.mark.parametrize("path", ["/token", "/keys", "/userinfo"])
def test_trouble_half_way_is_told(provider, sign_in, path) -> None:
    provider.answers[path] = (500, {}, [b"{}"])
    browser = sign_in(None)
    assert_refused(browser, come_back(browser, provider), "no JSON object")


def test_a_slow_one_is_given_up(provider, sign_in, monkeypatch) -> None:
    monkeypatch.setattr(outbound, "READ_LIMIT_S", 0.5)
    monkeypatch.setattr(outbound, "TOTAL_LIMIT_S", 1.0)
    provider.answers[DISCOVERY] = (200, {}, [2.0, b"{}"])
    assert says(sign_in(None).post(PAGE), "did not answer")
    provider.answers[DISCOVERY] = (200, {}, [b" ", 0.2] * 30)
    started = time.monotonic()
    assert says(sign_in(None).post(PAGE), "takes too long")
    assert time.monotonic() - started < 3


def test_one_that_is_down_is_told(provider, sign_in, owner) -> None:
    IdentityProvider.objects.update(issuer="http://127.0.0.1:1")
    assert says(sign_in(None).post(PAGE), "did not answer")


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000", "http://login.example.org", "ftp://login.example.org", "https://", "login.example.org",
     "https://user@login.example.org", "https://login.example.org:x", "https://[::1", "file:///etc/passwd"],
)  # fmt: skip
def test_only_https_is_asked_and_loopback_only_from_loopback(settings, url) -> None:
    settings.SIGN_IN_ALLOWS_LOOPBACK = False
    with pytest.raises(ProviderTroubleError):
        place_of(url)


def test_an_unknown_or_switched_off_page_is_not_there(provider, sign_in) -> None:
    assert sign_in(None).get("/sign-in/nobody/").status_code == 404
    IdentityProvider.objects.update(is_on=False)
    for path in (PAGE, RETURN):
        assert sign_in(None).get(path).status_code == 404


def test_a_token_a_little_ahead_of_our_clock_is_taken(provider, sign_in) -> None:
    provider.claims = {"iat": int((timezone.now() + timedelta(seconds=30)).timestamp())}
    browser = sign_in(None)
    assert come_back(browser, provider).status_code == 302


def test_starting_is_limited_by_address(provider, sign_in, monkeypatch) -> None:
    assert views.SIGN_INS_FROM_ONE_ADDRESS == "60/m/key"
    monkeypatch.setattr(views, "SIGN_INS_FROM_ONE_ADDRESS", "3/m/key")
    browser = sign_in(None)
    answers = [browser.post(PAGE).status_code for _ in range(4)]
    assert answers == [200] * 3 + [429]
    cache.clear()
