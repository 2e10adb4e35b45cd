"""In which language pages, mails and scripts are: the account's, else the browser's, else English."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from allauth.account.adapter import get_adapter
from allauth.core.context import request_context
from django.test import Client, RequestFactory
from django.utils import translation

from console_people import PASSWORD
from onlooker.console.accounts.models import Account
from onlooker.console.web import mail
from sign_in_forms import confirm_identity
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]

WORDS = {
    "fr": {"Your account": "Le compte", "Saved.": "Voila.", "Set a new password": "Nouveau mot de passe"},
    "de": {"Your account": "Das Konto", "Saved.": "Gemerkt.", "Set a new password": "Neues Passwort"},
}
"""What the catalogues of these tests say, whatever the product's own do."""
SCRIPT_WORDS = {"fr": {"Copied": "Voila"}, "de": {"Copied": "Kopiert!"}}
FRENCH, GERMAN = ({"Accept-Language": f"{language},en;q=0.5"} for language in ("fr-CA", "de"))
SETTING = "/accounts/language/"


def compiled(words: dict[str, str]) -> bytes:
    """A catalogue as GNU gettext compiles it."""
    entries = sorted(({"": "Content-Type: text/plain; charset=UTF-8\n"} | words).items())
    texts = [[text.encode() for text in column] for column in zip(*entries, strict=True)]
    at, tables, pool = 28 + 16 * len(entries), b"", b""
    for text in (text for column in texts for text in column):
        tables += struct.pack("<II", len(text), at + len(pool))
        pool += text + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0) + tables + pool


@pytest.fixture(autouse=True)
def catalogues(settings: Any, tmp_path: Path) -> Iterator[None]:
    for domain, languages in (("django", WORDS), ("djangojs", SCRIPT_WORDS)):
        for language, words in languages.items():
            folder = tmp_path / language / "LC_MESSAGES"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{domain}.mo").write_bytes(compiled(words))
    settings.LOCALE_PATHS = [str(tmp_path)]
    yield
    translation.deactivate()


def choose(browser: Client, language: str, **values: Any) -> Any:
    return browser.post(SETTING, {"language": language}, follow=True, **values)


@pytest.fixture
def french(owner: Account) -> Account:
    owner.language = "fr"
    owner.save(update_fields=["language"])
    return owner


def heading(page: Any) -> str:
    return str(page.content.decode().partition("<h1>")[2].partition("</h1>")[0])


@pytest.mark.parametrize(
    ("asked", "said", "code"),
    [("fr", "Le compte", "fr"), ("de-AT,fr;q=0.5", "Das Konto", "de"), ("pt, nl;q=0.5", "Your account", "en-gb")],
)
def test_a_page_is_in_the_browsers_language(
    sign_in: Callable[..., Client], owner: Account, asked: str, said: str, code: str
) -> None:
    page = sign_in(owner).get("/accounts/", headers={"Accept-Language": asked})
    assert heading(page) == said
    assert f'<html lang="{code}">' in page.content.decode()
    assert page["Content-Language"] == code


def test_the_accounts_choice_wins(sign_in: Callable[..., Client], french: Account) -> None:
    page = sign_in(french).get("/accounts/", headers=GERMAN)
    assert heading(page) == "Le compte"
    assert '<html lang="fr">' in page.content.decode()


def test_an_error_page_is_in_the_language_it_names(sign_in: Callable[..., Client], db: None) -> None:
    page = sign_in(None).get("/nowhere/", headers=FRENCH)
    assert page.status_code == 404
    assert '<html lang="fr">' in page.content.decode()


def test_a_language_is_chosen_on_the_account_page(sign_in: Callable[..., Client], owner: Account) -> None:
    browser = sign_in(owner)
    page = browser.get("/accounts/").content.decode()
    options = ["As in my browser", "English", "Français", "Deutsch", "Español"]
    assert [page.find(f">{name}</option>") > 0 for name in options] == [True] * 5
    chosen = choose(browser, "de")
    assert chosen.redirect_chain == [("/accounts/", 302)]
    assert heading(chosen) == "Das Konto"
    assert "Gemerkt." in chosen.content.decode()
    assert '<option value="de" selected>' in chosen.content.decode()
    assert Account.objects.get(pk=owner.pk).language == "de"


def test_the_browsers_language_can_be_chosen_again(sign_in: Callable[..., Client], french: Account) -> None:
    answer = choose(sign_in(french), "", headers=GERMAN)
    assert heading(answer) == "Das Konto"
    assert "Gemerkt." in answer.content.decode()
    assert Account.objects.get(pk=french.pk).language == ""


@pytest.mark.parametrize("language", ["it", "fr-ca", "FR", "../fr", "en", "fr\n", "x" * 300])
def test_an_unknown_language_is_refused(sign_in: Callable[..., Client], french: Account, language: str) -> None:
    answer = choose(sign_in(french), language)
    assert answer.redirect_chain == []
    assert 'class="errorlist"' in answer.content.decode()
    assert "Voila." not in answer.content.decode()
    assert Account.objects.get(pk=french.pk).language == "fr"


