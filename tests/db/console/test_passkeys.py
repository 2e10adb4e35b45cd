"""Passkeys: added after confirming one's identity, enough to sign in, and useless to anyone else."""

import json
import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from onlooker.console.accounts import views
from onlooker.console.accounts.models import SecurityEvent
from onlooker.console.accounts.passkeys import LARGEST_CREDENTIAL
from onlooker.console.accounts.security_events import SENTENCES, end_past_events
from sign_in_forms import add_second_factor, confirm_identity, is_signed_in, second_factors, sign_in_by_form, text_of
from software_passkey import SoftwarePasskey

pytest_plugins = ["pages"]

LIST, ADD = "/accounts/2fa/webauthn/", "/accounts/2fa/webauthn/add/"
LOGIN, AUTHENTICATE = "/accounts/2fa/webauthn/login/", "/accounts/2fa/authenticate/"
CONFIRM = "/accounts/2fa/webauthn/reauthenticate/"


def options_in(page):
    return json.loads(re.search(r'id="passkey-options"[^>]*>(.*?)</script>', page.content.decode())[1])["publicKey"]


def add_passkey(browser, passkey=None, *, name="Laptop"):
    passkey = passkey or SoftwarePasskey()
    credential = passkey.create(options_in(browser.get(ADD)))
    return passkey, browser.post(ADD, {"name": name, "credential": json.dumps(credential)})


def login_options(browser):
    return browser.get(LOGIN, headers={"accept": "application/json"}).json()["request_options"]["publicKey"]


def sign_in_with(browser, passkey, **values):
    credential = passkey.use(login_options(browser))
    return browser.post(LOGIN, {"credential": json.dumps(credential), **values})


@pytest.fixture
def enrolled(sign_in, owner, mailbox, django_capture_on_commit_callbacks):
    """The owner's browser, and their passkey."""
    browser = sign_in(owner)
    confirm_identity(browser)
    with django_capture_on_commit_callbacks(execute=True):
        passkey, answer = add_passkey(browser)
    assert answer.headers["location"] == "/accounts/2fa/recovery-codes/"
    return browser, passkey


def test_it_is_added_by_who_shows_who_they_are(sign_in, owner) -> None:
    browser = sign_in(owner)
    assert browser.get(ADD).headers["location"].startswith("/accounts/reauthenticate/")
    assert browser.post(ADD, {"name": "x", "credential": "{}"}).headers["location"].startswith("/accounts/reauth")
    assert second_factors(owner) == set()


def test_it_is_listed_told_by_mail_and_noted(enrolled, owner, mailbox) -> None:
    browser, _ = enrolled
    assert "Laptop" in browser.get(LIST).content.decode()
    assert any("passkey was added" in text_of(mail) for mail in mailbox.to(owner.email))
    assert [(event.action, event.detail) for event in owner.security_events.order_by("id")] == [
        ("passkey.added", "Laptop"),
        ("recovery_codes.created", ""),
    ]
    page = browser.get("/accounts/events/").content.decode()
    assert str(SENTENCES["passkey.added"]) in page
    assert "127.0.0.1" in page


def test_it_signs_in_alone_even_where_a_code_is_asked_for(enrolled, sign_in, owner) -> None:
    add_second_factor(owner)
    browser = sign_in(None)
    assert sign_in_with(browser, enrolled[1]).headers["location"] == "/streams/"
    assert is_signed_in(browser)


def test_it_leads_where_the_person_wanted_to_go(enrolled, sign_in) -> None:
    answer = sign_in_with(sign_in(None), enrolled[1], next="/accounts/sessions/")
    assert answer.headers["location"] == "/accounts/sessions/"
    answer = sign_in_with(sign_in(None), enrolled[1], next="https://elsewhere.example/")
    assert answer.headers["location"] == "/streams/"


def test_after_a_password_it_is_the_second_factor(enrolled, sign_in, owner) -> None:
    browser = sign_in(None)
    assert sign_in_by_form(browser, owner.email).headers["location"] == AUTHENTICATE
    credential = enrolled[1].use(options_in(browser.get(AUTHENTICATE)))
    assert not is_signed_in(browser)
    assert browser.post(AUTHENTICATE, {"credential": json.dumps(credential)}).headers["location"] == "/streams/"
    assert is_signed_in(browser)


