"""A new Password, and how long the old ones work on."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.database import load_queries
from onlooker.streams.administration import LIVE_TOKENS_AT_MOST, NewStream, create_stream, rotate_access_token
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
HOUR = timedelta(hours=1)


@pytest.fixture
def made(owner: Account) -> NewStream:
    return create_stream("Front door", owner=owner, kind="developer", time_zone="Europe/Paris")


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    return sign_in(owner)


def rotate(browser: Client, made: NewStream, **given: str) -> str:
    """The new Password."""
    page = browser.post(f"/streams/{made.stream.client_id}/rotate/", given).content.decode()
    found = re.search(r'id="password">([^<]+)<', page)
    assert found, page
    return found[1]


def is_live(made: NewStream, access_token: str) -> bool:
    """Whether a gateway would take it, by the gateway's own query."""
    values = {"client_id": made.stream.client_id, "month": "2026-01-01"}
    with connection.cursor() as cursor:
        cursor.execute(load_queries("onlooker.streams")["find_stream"], values)
        columns = [column.name for column in cursor.description or ()]
        row = dict(zip(columns, cursor.fetchone(), strict=True))
    return hash_access_token(access_token) in [bytes(one) for one in row["token_hashes"]]


def end_of(access_token: str) -> datetime | None:
    return AccessToken.objects.get(sha256=hash_access_token(access_token)).expires_at


def is_in(moment: datetime | None, hours: float) -> bool:
    return moment is not None and abs(moment - timezone.now() - hours * HOUR) < timedelta(seconds=30)


def test_without_grace_the_old_password_ends_now(browser: Client, made: NewStream) -> None:
    new = rotate(browser, made, grace="0")
    assert new != made.access_token
    AccessToken.objects.filter(expires_at__isnull=False).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert is_live(made, new)
    assert not is_live(made, made.access_token)


@pytest.mark.parametrize(
    ("given", "hours"),
    [
        ({"grace": "0"}, 0),
        ({"grace": "1"}, 1),
        ({"grace": "4"}, 4),
        ({"grace": "24"}, 24),
        ({"grace": "other", "other_hours": "2.5"}, 2.5),
        ({"grace": "1", "other_hours": "9"}, 1),
    ],
)
def test_the_old_password_works_for_the_grace_time(
    browser: Client, made: NewStream, given: dict[str, str], hours: float
) -> None:
    new = rotate(browser, made, **given)
    assert is_in(end_of(made.access_token), hours)
    assert end_of(new) is None


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"grace": "25"},
        {"grace": "-1"},
        {"grace": "other"},
        {"grace": "other", "other_hours": "24.1"},
        {"grace": "other", "other_hours": "-0.1"},
        {"grace": "other", "other_hours": "nan"},
        {"grace": "other", "other_hours": "inf"},
    ],
)
def test_another_grace_time_is_refused(browser: Client, made: NewStream, given: dict[str, str]) -> None:
    answer = browser.post(f"/streams/{made.stream.client_id}/rotate/", given | {"more": "1"})
    assert "errorlist" in answer.content.decode()
    assert end_of(made.access_token) is None
    assert AccessToken.objects.count() == 1


def test_the_page_shows_the_password_once_and_says_when_the_old_one_ends(browser: Client, made: NewStream) -> None:
    answer = browser.post(f"/streams/{made.stream.client_id}/rotate/", {"grace": "24"})
    page = answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    assert f'data-replace-url="/streams/{made.stream.client_id}/"' in page
    assert "Older Passwords work until" in page
    assert "(Europe/Paris)" in page


def test_a_second_rotation_never_prolongs_the_first(browser: Client, made: NewStream) -> None:
    second = rotate(browser, made, grace="1")
    third = rotate(browser, made, grace="24")
    assert is_in(end_of(made.access_token), 1)
    assert is_in(end_of(second), 24)
    assert end_of(third) is None
    rotate(browser, made, grace="0")
    assert is_in(end_of(made.access_token), 0)
    assert is_in(end_of(third), 0)


def test_a_get_rotates_nothing(browser: Client, made: NewStream) -> None:
    assert browser.get(f"/streams/{made.stream.client_id}/rotate/?grace=0").status_code == 200
    assert AccessToken.objects.count() == 1


def test_passwords_do_not_pile_up(browser: Client, made: NewStream) -> None:
    for _ in range(LIVE_TOKENS_AT_MOST - 1):
        rotate_access_token(made.stream, grace=HOUR)
    answer = browser.post(f"/streams/{made.stream.client_id}/rotate/", {"grace": "1"})
    assert "Passwords still work" in answer.content.decode()
    assert AccessToken.objects.count() == LIVE_TOKENS_AT_MOST
    rotate(browser, made, grace="0")
    new = rotate(browser, made, grace="1")
    assert AccessToken.objects.count() <= 3
    assert is_live(made, new)
