"""A second factor: enrolled with a code, asked for at every sign-in, recovered with codes that work once."""

import re

from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet

from sign_in_forms import (
    add_second_factor,
    code_of,
    confirm_identity,
    forget_used_codes,
    is_signed_in,
    link_in,
    second_factors,
    sign_in_by_form,
    text_of,
)

pytest_plugins = ["pages"]

ACTIVATE, AUTHENTICATE = "/accounts/2fa/totp/activate/", "/accounts/2fa/authenticate/"
CODES = "/accounts/2fa/recovery-codes/"


def enrol(browser):
    """The secret that the page shows, and the recovery codes."""
    confirm_identity(browser)
    secret = re.search(r'value="([A-Z2-7]{32})"', browser.get(ACTIVATE).content.decode())[1]
    answer = browser.post(ACTIVATE, {"code": code_of(secret)})
    assert answer.headers["location"] == CODES
    page = browser.get(CODES).content.decode()
    return secret, re.findall(r"\b\d{8}\b", re.search(r"<pre.*?</pre>", page, re.DOTALL)[0])


def test_it_is_enrolled_with_a_right_code_only(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    assert browser.get(ACTIVATE).headers["location"].startswith("/accounts/reauthenticate/")
    confirm_identity(browser)
    page = browser.get(ACTIVATE).content.decode()
    assert 'src="data:image/svg+xml;base64,' in page
    assert browser.post(ACTIVATE, {"code": "000000"}).status_code == 200
    assert second_factors(owner) == set()


def test_what_is_stored_of_it_is_sealed(sign_in, mailbox, owner, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        secret, codes = enrol(sign_in(owner))
    assert len(codes) == 10
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert not [one for one in (secret, *codes) if one in stored]
    assert "second factor was set up" in text_of(mailbox.to(owner.email)[0])


def test_signing_in_asks_for_a_code_and_takes_each_once(sign_in, owner) -> None:
    secret = add_second_factor(owner)
    browser, other = sign_in(None), sign_in(None)
    for one in (browser, other):
        assert sign_in_by_form(one, owner.email).headers["location"] == AUTHENTICATE
        assert not is_signed_in(one)
    code = code_of(secret)
    assert browser.post(AUTHENTICATE, {"code": code}).headers["location"] == "/streams/"
    assert is_signed_in(browser)
    assert other.post(AUTHENTICATE, {"code": code}).status_code == 200
    assert not is_signed_in(other)


def test_recovery_codes_are_shown_once_and_work_once(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    _, codes = enrol(browser)
    assert codes[0] not in browser.get(CODES).content.decode()
    assert browser.get(f"{CODES}download/").status_code == 403
    answers = []
    for _ in range(2):
        again = sign_in(None)
        sign_in_by_form(again, owner.email)
        again.post(AUTHENTICATE, {"code": codes[0]})
        answers.append(is_signed_in(again))
    assert answers == [True, False]


def test_a_password_reset_does_not_get_around_it(sign_in, mailbox, owner) -> None:
    add_second_factor(owner)
    browser = sign_in(None)
    browser.post("/accounts/password/reset/", {"email": owner.email})
    form = browser.get(link_in(mailbox.mails[0])).headers["location"]
    browser.post(form, {"password1": "a ladder by the white wall", "password2": "a ladder by the white wall"})
    answer = sign_in_by_form(browser, owner.email, "a ladder by the white wall")
    assert answer.headers["location"] == AUTHENTICATE
    assert not is_signed_in(browser)


def test_it_is_removed_by_who_shows_who_they_are(sign_in, mailbox, owner) -> None:
    add_second_factor(owner)
    browser = sign_in(owner)
    assert "reauthenticate" in browser.post("/accounts/2fa/totp/deactivate/").headers["location"]
    assert second_factors(owner) == {"totp"}
    confirm_identity(browser)
    browser.post("/accounts/2fa/totp/deactivate/")
    assert second_factors(owner) == set()
    assert "was removed" in text_of(mailbox.to(owner.email)[0])


def test_an_account_with_one_can_still_change_its_address(sign_in, mailbox, owner) -> None:
    secret = add_second_factor(owner)
    browser = sign_in(owner)
    forget_used_codes()
    assert browser.post("/accounts/2fa/reauthenticate/", {"code": code_of(secret)}).status_code == 302
    browser.post("/accounts/email/", {"action_add": "", "email": "new@example.org"})
    browser.post(link_in(mailbox.to("new@example.org")[0]))
    owner.refresh_from_db()
    assert owner.email == "new@example.org"


def test_under_another_secret_key_no_code_is_right(sign_in, owner) -> None:
    secret = add_second_factor(owner)
    Authenticator.objects.filter(user=owner).update(
        data={"secret": Fernet(Fernet.generate_key()).encrypt(b"x").decode()}
    )
    browser = sign_in(None)
    sign_in_by_form(browser, owner.email)
    assert browser.post(AUTHENTICATE, {"code": code_of(secret)}).status_code == 200
    assert not is_signed_in(browser)