def test_it_confirms_who_somebody_is(enrolled, sign_in, owner) -> None:
    browser = sign_in(owner)
    credential = enrolled[1].use(options_in(browser.get(CONFIRM)))
    assert browser.post(CONFIRM, {"credential": json.dumps(credential)}).status_code == 302
    assert browser.get("/accounts/delete/").status_code == 200


def test_it_is_renamed_and_removed(enrolled, owner, mailbox, django_capture_on_commit_callbacks) -> None:
    browser, _ = enrolled
    key = owner.authenticator_set.get(type="webauthn").pk
    browser.post(f"{LIST}keys/{key}/edit/", {"name": "Old laptop"})
    assert "Old laptop" in browser.get(LIST).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(f"{LIST}keys/{key}/remove/")
    assert second_factors(owner) == set()  # the recovery codes go with the last factor
    assert any("passkey was removed" in text_of(mail) for mail in mailbox.to(owner.email))
    noted = list(owner.security_events.order_by("id").values_list("action", "detail"))
    assert noted[2:] == [("passkey.renamed", "Old laptop"), ("passkey.removed", "Old laptop")]


def test_a_removed_one_signs_nobody_in(enrolled, sign_in, owner) -> None:
    browser, passkey = enrolled
    browser.post(f"{LIST}keys/{owner.authenticator_set.get(type='webauthn').pk}/remove/")
    again = sign_in(None)
    assert sign_in_with(again, passkey).headers["location"] == "/accounts/login/"
    assert not is_signed_in(again)
    assert "not accepted" in again.get("/accounts/login/").content.decode()


def test_somebody_elses_can_be_neither_renamed_nor_removed(enrolled, sign_in, owner, stranger) -> None:
    key = owner.authenticator_set.get(type="webauthn").pk
    other = sign_in(stranger)
    confirm_identity(other)
    for action in ("edit", "remove"):
        assert other.post(f"{LIST}keys/{key}/{action}/", {"name": "mine"}).status_code == 404
    assert str(owner.authenticator_set.get(pk=key)) == "Laptop"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("origin", "https://evil.example"),
        ("origin", "https://sub.console.example.org"),
        ("origin", "https://console.example.org:8443"),
        ("origin", "http://console.example.org"),
        ("rp_id", "example.org"),
        ("verifies", False),
        ("credential_id", b"another one"),
        ("user_handle", "Mg"),  # "2"
    ],
)
def test_an_answer_for_another_place_or_person_or_without_a_check_is_refused(
    enrolled, sign_in, attribute, value
) -> None:
    browser, passkey = sign_in(None), enrolled[1]
    setattr(passkey, attribute, value)
    assert sign_in_with(browser, passkey).headers["location"] == "/accounts/login/"
    assert not is_signed_in(browser)


def test_another_key_under_the_same_name_is_refused(enrolled, sign_in) -> None:
    real = enrolled[1]
    forged = SoftwarePasskey(credential_id=real.credential_id, user_handle=real.user_handle)
    browser = sign_in(None)
    sign_in_with(browser, forged)
    assert not is_signed_in(browser)


def test_an_answer_counts_once_and_in_the_browser_that_was_asked(enrolled, sign_in) -> None:
    first, second = sign_in(None), sign_in(None)
    answer = json.dumps(enrolled[1].use(login_options(first)))
    login_options(second)
    second.post(LOGIN, {"credential": answer})
    assert not is_signed_in(second)
    first.post(LOGIN, {"credential": answer})
    assert is_signed_in(first)
    first.post("/accounts/logout/")
    first.post(LOGIN, {"credential": answer})
    assert not is_signed_in(first)


@pytest.mark.parametrize(("attribute", "value"), [("origin", "https://sub.console.example.org"), ("verifies", False)])
def test_a_key_is_added_only_with_a_check_and_for_this_place(sign_in, owner, attribute, value) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    _, answer = add_passkey(browser, SoftwarePasskey(**{attribute: value}))
    assert "was not added" in answer.content.decode()
    assert second_factors(owner) == set()


MALFORMED = [
    "", "5", "null", "[]", "{}", "not json", '{"id": 1}', '{"response": {}}',
    "[" * 5000, "x" * (LARGEST_CREDENTIAL + 1),
    '{"id": "AA", "rawId": "AA", "response": {"clientDataJSON": "AA", "attestationObject": "AA"}}',
    '{"rawId": "AA", "response": {"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA"}}',
    '{"rawId": "AA", "response": {"clientDataJSON": "bnVsbA", "attestationObject": "oA"}, "type": 5}',
]  # fmt: skip


