"""Requests to the management interface: sent twice, too often, in the wrong form, to the wrong place."""

from datetime import timedelta

import pytest
from django.utils import timezone

from api_programs import ApiProgram, program_of
from onlooker.console.accounts.models import Account
from onlooker.console.api.idempotent_requests import KEPT, delete_past_requests
from onlooker.console.api.models import IdempotentRequest
from onlooker.console.api.rate_limit import KeyLimit
from onlooker.errors import Problem
from onlooker.streams.models import Site, Stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
NEW = {"name": "Window", "preset": "counts"}


@pytest.fixture
def manager(owner: Account) -> ApiProgram:
    return program_of(organisation_of(owner), "manage")


def test_a_request_that_is_sent_again_gets_the_same_answer_and_is_done_once(manager: ApiProgram) -> None:
    first = manager.send("POST", "streams", NEW, Idempotency_Key="one")
    again = manager.send("POST", "streams", NEW, Idempotency_Key="one")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert (first.status_code, Stream.objects.count()) == (201, 1)
    manager.do("POST", "streams", NEW, Idempotency_Key="two")
    assert Stream.objects.count() == 2


def test_the_kept_answer_can_not_be_read_in_the_database(manager: ApiProgram) -> None:
    token = manager.do("POST", "streams", NEW, Idempotency_Key="one")["access_token"]
    row = IdempotentRequest.objects.get()
    assert token not in row.sealed_answer
    assert row.status == 201


def test_the_same_key_with_another_body_or_path_is_a_conflict(manager: ApiProgram) -> None:
    manager.do("POST", "streams", NEW, Idempotency_Key="one")
    assert manager.refusal("POST", "streams", NEW | {"name": "Door"}, Idempotency_Key="one") == (409, "conflict")
    assert manager.refusal("POST", "sites", {"name": "Lyon"}, Idempotency_Key="one") == (409, "conflict")
    assert (Stream.objects.count(), Site.objects.count()) == (1, 0)


def test_another_programs_key_is_another_key(manager: ApiProgram, owner: Account) -> None:
    manager.do("POST", "streams", NEW, Idempotency_Key="one")
    program_of(organisation_of(owner), "manage").do("POST", "streams", NEW, Idempotency_Key="one")
    assert Stream.objects.count() == 2


def test_a_request_whose_first_is_in_progress_is_told_to_wait(manager: ApiProgram) -> None:
    manager.do("POST", "streams", NEW, Idempotency_Key="one")
    IdempotentRequest.objects.update(status=None)
    answer = manager.send("POST", "streams", NEW, Idempotency_Key="one")
    assert (answer.status_code, answer["Retry-After"]) == (409, "2")
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    manager.do("POST", "streams", NEW, Idempotency_Key="one")  # the one who had it is gone
    assert Stream.objects.count() == 2


def test_a_refusal_is_not_kept(manager: ApiProgram) -> None:
    wrong = NEW | {"site": 4711}
    assert manager.refusal("POST", "streams", wrong, Idempotency_Key="one") == (400, "bad_request")
    assert not IdempotentRequest.objects.exists()
    manager.do("POST", "streams", NEW, Idempotency_Key="one")


def test_answers_are_kept_for_a_day(manager: ApiProgram) -> None:
    manager.do("POST", "streams", NEW, Idempotency_Key="one")
    assert delete_past_requests() == 0
    assert delete_past_requests(timezone.now() + KEPT + timedelta(seconds=1)) == 1


@pytest.mark.parametrize("key", ["x" * 256, "é"])
def test_an_idempotency_key_is_short_and_plain(manager: ApiProgram, key: str) -> None:
    assert manager.refusal("POST", "streams", NEW, Idempotency_Key=key) == (400, "bad_request")


def test_bodies_are_json(manager: ApiProgram) -> None:
    assert manager.refusal("POST", "streams", "not JSON") == (400, "bad_request")
    assert manager.refusal("POST", "streams", "[" * 100_000) == (400, "bad_request")
    assert manager.refusal("POST", "streams", NEW, Content_Encoding="gzip") == (415, "unsupported_media_type")


def test_other_methods_and_paths_are_problems(manager: ApiProgram) -> None:
    answer = manager.send("PUT", "streams", NEW)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, POST, HEAD")
    assert manager.refusal("GET", "nothing/here") == (404, "not_found")
    assert manager.refusal("GET", "streams/") == (404, "not_found")
    assert manager.refusal("GET", "streams/a%0Ab/access-token") == (404, "not_found")
    assert manager.refusal("GET", f"sites/{2**80}") == (404, "not_found")
    assert manager.send("HEAD", "streams").status_code == 200


def test_a_key_has_a_minutes_requests_and_others_are_not_affected() -> None:
    limit = KeyLimit(per_minute=60)
    for _ in range(60):
        limit.take(1)
    with pytest.raises(Problem) as refusal:
        limit.take(1)
    assert (refusal.value.status, refusal.value.headers["Retry-After"]) == (429, "1")
    limit.take(2)
