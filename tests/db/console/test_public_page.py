"""The public page behind a notice's QR code: off until its owner switches it on, and silent about everything else."""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.test import Client
from django.utils.translation import get_language_from_request, override
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from dashboard_numbers import seen, write
from onlooker.console.accounts.models import Account
from onlooker.console.notices.languages import named_language
from onlooker.console.notices.models import NoticeDetails
from onlooker.console.notices.public_address import switch_public_page
from onlooker.console.notices.public_page import TodayCount, count_today, describe_count
from onlooker.console.notices.sentences import say, say_when_deleted
from onlooker.console.web.address_rate_limit import OPEN_AREAS, PUBLIC_NOTICES, AddressRateLimit
from onlooker.slots import slot_of
from onlooker.streams.administration import create_stream, remove_stream, set_stream
from onlooker.streams.business_hours import WEEKDAYS
from onlooker.streams.models import Stream

pytest_plugins = ["consoles", "pages"]

SignIn = Callable[[Account | None], Client]
LANGUAGES = [code for code, _ in settings.LANGUAGES]
NAME = "Staff entrance, camera of Mrs Example"


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream(NAME, owner=owner, kind="developer", time_zone="Europe/Paris").stream


def path_of(stream: Stream) -> str:
    return f"/notice/{NoticeDetails.objects.get(stream=stream).public_key}/"


def switch(browser: Client, stream: Stream, state: str) -> None:
    assert browser.post(f"/streams/{stream.client_id}/notices/public/", {"is_public": state}).status_code == 302


