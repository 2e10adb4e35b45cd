"""The owner's pages of documents: what is entered once, what is missing, the code on a notice, and what is shown."""

import base64
import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.notices.conformity import read_sheets
from onlooker.console.notices.forms import DetailsForm
from onlooker.console.notices.models import NoticeDetails
from onlooker.console.notices.public_address import draw_code
from onlooker.console.notices.sentences import say
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
TOLD = {
    "controller": "Corner Shop Ltd",
    "address": "1 High Street, Dublin",
    "contact": "privacy@example.org",
    "purpose_en": "To find out how many people notice the window.",
    "legal_basis": "interests",
    "place": "Shop window",
}


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def url_of(stream: Stream, page: str = "") -> str:
    return f"/streams/{stream.client_id}/notices/{page}"


def page_of(browser: Client, stream: Stream, page: str = "") -> str:
    answer = browser.get(url_of(stream, page))
    assert answer.status_code == 200
    return answer.content.decode()


def test_what_is_missing_is_said_and_has_blanks(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    said = "Not entered yet: Controller, Address, Contact, Purpose (in English), Legal basis."
    assert said in page_of(browser, stream)
    sign = page_of(browser, stream, "sign/")
    assert sign.count('class="blank"') == 5
    assert "This notice has blanks to fill in." in sign
    assert browser.post(url_of(stream, "details/"), TOLD).status_code == 302
    assert "Not entered yet" not in page_of(browser, stream)
    sign = page_of(browser, stream, "sign/")
    assert 'class="blank"' not in sign
    for text in ("Corner Shop Ltd", "1 High Street, Dublin", "privacy@example.org", "notice the window", "Shop window"):
        assert text in sign
    french = page_of(browser, stream, "sign/?language=fr")
    assert french.count('class="blank"') == 1, "the purpose was not entered in French"


def test_the_purpose_is_missing_in_the_readers_language(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    browser.post(url_of(stream, "details/"), TOLD)
    for language, is_missing in (("en", False), ("es", True)):
        answer = browser.get(url_of(stream), headers={"Accept-Language": language})
        assert bool(answer.context["missing"]) == is_missing, language


def test_details_are_entered_once_and_offered_for_the_next_stream(
    sign_in: SignIn, owner: Account, stranger: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    browser.post(url_of(stream, "details/"), TOLD)
    other = create_stream("Back door", owner=owner, kind="developer").stream
    foreign = create_stream("Theirs", owner=stranger, kind="developer").stream
    form = page_of(browser, other, "details/")
    assert 'value="Corner Shop Ltd"' in form
    assert "Shop window" not in form, "another camera is at another place"
    assert "Corner Shop" not in page_of(sign_in(stranger), foreign, "details/")
    assert not NoticeDetails.objects.filter(stream=other).exists(), "nothing is saved unread"


@pytest.mark.parametrize(
    "name", ["controller", "address", "contact", "officer", "recipients", "purpose_de", "purpose_es", "place"]
)
def test_what_is_too_long_is_refused(sign_in: SignIn, owner: Account, stream: Stream, name: str) -> None:
    answer = sign_in(owner).post(url_of(stream, "details/"), TOLD | {name: "x" * 201})
    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert not NoticeDetails.objects.filter(stream=stream).exists()


def test_the_form_asks_for_everything_that_documents_need() -> None:
    entered = {field.name for field in NoticeDetails._meta.get_fields()} - {"stream", "is_public", "public_key"}
    assert set(DetailsForm.base_fields) == entered


def test_a_notice_has_a_code_exactly_while_its_page_is_on(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    assert "data:image/svg" not in page_of(browser, stream, "sign/")
    assert "the <a href" in page_of(browser, stream, "sign/")
    browser.post(url_of(stream, "public/"), {"is_public": "on"})
    key = NoticeDetails.objects.get(stream=stream).public_key
    for size in ("a4", "a6"):
        sign = page_of(browser, stream, f"sign/?size={size}")
        assert f"https://console.example.org/notice/{key}/" in sign
        assert draw_code(f"https://console.example.org/notice/{key}/") in sign
    browser.post(url_of(stream, "public/"), {"is_public": "off"})
    assert "data:image/svg" not in page_of(browser, stream, "sign/")


def test_a_code_is_a_picture_of_its_own() -> None:
    kind, _, data = draw_code("https://console.example.org/notice/x/").partition(",")
    assert kind == "data:image/svg+xml;base64"
    drawn = base64.b64decode(data).decode()
    assert re.search(r"<path [^>]*d=\"M", drawn)
    assert "script" not in drawn


def test_a_notice_is_written_in_the_chosen_language_and_its_page_in_the_readers(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    for language, _ in settings.LANGUAGES:
        answer = browser.get(url_of(stream, f"sign/?language={language}"), headers={"Accept-Language": "fr"})
        page = answer.content.decode()
        assert '<html lang="fr">' in page
        assert f'lang="{language}">\n<header>' in page
        with override(language):
            assert say("title") in page
    with override("fr"):
        assert say("title") in browser.get(url_of(stream, "sign/"), headers={"Accept-Language": "fr"}).content.decode()


def test_papers_of_unknown_sizes_are_not_there(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    assert sign_in(owner).get(url_of(stream, "sign/?size=a5")).status_code == 404
    assert sign_in(owner).get(url_of(stream, "sign/?size=page")).status_code == 404


def test_sheets_are_those_of_the_nets_in_use(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    changes: dict[str, object] = {"reads_age": True, "reads_gender": False, "reads_expression": False}
    set_stream(str(stream.client_id), changes, quota_s=60)
    page = page_of(browser, stream, "models/")
    assert ">age.onnx</h2>" in page
    assert ">gender.onnx</h2>" not in page
    assert ">emotion_fa.onnx</h2>" not in page
    for row in read_sheets()["age"].figures.rows:
        assert row[0] in page
    assert "It was not measured by group of people." in page  # persons
    assert "no declaration of conformity" in page


def test_record_and_draft_say_that_they_are_no_advice(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    assert "not legal advice" in page_of(browser, stream)
    assert "Not legal advice." in page_of(browser, stream, "record/")
    assert "not legal advice" in page_of(browser, stream, "assessment/")


def test_a_viewer_finds_no_way_to_them(sign_in: SignIn, viewer: Account, stream: Stream) -> None:
    share_stream(stream, viewer)
    assert "/notices/" not in sign_in(viewer).get(f"/streams/{stream.client_id}/").content.decode()
