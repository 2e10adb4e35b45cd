"""How often wrong credentials may be tried, by whom, and who is not kept out by others."""

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F

from onlooker.console.tokens import rate_limit
from onlooker.console.tokens.models import Failure
from onlooker.console.tokens.rate_limit import delete_old_failures, network_of
from token_requests import Camera, ask

pytest_plugins = ["pages", "cameras"]


def fail(camera: Camera, *, username: str = "owner@example.org", address: str = "203.0.113.7") -> int:
    return ask(camera.body(username, access_token="wrong"), address=address).status_code


def let_pass(seconds: float) -> None:
    Failure.objects.update(at=F("at") - timedelta(seconds=seconds))


def test_the_eleventh_failure_in_a_minute_is_refused_with_the_time_to_wait(camera: Camera) -> None:
    assert [fail(camera) for _ in range(12)] == [401] * 10 + [429] * 2
    answer = ask(camera.body(access_token="wrong"))
    assert answer.json()["code"] == "rate_limited"
    assert 50 <= int(answer["Retry-After"]) <= 60


def test_a_right_try_is_not_looked_at_while_its_own_pair_is_refused(camera: Camera) -> None:
    for _ in range(10):
        fail(camera)
    assert ask(camera.body()).status_code == 429
    assert ask(camera.body("OWNER@example.org")).status_code == 429
    let_pass(60)
    assert ask(camera.body()).status_code == 200


def test_the_minute_slides(camera: Camera) -> None:
    for _ in range(5):
        fail(camera)
    let_pass(40)
    assert [fail(camera) for _ in range(6)] == [401] * 5 + [429]
    let_pass(25)
    assert [fail(camera) for _ in range(6)] == [401] * 5 + [429]


def test_the_owner_gets_in_from_another_address_while_one_is_refused(camera: Camera) -> None:
    for _ in range(11):
        fail(camera)
    assert ask(camera.body(), address="203.0.113.8").status_code == 200


def test_right_tries_are_never_counted(camera: Camera) -> None:
    assert {ask(camera.body()).status_code for _ in range(15)} == {200}
    assert not Failure.objects.exists()


def test_an_unknown_username_is_refused_like_a_known_one(camera: Camera) -> None:
    known = [fail(camera) for _ in range(12)]
    assert [fail(camera, username="nobody@example.org") for _ in range(12)] == known


def test_addresses_of_one_ipv6_network_count_together(camera: Camera) -> None:
    statuses = [fail(camera, address=f"2001:db8:1:2::{number:x}") for number in range(1, 12)]
    assert statuses == [401] * 10 + [429]
    assert fail(camera, address="2001:db8:1:3::1") == 401


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("unknown", "::"),
        ("", "::"),
    ],
)
def test_what_counts_as_one_address(address: str, network: str) -> None:
    assert network_of(address) == network


def test_what_counts_no_more_is_forgotten(camera: Camera) -> None:
    fail(camera)
    let_pass(61)
    fail(camera)
    delete_old_failures()
    assert Failure.objects.count() == 1


def test_a_hundred_failures_of_one_address_refuse_wrong_tries_and_no_right_one(camera: Camera, monkeypatch) -> None:
    assert rate_limit.LIMIT_PER_ADDRESS == 100
    monkeypatch.setattr(rate_limit, "LIMIT_PER_ADDRESS", 12)
    statuses = [fail(camera, username=f"user{number}@example.org") for number in range(14)]
    assert statuses == [401] * 12 + [429] * 2
    assert ask(camera.body()).status_code == 200
    assert ask(camera.body("nobody@example.org")).status_code == 429
    assert Failure.objects.count() == 12


@pytest.mark.django_db(transaction=True)
def test_many_at_once_are_not_looked_at_more_often(camera: Camera) -> None:
    statuses: Counter[int] = Counter()
    start = threading.Barrier(8)

    def attack() -> None:
        start.wait()
        for _ in range(5):
            statuses[fail(camera)] += 1
        connection.close()

    threads = [threading.Thread(target=attack) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {401: 10, 429: 30}
    assert Failure.objects.count() == 10
