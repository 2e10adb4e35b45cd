"""Signing up: an address is verified first, and nobody learns who has an account."""

import re

import msgspec
import pytest
from allauth.account.models import EmailAddress

from onlooker.console.accounts.adapter import link_console_urls
from onlooker.console.accounts.models import Account
from sign_in_forms import HOST, is_signed_in, link_in, sign_in_by_form, text_of

pytest_plugins = ["pages"]

NEW = "new@example.org"
GOOD = "seven lamps over the quay"


def sign_up(browser, email=NEW, password=GOOD, **values):
    return browser.post("/accounts/signup/", {"email": email, "password1": password}, **values)


def test_who_follows_the_link_is_in(sign_in, mailbox, db) -> None:
    browser = sign_in(None)
    assert sign_up(browser, "New@Example.org").headers["location"] == "/accounts/confirm-email/"
    assert not is_signed_in(browser)
    [mail] = mailbox.to(NEW)
    assert mail["Subject"] == "Onlooker: Confirm your e-mail address"
    page = browser.get(link_in(mail))
    assert not EmailAddress.objects.get(email=NEW).verified, "looking at it, as mail scanners do, confirms nothing"
    answer = browser.post(link_in(mail))
    assert (page.status_code, answer.headers["location"]) == (200, "/streams/")
    assert is_signed_in(browser)
    assert EmailAddress.objects.get(user__email=NEW).verified
    assert b"E-mail address changed" not in browser.get("/accounts/events/").content, "the first one is no change"


def test_a_link_followed_elsewhere_confirms_but_lets_nobody_in(sign_in, mailbox, db) -> None:
    sign_up(sign_in(None))
    other = sign_in(None)
    other.post(link_in(mailbox.mails[0]))
    assert not is_signed_in(other)
    sign_in_by_form(other, NEW, GOOD)
    assert is_signed_in(other)


def test_a_link_works_once(sign_in, mailbox, db) -> None:
    sign_up(sign_in(None))
    link = link_in(mailbox.mails[0])
    sign_in(None).post(link)
    assert b"does not work" in sign_in(None).get(link).content


def test_nobody_gets_in_unverified(sign_in, mailbox, db) -> None:
    sign_up(sign_in(None))
    browser = sign_in(None)
    assert sign_in_by_form(browser, NEW, GOOD).headers["location"] == "/accounts/confirm-email/"
    assert not is_signed_in(browser)


def test_an_address_that_has_an_account_looks_the_same(sign_in, mailbox, owner) -> None:
    new, known = sign_in(None), sign_in(None)
    answers = [sign_up(new), sign_up(known, owner.email)]
    assert len({(answer.status_code, answer.headers["location"]) for answer in answers}) == 1
    pages = [browser.get("/accounts/confirm-email/").content.decode() for browser in (new, known)]
    alike = [re.sub(r"new@|owner@|X-CSRFToken\S+ \S+", "", page) for page in pages]
    assert alike[0] == alike[1]
    [mail] = mailbox.to(owner.email)
    assert "already has an account" in text_of(mail)
    assert link_in(mail) == "/accounts/password/reset/"
    assert Account.objects.count() == 2


@pytest.mark.parametrize(
    "password",
    ["short", "password1234", "Onlooker-2026!", "onlookercamera", NEW, "x7Gu9-" * 43, "123456789012", "abcabcabcabc"],
)
def test_bad_passwords_are_refused(sign_in, db, password) -> None:
    assert sign_up(sign_in(None), password=password).status_code == 200
    assert not Account.objects.exists()


@pytest.mark.parametrize(
    "password", ["ein blaues Fahrrad", "x7Gu9-" * 42, "пароль из слов", "onlooker watches the tide"]
)
def test_good_passwords_need_no_rules(sign_in, mailbox, db, password) -> None:
    assert sign_up(sign_in(None), password=password).status_code == 302


def test_links_do_not_follow_the_host_header(sign_in, mailbox, db) -> None:
    sign_up(
        sign_in(None),
        SERVER_PORT="9999",
        HTTP_HOST="console.example.org:9999",
        HTTP_ORIGIN="https://console.example.org",
    )
    assert link_in(mailbox.mails[0]).startswith("/accounts/confirm-email/")


@pytest.mark.parametrize("changes", [{"signup": "closed"}, {"email_url": ""}])
def test_where_signing_up_is_closed_the_page_says_what_to_do(sign_in, settings, db, changes) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, **changes)
    assert b"onlooker account create" in sign_in(None).get("/accounts/signup/").content
    assert b"onlooker account create" in sign_up(sign_in(None)).content
    assert not Account.objects.exists()


def test_a_mail_server_that_is_away_is_told(sign_in, settings, db) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", 1, False
    answer = sign_up(sign_in(None))
    assert (answer.status_code, b"could not be sent" in answer.content) == (503, True)


def test_mails_link_to_the_console_and_nowhere_else(sign_in, mailbox, db) -> None:
    sign_up(sign_in(None))
    [mail] = mailbox.mails
    html = mail.get_body(("html",)).get_content()
    assert re.findall(r'href="([^"]*)"', html) == [f"{HOST}{link_in(mail)}"]
    with_evil = link_console_urls(f'"http://evil.example/"@x.org <b> {HOST}/accounts/')
    assert re.findall(r'href="([^"]*)"', with_evil) == [f"{HOST}/accounts/"]
    assert "<b>" not in with_evil


def test_a_mail_server_that_was_away_does_not_use_up_the_mails(sign_in, mailbox, settings, db) -> None:
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert sign_up(sign_in(None)).status_code == 503
    settings.EMAIL_PORT = port
    sign_in_by_form(sign_in(None), NEW, GOOD)
    assert [mail["Subject"] for mail in mailbox.to(NEW)] == ["Onlooker: Confirm your e-mail address"]


@pytest.mark.parametrize("domain", ["ü" * 60 + ".org", ".".join(["ü" * 20] * 12) + ".org"])
def test_an_address_that_no_mail_server_can_know_is_refused(sign_in, mailbox, db, domain: str) -> None:
    for path in ("/accounts/signup/", "/accounts/password/reset/"):
        answer = sign_in(None).post(path, {"email": f"a@{domain}", "password1": GOOD})
        assert answer.status_code == 200
        assert "This address can&#x27;t receive e-mail" in answer.content.decode()
    assert not Account.objects.exists()
