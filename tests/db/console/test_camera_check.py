"""Check my camera: what a person counted is kept beside the product's own count, with the error and its interval."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from dashboard_numbers import seen, write
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.checks.comparison import describe_error
from onlooker.console.checks.count_error import CountError, judge_count
from onlooker.console.checks.models import CameraCheck
from onlooker.console.checks.views import CHECKS_KEPT
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def count(browser: Client, stream: Stream, *, passed: int, stopped: int, ago: timedelta, minutes: int = 10) -> None:
    """A whole check that began some time ago."""
    url = f"/streams/{stream.client_id}/check/"
    check = CameraCheck.objects.get(pk=browser.post(url + "begin/").json()["check"])
    CameraCheck.objects.filter(pk=check.pk).update(began_at=check.began_at - ago)
    told = {"passed": passed, "stopped": stopped, "lasted_s": 60.0 * minutes}
    assert browser.post(f"{url}{check.pk}/end/", told).status_code == 200


def page_of(browser: Client, stream: Stream) -> str:
    return browser.get(f"/streams/{stream.client_id}/check/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_both_counts_are_shown_and_kept(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, now = sign_in(owner), datetime.now(UTC)
    within = [now - timedelta(minutes=30) + timedelta(seconds=10 * number) for number in range(47)]
    around = [now - timedelta(minutes=31), now - timedelta(minutes=19)]
    write(*(seen(stream, at, looks=number < 9) for number, at in enumerate([*within, *around])))
    count(browser, stream, passed=50, stopped=10, ago=timedelta(minutes=30))
    page = page_of(browser, stream)
    assert "47 of 50 counted" in page
    assert "9 of 10 counted" in page
    check = CameraCheck.objects.get(stream=stream)
    assert (check.passing_by, check.interested) == (47, 9)
    day = check.began_at
    shown = browser.get(f"/streams/{stream.client_id}/dashboard/").content.decode()
    assert f"Checked {day.day} {day:%b}: 47 of 50 counted" in shown


def test_the_count_is_awaited_until_the_last_visits_are_written(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    count(browser, stream, passed=3, stopped=0, ago=timedelta(minutes=11))
    assert "You counted 3 and 0." in page_of(browser, stream)
    assert CameraCheck.objects.get(stream=stream).passing_by is None
    assert "Checked" not in browser.get(f"/streams/{stream.client_id}/dashboard/").content.decode()


def test_a_count_that_is_sent_twice_counts_once(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, url = sign_in(owner), f"/streams/{stream.client_id}/check/"
    check_id = browser.post(url + "begin/").json()["check"]
    for passed in (7, 8):
        told = {"passed": passed, "stopped": 0, "lasted_s": 60.0}
        assert browser.post(f"{url}{check_id}/end/", told).status_code == 200
    assert CameraCheck.objects.get(stream=stream).passed == 7


@pytest.mark.parametrize(
    "lie", [{"passed": -1}, {"passed": 10**9}, {"lasted_s": 1e9}, {"lasted_s": "nan"}, {"stopped": ""}]
)
def test_what_can_not_be_true_is_refused(
    sign_in: SignIn, owner: Account, stream: Stream, lie: dict[str, object]
) -> None:
    browser, url = sign_in(owner), f"/streams/{stream.client_id}/check/"
    check_id = browser.post(url + "begin/").json()["check"]
    told = {"passed": 1, "stopped": 0, "lasted_s": 60.0} | lie
    assert browser.post(f"{url}{check_id}/end/", told).status_code == 400
    assert CameraCheck.objects.get(stream=stream).ended_at is None


def test_another_streams_check_is_not_there(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    other = create_stream("Back door", owner=owner, kind="developer").stream
    browser = sign_in(owner)
    check_id = browser.post(f"/streams/{other.client_id}/check/begin/").json()["check"]
    told = {"passed": 1, "stopped": 0, "lasted_s": 60.0}
    assert browser.post(f"/streams/{stream.client_id}/check/{check_id}/end/", told).status_code == 404


def test_only_so_many_are_kept(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    now = datetime.now(UTC)
    old = (CameraCheck(stream=stream, began_at=now - timedelta(days=1, minutes=number)) for number in range(300))
    CameraCheck.objects.bulk_create(old)
    sign_in(owner).post(f"/streams/{stream.client_id}/check/begin/")
    assert CameraCheck.objects.filter(stream=stream).count() <= CHECKS_KEPT


def test_a_viewer_sees_the_result_on_the_dashboard_and_no_way_to_the_page(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    share_stream(stream, viewer)
    count(sign_in(owner), stream, passed=4, stopped=0, ago=timedelta(minutes=30))
    page_of(sign_in(owner), stream)
    shown = sign_in(viewer).get(f"/streams/{stream.client_id}/dashboard/").content.decode()
    assert ": 0 of 4 counted" in shown
    assert "/check/" not in shown


def test_the_interval_holds_the_true_error() -> None:
    chance, held = random.Random(19), 0
    for _ in range(1000):
        truth, missed = 120, 0.08
        counted = truth - sum(chance.random() < missed for _ in range(truth))
        error = judge_count(counted, truth)
        assert error
        held += missed in error.size
    assert held >= 940


@pytest.mark.parametrize(
    ("counted", "truth", "words"),
    [
        (47, 50, "6 % too few (2 to 16 %)"),
        (53, 50, "6 % too many (2 to 18 %)"),
        (0, 3, "100 % too few (44 to 100 %)"),
        (0, 100_000, "100 % too few (100 to 100 %)"),
        (120, 50, "140 % too many (98 to 201 %)"),
        (50, 50, "exact (up to 7 % either way)"),
    ],
)
def test_errors_in_words(counted: int, truth: int, words: str) -> None:
    error = judge_count(counted, truth)
    assert isinstance(error, CountError)
    assert describe_error(error) == words


def test_nobody_is_no_error() -> None:
    assert judge_count(3, 0) is None
