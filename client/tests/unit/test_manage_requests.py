"""The SDK's management requests against a real HTTP server: pages, repeats, idempotency, waiting, hostile answers."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from faulty_server import answering, http, peer, saying, silent, trickling
from management_server import KEY, Asked, ManagementServer, Reply, in_turn, management_server, problem

from onlooker_client import (
    BadArgument,
    BadCredentials,
    BadRequest,
    ConfigError,
    Conflict,
    LinkError,
    NotAllowed,
    NotFound,
    NotNow,
    OnlookerError,
)
from onlooker_client.manage import Organisation, Selection

SITE = {"id": 1, "name": "Lyon", "address": "", "time_zone": "UTC", "hours": "", "streams": 0}


@contextmanager
def organisation_of(
    answer: Callable[[Asked], Reply], **options: Any
) -> Iterator[tuple[Organisation, ManagementServer]]:
    with management_server(answer) as server, Organisation(server.url, KEY, **options) as organisation:
        yield organisation, server


def pages_of(count: int, size: int) -> Callable[[Asked], Reply]:
    """Sites, paged by id."""

    def answer(asked: Asked) -> Reply:
        begin = int(asked.query.get("cursor", "0"))
        items = [{**SITE, "id": number} for number in range(begin, min(begin + size, count))]
        following = str(begin + size) if begin + size < count else None
        return Reply({"items": items, "next": following})

    return answer


def test_an_iterator_follows_the_pages_and_asks_for_one_when_it_is_needed() -> None:
    with organisation_of(pages_of(7, 3)) as (organisation, server):
        found = organisation.sites.list(search="y o/n&")
        assert server.asked == []
        assert [next(found).id for _ in range(3)] == [0, 1, 2]
        assert len(server.asked) == 1
        assert [site.id for site in found] == [3, 4, 5, 6]
    assert [asked.query.get("cursor") for asked in server.asked] == [None, "3", "6"]
    assert {(asked.query["search"], asked.query["limit"]) for asked in server.asked} == {("y o/n&", "200")}
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    "said",
    [
        {"items": [SITE], "next": "again"},
        {"items": [], "next": "more"},
        {"items": [SITE], "next": "x" * 5000},
        {"items": {}, "next": None},
        {"items": [SITE], "next": 7},
        {"next": None},
        [SITE],
        {"items": [7], "next": None},
        {"items": [{"id": 1}], "next": None},
        {"items": [{**SITE, "id": "1"}], "next": None},
        {"items": [{**SITE, "id": True}], "next": None},
        {"items": [{**SITE, "name": ["Lyon"]}], "next": None},
        {"items": [{**SITE, "device_settings": "fps"}], "next": None},
    ],
)
def test_a_list_that_is_none_or_has_no_end_is_refused(said: Any) -> None:
    with organisation_of(lambda _: Reply(said)) as (organisation, server):
        with pytest.raises(LinkError):
            list(organisation.sites)
        assert len(server.asked) <= 2


def test_fields_of_a_later_server_are_ignored_and_absent_ones_have_defaults() -> None:
    with organisation_of(lambda _: Reply({"id": 1, "name": "Lyon", "hours": None, "moon": {"a": 1}})) as (
        organisation,
        _,
    ):
        site = organisation.sites.get(1)
    assert (site.id, site.name, site.hours, site.device_settings) == (1, "Lyon", "", {})
    with pytest.raises(AttributeError):
        site.name = "Paris"  # type: ignore[misc]


def test_a_request_whose_answer_is_lost_is_sent_again_with_its_key_and_done_once() -> None:
    done: dict[str, dict[str, Any]] = {}

    def answer(asked: Asked) -> Reply:
        """As the console does it."""
        is_first = asked.idempotency_key not in done
        said = done.setdefault(asked.idempotency_key, {**SITE, "id": len(done) + 1, "name": asked.body["name"]})
        return Reply(said, 201, is_lost=is_first)

    with organisation_of(answer) as (organisation, server):
        assert [organisation.sites.create(name).id for name in ("Lyon", "Paris")] == [1, 2]
        assert organisation.sites.create("Nice", idempotency_key="import-row-3").id == 3
        assert organisation.sites.create("Nice", idempotency_key="import-row-3").id == 3
    assert len(done) == 3
    keys = [asked.idempotency_key for asked in server.asked]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert keys[4:] == ["import-row-3"] * 3


@pytest.mark.parametrize("key", ["a b", "a\r\nX: y", "é", "x" * 256])
def test_an_idempotency_key_that_no_header_can_have_is_refused(key: str) -> None:
    with organisation_of(lambda _: Reply(SITE)) as (organisation, server):
        with pytest.raises(BadArgument, match="idempotency key"):
            organisation.sites.create("Lyon", idempotency_key=key)
        assert server.asked == []


def test_a_request_that_is_still_in_progress_is_waited_for() -> None:
    busy = problem(409, "conflict", "The first request with this key is still in progress.", Retry_After="0")
    with organisation_of(in_turn(busy, busy, Reply(SITE, 201))) as (organisation, server):
        assert organisation.sites.create("Lyon").id == 1
    assert len({asked.idempotency_key for asked in server.asked}) == 1
    assert len(server.asked) == 3


def test_a_limit_of_requests_is_waited_for_as_long_as_it_says() -> None:
    limited = problem(429, "rate_limited", "Too many requests with this key.", Retry_After="1")
    with organisation_of(in_turn(limited, Reply(SITE))) as (organisation, server):
        began = time.monotonic()
        assert organisation.sites.get(1).id == 1
        assert time.monotonic() - began >= 1
    assert len(server.asked) == 2


def test_who_is_to_wait_too_long_is_told_how_long() -> None:
    limited = problem(429, "rate_limited", "Too many requests with this key.", Retry_After="50")
    with organisation_of(lambda _: limited, patience_s=20) as (organisation, server):
        with pytest.raises(NotNow, match="Too many requests with this key") as caught:
            organisation.sites.get(1)
        assert caught.value.retry_after_s == 50
        assert len(server.asked) == 1


def test_a_wait_that_is_longer_than_the_transports_is_still_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("onlooker_client.manage.api_request.time.sleep", waited.append)
    limited = problem(429, "rate_limited", "Too many requests with this key.", Retry_After="50")
    with organisation_of(in_turn(limited, Reply(SITE))) as (organisation, _):
        assert organisation.sites.get(1).id == 1
    assert waited == [50]


def test_a_server_that_fails_once_is_asked_again() -> None:
    with organisation_of(in_turn(Reply(None, 500), Reply(SITE))) as (organisation, server):
        assert organisation.sites.change(1, name="Lyon").name == "Lyon"
    assert [asked.body for asked in server.asked] == [{"name": "Lyon"}] * 2


def test_a_deletion_whose_answer_is_lost_went_well() -> None:
    gone = problem(404, "not_found", "There is no such site.")
    with organisation_of(in_turn(Reply(is_lost=True), gone)) as (organisation, server):
        organisation.sites.delete(1)
        assert [asked.method for asked in server.asked] == ["DELETE"] * 2
        with pytest.raises(NotFound, match="There is no such site"):
            organisation.sites.delete(1)
    with organisation_of(lambda _: Reply(status=204)) as (organisation, server):
        organisation.sites.delete(1)
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad_request", BadRequest),
        (401, "invalid_key", BadCredentials),
        (403, "missing_scope", NotAllowed),
        (403, "forbidden", NotAllowed),
        (404, "not_found", NotFound),
        (409, "conflict", Conflict),
        (413, "too_large", BadRequest),
    ],
)
def test_a_problem_is_an_error_of_its_own_with_the_servers_sentence(
    status: int, code: str, kind: type[OnlookerError]
) -> None:
    with organisation_of(lambda _: problem(status, code, "This is why, and what to do.")) as (organisation, server):
        with pytest.raises(kind, match="This is why, and what to do") as caught:
            organisation.sites.create("Lyon")
        assert getattr(caught.value, "code", "") == code
        assert KEY not in f"{caught.value!r} {organisation!r} {vars(organisation)}"
        assert len(server.asked) == 1


def test_what_is_no_console_is_said_to_be_none() -> None:
    page = Reply(status=404, raw=b"<html>Not found</html>")
    with organisation_of(lambda _: page) as (organisation, _), pytest.raises(ConfigError, match="no management API"):
        organisation.get()
    gateway = problem(401, "bad_credentials", "Send the stream's client_id and access_token.")
    with (
        organisation_of(lambda _: gateway) as (organisation, _),
        pytest.raises(BadCredentials, match="and not the gateway"),
    ):
        organisation.get()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>",
        b"[" * 100_000,
        b'"text"',
        b"null",
        b'{"id": NaN, "name": "x"}',
        b'{"id": 1e999, "name": "x"}',
        b"\xff",
    ],
)
def test_answers_that_are_none_are_refused(raw: bytes) -> None:
    with organisation_of(lambda _: Reply(raw=raw)) as (organisation, _), pytest.raises(LinkError):
        organisation.sites.get(1)


def test_an_answer_is_bounded_in_size_and_time() -> None:
    huge = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    for behaviour in (huge, trickling, silent):
        with peer(behaviour) as server, Organisation(server.url, KEY, timeout_s=1) as organisation:
            began = time.monotonic()
            with pytest.raises(LinkError):
                organisation.get()
            assert time.monotonic() - began < 5


def test_a_key_goes_nowhere_else() -> None:
    moved = http(b"", status="302 Found", headers="Location: https://evil.example/api/v1/organisation\r\n")
    with peer(answering(moved)) as server, Organisation(server.url, KEY) as organisation:
        with pytest.raises(BadRequest, match=r"redirects to https://evil\.example"):
            organisation.get()
        assert len(server.requests) == 1
    with pytest.raises(ConfigError, match="https://"):
        Organisation("http://console.example.org", KEY)


@pytest.mark.parametrize("key", ["onl_short", "hunter2" * 8, f"{KEY}\r\nX: y", f"{KEY} "])
def test_what_is_no_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="begin with onl_") as caught:
        Organisation("https://console.example.org", key)
    assert key not in str(caught.value)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"console_url, key.*ONLOOKER_CONSOLE_URL"):
        Organisation()
    monkeypatch.setenv("ONLOOKER_CONSOLE_URL", "https://console.example.org")
    monkeypatch.setenv("ONLOOKER_KEY", KEY)
    with Organisation() as organisation:
        assert repr(organisation) == "Organisation('https://console.example.org')"


def test_an_id_leads_nowhere_else() -> None:
    with organisation_of(lambda _: Reply(SITE)) as (organisation, server):
        organisation.sites.get("../keys/1?x=#")
        assert server.asked[0].path == "sites/..%2Fkeys%2F1%3Fx%3D%23"
        for part in ("", ".", ".."):
            with pytest.raises(BadArgument):
                organisation.sites.get(part)


def test_a_change_of_many_says_of_which() -> None:
    with organisation_of(lambda _: Reply(SITE)) as (organisation, server):
        with pytest.raises(BadArgument, match="or all"):
            organisation.streams.change_many(Selection(), hours="")
        assert server.asked == []