@pytest.mark.parametrize("credential", MALFORMED)
def test_what_no_browser_sends_is_a_wrong_answer_and_no_error(enrolled, sign_in, owner, credential) -> None:
    browser, _ = enrolled
    browser.get(ADD)
    assert browser.post(ADD, {"name": "x", "credential": credential}).status_code == 200
    other = sign_in(None)
    login_options(other)
    assert other.post(LOGIN, {"credential": credential}).status_code == 302
    assert not is_signed_in(other)
    sign_in_by_form(other, owner.email)
    other.get(AUTHENTICATE)
    assert other.post(AUTHENTICATE, {"credential": credential}).status_code == 200
    assert not is_signed_in(other)


def test_a_disabled_account_does_not_get_in(enrolled, sign_in, owner) -> None:
    owner.is_active = False
    owner.save()
    browser = sign_in(None)
    assert sign_in_with(browser, enrolled[1]).headers["location"] == "/accounts/inactive/"
    assert not is_signed_in(browser)


def test_pages_have_no_script_of_their_own(enrolled, sign_in, owner) -> None:
    browser, _ = enrolled
    second = sign_in(None)
    sign_in_by_form(second, owner.email)
    pages = [browser.get(ADD), browser.get(LIST), second.get("/accounts/login/"), second.get(AUTHENTICATE)]
    for page in (*pages, sign_in(owner).get(CONFIRM)):
        for tag in re.findall(r"<script[^>]*>", page.content.decode()):
            assert "src=" in tag or 'type="application/json"' in tag
        assert "'unsafe-inline'" not in page.headers["content-security-policy"]


def test_of_a_passkey_nothing_secret_is_stored(enrolled, owner) -> None:
    """Only its public part: there is nothing that a copy of the database would open."""
    data = owner.authenticator_set.get(type="webauthn").data
    assert set(data) == {"name", "credential"}
    assert set(data["credential"]["response"]) == {"clientDataJSON", "attestationObject"}


def test_events_end_after_a_year(owner) -> None:
    for days in (364, 366):
        event = SecurityEvent.objects.create(account=owner, action="password.changed")
        SecurityEvent.objects.filter(pk=event.pk).update(at=timezone.now() - timedelta(days=days))
    assert end_past_events() == 1
    assert owner.security_events.count() == 1


def test_a_changed_password_is_noted(sign_in, owner, mailbox) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    new = "a ladder by the white wall"
    browser.post(
        "/accounts/password/change/",
        {"oldpassword": "correct horse battery staple", "password1": new, "password2": new},
    )
    assert list(owner.security_events.values_list("action", flat=True)) == ["password.changed"]


def test_a_passkey_opens_the_staffs_pages(enrolled, sign_in, owner) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    browser = sign_in(None)
    sign_in_with(browser, enrolled[1])
    assert browser.get("/staff/").status_code == 200


def test_an_account_has_so_many_and_no_more(enrolled, owner, monkeypatch) -> None:
    monkeypatch.setattr("onlooker.console.accounts.passkeys.PASSKEYS_PER_ACCOUNT", 3)
    browser, _ = enrolled
    for number in (2, 3, 4):
        confirm_identity(browser)
        cache.clear()
        add_passkey(browser, name=f"Key {number}")
    assert owner.authenticator_set.filter(type="webauthn").count() == 3


def test_requests_for_a_sign_in_are_limited_by_address(sign_in, db, settings, monkeypatch) -> None:
    assert (views.PASSKEY_REQUESTS_FROM_ONE_ADDRESS, settings.MFA_RATE_LIMITS) == (
        "120/m/key",
        {"webauthn_login": "60/m/ip"},
    )
    monkeypatch.setattr(views, "PASSKEY_REQUESTS_FROM_ONE_ADDRESS", "4/m/key")
    settings.MFA_RATE_LIMITS = {"webauthn_login": "3/m/ip"}
    browser = sign_in(None)
    answers = [browser.get(LOGIN, headers={"accept": "application/json"}).status_code for _ in range(5)]
    assert answers == [200] * 4 + [429]
    cache.clear()
    answers = [browser.post(LOGIN, {"credential": "{}"}).status_code for _ in range(4)]
    assert answers == [302] * 3 + [429]