def words_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_it_is_off_until_the_owner_switches_it_on(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, visitor = sign_in(owner), sign_in(None)
    switch(browser, stream, "on")
    path = path_of(stream)
    assert visitor.get(path).status_code == 200
    switch(browser, stream, "off")
    assert visitor.get(path).status_code == 404
    switch(browser, stream, "on")
    assert path_of(stream) == path, "printed notices name the address"
    assert visitor.get(path).status_code == 200


def test_an_address_that_was_entered_by_a_form_alone_is_off(owner: Account, stream: Stream, sign_in: SignIn) -> None:
    sign_in(owner).post(f"/streams/{stream.client_id}/notices/details/", {"controller": "x", "is_public": "on"})
    details = NoticeDetails.objects.get(stream=stream)
    assert (details.is_public, details.public_key) == (False, None)
    assert sign_in(None).get("/notice/None/").status_code == 404


def test_a_removed_stream_has_none(sign_in: SignIn, stream: Stream) -> None:
    switch_public_page(stream, is_on=True)
    path = path_of(stream)
    remove_stream(stream)
    assert sign_in(None).get(path).status_code == 404


def test_nobody_guesses_an_address(owner: Account) -> None:
    keys = set()
    for number in range(20):
        stream = create_stream(f"Stream {number}", owner=owner, kind="developer").stream
        switch_public_page(stream, is_on=True)
        keys.add(NoticeDetails.objects.get(stream=stream).public_key)
    assert len(keys) == 20
    assert all(len(key or "") == 22 for key in keys)  # 128 bits
    assert not any(key in (f"{stream.client_id}", f"{stream.pk}") for key in keys)


@pytest.mark.django_db(transaction=True)
def test_it_tells_nothing_but_what_is_allowed(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    now = datetime.now(UTC)
    since = slot_of(now) - timedelta(hours=1)
    write(*(seen(stream, since + timedelta(seconds=40 * number), looks=number < 5) for number in range(37)))
    switch_public_page(stream, is_on=True)
    answer = sign_in(None).get(path_of(stream), headers={"Accept-Language": "en"})
    page, words = answer.content.decode(), words_of(answer.content.decode())
    for secret in (NAME, str(stream.client_id), owner.email, "/streams/", "/accounts/", "Sign in", "csrf"):
        assert secret not in page, secret
    counted = re.search(r"(\d+) people have been counted|One person|Nobody has|The first count", words)
    assert counted
    numbers = set(re.findall(r"\d+", words))
    today = now.astimezone(ZoneInfo(stream.time_zone))
    articles = {"50", "3", "21", "11", "6", "1", "2024", "1689"}
    allowed = articles | {"365", str(today.day), str(today.year), *re.findall(r"\d+", counted[0])}
    clock = set(re.findall(r"\d+", " ".join(re.findall(r"\d\d:\d\d", words))))
    assert numbers - allowed - clock == set()
    assert not answer.cookies
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.django_db(transaction=True)
def test_it_counts_the_people_of_today_in_whole_slots(stream: Stream) -> None:
    zone = ZoneInfo(stream.time_zone)
    now = datetime(2026, 11, 17, 14, 22, tzinfo=UTC)
    midnight = datetime(2026, 11, 17, 0, 0, tzinfo=zone).astimezone(UTC)
    moments = [
        midnight - timedelta(minutes=5),  # yesterday
        midnight,
        midnight + timedelta(hours=3),
        now - timedelta(minutes=8),  # in the last whole slot
        now - timedelta(minutes=5),  # in the running one
    ]
    write(*(seen(stream, at) for at in moments))
    count = count_today(HttpRequest(), stream, now=now)
    assert count == TodayCount(datetime(2026, 11, 17, 15, 15, tzinfo=zone), 3)
    early = count_today(HttpRequest(), stream, now=midnight + timedelta(minutes=3))
    assert early == TodayCount(datetime(2026, 11, 17, 0, 15, tzinfo=zone), None)


def test_a_count_is_a_whole_sentence() -> None:
    at = datetime(2026, 11, 17, 15, 15, tzinfo=UTC)
    sentences = [describe_count(TodayCount(at, people)) for people in (None, 0, 1, 1234)]
    assert sentences == [
        "The first count of the day is shown from 15:15 on.",
        "Nobody has been counted between midnight and 15:15.",
        "One person has been counted between midnight and 15:15.",
        "1,234 people have been counted between midnight and 15:15.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_speaks_the_readers_language(sign_in: SignIn, stream: Stream, language: str) -> None:
    switch_public_page(stream, is_on=True)
    answer = sign_in(None).get(path_of(stream), headers={"Accept-Language": f"it, {language};q=0.9"})
    page = answer.content.decode()
    assert f'<html lang="{language}">' in page
    assert (answer.headers["Content-Language"], answer.headers["Vary"]) == (language, "Accept-Language")
    assert title_in(language) in page
    for other in LANGUAGES:
        assert f'href="?language={other}"' in page
        linked = sign_in(None).get(path_of(stream), {"language": other})
        assert linked.headers["Content-Language"] == other
        assert title_in(other) in linked.content.decode()


def title_in(language: str) -> str:
    with override(language):
        return say("page_title")


def test_the_language_of_a_signed_in_account_changes_nothing(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    switch_public_page(stream, is_on=True)
    Account.objects.filter(pk=owner.pk).update(language="de")
    answer = sign_in(owner).get(path_of(stream), headers={"Accept-Language": "es"})
    assert answer.headers["Content-Language"] == "es"


@pytest.mark.parametrize(
    ("asked", "accepted", "language"),
    [
        ("", "", "en-gb"),
        ("", "en", "en-gb"),
        ("", "fr-CH, fr;q=0.9, en;q=0.8", "fr"),
        ("", "it, de;q=0.5, en;q=0.4", "de"),
        ("", "es-MX", "es"),
        ("", "it", "en-gb"),
        ("de", "fr", "de"),
        ("DE-at", "fr", "de"),
        ("en", "fr", "en-gb"),
        ("xx", "fr", "fr"),
        ("x" * 5000, "", "en-gb"),
        ("", "x" * 5000, "en-gb"),
        ("\0", ";;;q=,,", "en-gb"),
    ],
)
def test_readers_get_the_language_that_they_understand(asked: str, accepted: str, language: str) -> None:
    request = HttpRequest()
    request.GET = QueryDict(mutable=True)
    request.GET["language"] = asked
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    assert named_language(request, otherwise=get_language_from_request(request)) == language


def test_it_says_what_is_computed_now(sign_in: SignIn, stream: Stream) -> None:
    switch_public_page(stream, is_on=True)
    visitor, path = sign_in(None), path_of(stream)

    def says(sentence: str) -> bool:
        page = visitor.get(path, headers={"Accept-Language": "en"}).content.decode()
        return sentence in page.replace("&#x27;", "'")

    assert says(say("computes_age"))
    assert not says(say("computes_expression"))
    assert says(say("state_on"))
    another_day = WEEKDAYS[(datetime.now(ZoneInfo(stream.time_zone)).weekday() + 3) % 7]
    set_stream(str(stream.client_id), {"hours": f"{another_day} 09:00-10:00"}, quota_s=60)
    assert says(say("state_closed"))
    changes: dict[str, object] = {"reads_age": False, "reads_expression": True, "retention_days": 7, "enabled": False}
    set_stream(str(stream.client_id), changes, quota_s=60)
    assert not says(say("computes_age"))
    assert says(say("computes_expression"))
    assert says(say_when_deleted(7))
    assert says(say("state_off"))


def test_what_an_owner_enters_is_shown_as_text(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    switch_public_page(stream, is_on=True)
    told = {"controller": "<script>alert(1)</script> & Sons", "purpose_en": "{days} {0} %s"}
    assert sign_in(owner).post(f"/streams/{stream.client_id}/notices/details/", told).status_code == 302
    page = sign_in(None).get(path_of(stream)).content.decode()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; Sons" in page
    assert "{days} {0} %s" in page
    assert "not stated yet" in page  # the rest


def test_only_reading_is_allowed(sign_in: SignIn, stream: Stream) -> None:
    switch_public_page(stream, is_on=True)
    for method in ("post", "put", "delete", "patch"):
        assert getattr(sign_in(None), method)(path_of(stream)).status_code == 405


def statuses(limit: AddressRateLimit, address: str, count: int) -> list[int]:
    found: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def run() -> None:
        scope: Scope = {"type": "http", "method": "GET", "path": "/notice/x/", "headers": [], "client": (address, 1)}
        for _ in range(count):
            await limit(scope, None, send)  # type: ignore[arg-type]

    asyncio.run(run())
    return found


def test_an_address_that_opens_too_many_is_refused() -> None:
    limit = AddressRateLimit(PlainTextResponse("ok"), PUBLIC_NOTICES)
    assert PUBLIC_NOTICES in OPEN_AREAS  # test_agent_rate_limit shows that the console limits these
    assert set(statuses(limit, "192.0.2.1", PUBLIC_NOTICES.burst)) == {200}
    assert 429 in statuses(limit, "192.0.2.1", 20)
    assert statuses(limit, "192.0.2.2", 1) == [200]