def test_a_link_chooses_no_language(sign_in: Callable[..., Client], french: Account) -> None:
    assert sign_in(french).get(SETTING, {"language": "de"}).status_code == 405
    assert sign_in(None).post(SETTING, {"language": "de"})["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("headers", [GERMAN, {}])
def test_a_mail_is_in_the_accounts_language(
    sign_in: Callable[..., Client], mailbox: Mailbox, french: Account, headers: dict[str, str]
) -> None:
    """Whoever asks for it."""
    sign_in(None).post("/accounts/password/reset/", {"email": french.email}, headers=headers)
    [message] = mailbox.to(french.email)
    assert message["Subject"] == "Onlooker: Nouveau mot de passe"
    html = message.get_body(("html",)).get_content()
    assert '<html lang="fr">' in html


@pytest.mark.parametrize(
    ("headers", "subject"), [(GERMAN, "Onlooker: Neues Passwort"), ({}, "Onlooker: Set a new password")]
)
def test_without_one_it_is_in_the_language_of_who_asked(
    sign_in: Callable[..., Client], mailbox: Mailbox, owner: Account, headers: dict[str, str], subject: str
) -> None:
    sign_in(None).post("/accounts/password/reset/", {"email": owner.email}, headers=headers)
    assert [message["Subject"] for message in mailbox.to(owner.email)] == [subject]


def test_a_warning_is_never_in_the_language_of_somebody_else(
    mailbox: Mailbox, owner: Account, rf: RequestFactory
) -> None:
    """Its cause may be a thief with a browser in another language; an own page shows which language is read."""
    thiefs = rf.get("/")
    own = rf.get("/")
    own.user = owner
    for request in (thiefs, own):
        with request_context(request), translation.override("fr"):
            get_adapter().send_notification_mail("mfa/email/wrong_codes", owner)
    languages = [message.get_body(("html",)).get_content() for message in mailbox.to(owner.email)]
    assert ['lang="en-gb"' in languages[0], 'lang="fr"' in languages[1]] == [True, True]


def test_a_changed_password_is_told_in_the_accounts_language(
    sign_in: Callable[..., Client], mailbox: Mailbox, french: Account
) -> None:
    browser = sign_in(french)
    confirm_identity(browser)
    new = "seven lamps over the quay"
    values = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert browser.post("/accounts/password/change/", values, headers=GERMAN).status_code == 302
    [message] = mailbox.to(french.email)
    assert 'lang="fr"' in message.get_body(("html",)).get_content()


@pytest.mark.parametrize(("headers", "language"), [(FRENCH, "fr"), ({"Accept-Language": "en-US"}, ""), ({}, "")])
def test_who_signs_up_in_a_language_goes_on_in_it(
    sign_in: Callable[..., Client], mailbox: Mailbox, db: None, headers: dict[str, str], language: str
) -> None:
    values = {"email": "new@example.org", "password1": "seven lamps over the quay"}
    assert sign_in(None).post("/accounts/signup/", values, headers=headers).status_code == 302
    assert Account.objects.get(email="new@example.org").language == language
    [message] = mailbox.to("new@example.org")
    assert f'lang="{language or "en-gb"}"' in message.get_body(("html",)).get_content()


@pytest.mark.parametrize(("told", "expected"), [("", "fr"), ("de", "de")])
def test_other_mails_are_in_the_recipients_language_unless_told_another(
    french: Account, monkeypatch: pytest.MonkeyPatch, told: str, expected: str
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(mail, "render_to_string", lambda *_: translation.get_language())
    monkeypatch.setattr(mail, "deliver_mail", lambda message, kind: sent.append(message))
    mail.send_mail("any/mail", to=french.email.upper(), context={}, language=told)
    assert (sent[0].subject, sent[0].body.strip(), sent[0].alternatives[0][0]) == (expected,) * 3
    assert translation.get_language() == "en-gb"


@pytest.mark.parametrize("path", ["/api/v1/streams/", "/api/v1/nothing/", "/api/v1/openapi.json", "/livez"])
def test_programs_read_english_whatever_they_ask_for(
    sign_in: Callable[..., Client], french: Account, path: str
) -> None:
    answers = [
        sign_in(None).get(path),
        sign_in(None).get(path, headers=FRENCH),
        sign_in(french).get(path, headers=FRENCH),
    ]
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1


@pytest.mark.parametrize(("language", "said"), [("fr", "Voila"), ("de", "Kopiert!")])
def test_scripts_are_served_their_sentences(
    sign_in: Callable[..., Client], owner: Account, language: str, said: str
) -> None:
    owner.language = language
    owner.save(update_fields=["language"])
    browser = sign_in(owner)
    page = browser.get("/accounts/", headers=FRENCH).content.decode()
    address = page.partition('<script src="/words/')[2].partition('"')[0]
    assert address.startswith(f"{language}.js?")
    words = browser.get(f"/words/{address}", headers=FRENCH)
    assert words["Content-Type"].startswith("text/javascript")
    assert f'"Copied": "{said}"' in words.content.decode()
    assert "django.gettext" in words.content.decode()


def test_scripts_sentences_are_in_the_language_of_their_address_whoever_asks(
    sign_in: Callable[..., Client], french: Account
) -> None:
    """Caches between keep them: what one reader asks for, others get."""
    answers = [
        sign_in(None).get("/words/de.js"),
        sign_in(None).get("/words/de.js", headers=FRENCH),
        sign_in(french).get("/words/de.js", headers=FRENCH),
    ]
    assert {answer["Cache-Control"] for answer in answers} == {"max-age=86400, public"}
    assert {answer["Content-Language"] for answer in answers} == {"de"}
    assert len({answer.content for answer in answers}) == 1
    assert "Kopiert!" in answers[0].content.decode()


@pytest.mark.parametrize("language", ["it", "DE", "de-at", "x" * 300])
def test_there_are_no_sentences_in_other_languages(sign_in: Callable[..., Client], db: None, language: str) -> None:
    assert sign_in(None).get(f"/words/{language}.js").status_code == 404
