"""Who may read the local feed: Host, Origin, token, and what browsers ask beforehand."""

from collections.abc import Iterator

import pytest
from feed_reader import AT_CAMERA, ask, computed, open_socket

from onlooker_client.device.feed import LocalFeed
from onlooker_client.device.feed_request import FeedRefusal, parse_request
from onlooker_client.device.feed_trust import FeedTrust
from onlooker_client.device.feed_updates import FeedLimits

PAGE = "https://signage.example.org"
TOKEN = "0123456789abcdef0123456789abcdef"
EVERY_PATH = ["/now", "/events", "/socket"]


@pytest.fixture(scope="module")
def feed() -> Iterator[LocalFeed]:
    opened = LocalFeed(0, origins=[PAGE], limits=FeedLimits(stale_s=3600.0))  # the tests share one frame
    opened.publish(computed(one=AT_CAMERA))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def secret_feed() -> Iterator[LocalFeed]:
    opened = LocalFeed(0, origins=[PAGE], token=TOKEN)
    yield opened
    opened.close()


def status(feed: LocalFeed, path: str, **headers: str) -> int:
    with open_socket(feed, path, **headers) as opened:
        return opened.status


@pytest.mark.parametrize("path", EVERY_PATH)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_a_program_on_the_device_may_read_it_under_names_of_this_machine(feed: LocalFeed, path: str, name: str) -> None:
    assert status(feed, path, Host=f"{name}:{feed.port}") in (101, 200)


@pytest.mark.parametrize("path", EVERY_PATH)
@pytest.mark.parametrize(
    "name", ["evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "", "127.0.0.1.evil.example:{port}"]
)
def test_another_name_is_refused_though_it_leads_here(feed: LocalFeed, path: str, name: str) -> None:
    assert status(feed, path, Host=name.format(port=feed.port), Origin=PAGE) == 421


@pytest.mark.parametrize("path", EVERY_PATH)
def test_a_page_of_an_allowed_origin_may_read_it(feed: LocalFeed, path: str) -> None:
    assert status(feed, path, Origin=PAGE) in (101, 200)


@pytest.mark.parametrize("path", EVERY_PATH)
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://signage.example.org", f"{PAGE}.evil.example", f"{PAGE}:8443", f"{PAGE}/"],
)
def test_a_page_of_another_origin_may_not(feed: LocalFeed, path: str, origin: str) -> None:
    assert status(feed, path, Origin=origin) == 403


def test_only_an_allowed_origin_can_read_the_answer(feed: LocalFeed) -> None:
    allowed, strange = ask(feed, Origin=PAGE), ask(feed, Origin="https://evil.example")
    assert allowed.headers["access-control-allow-origin"] == PAGE
    assert allowed.headers["vary"] == "Origin"
    assert allowed.said["people"][0]["looking"]
    assert not [name for name in strange.headers if name.startswith("access-control")]
    assert strange.said["code"] == "origin"
    assert b"people" not in strange.body


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_picture_or_script_tag_of_a_strange_page_gets_nothing(feed: LocalFeed, site: str) -> None:
    assert ask(feed, Sec_Fetch_Site=site).status == 403


def test_somebody_who_types_the_address_gets_an_answer(feed: LocalFeed) -> None:
    answer = ask(feed, Sec_Fetch_Site="none")
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", EVERY_PATH)
def test_a_feed_with_a_token_wants_it_of_programs(secret_feed: LocalFeed, path: str) -> None:
    assert status(secret_feed, path) == 401
    assert status(secret_feed, path, Authorization=f"Bearer {TOKEN}") in (101, 200)
    assert status(secret_feed, f"{path}?token={TOKEN}") in (101, 200)


@pytest.mark.parametrize("path", EVERY_PATH)
def test_a_wrong_token_is_refused_also_for_an_allowed_origin(secret_feed: LocalFeed, path: str) -> None:
    for wrong in ("wrong", TOKEN[:-1], f"{TOKEN}0", "é"):
        assert status(secret_feed, f"{path}?token={wrong}".replace("é", "%C3%A9"), Origin=PAGE) == 401
    assert status(secret_feed, path, Authorization="Bearer wrong") == 401


def test_a_page_from_a_file_needs_the_token(secret_feed: LocalFeed) -> None:
    assert ask(secret_feed, Origin="null").status == 403
    answer = ask(secret_feed, f"/now?token={TOKEN}", Origin="null")
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "null")


def test_a_token_that_nobody_has_set_is_wrong(feed: LocalFeed) -> None:
    assert ask(feed, Authorization="Bearer ").status == 200
    assert ask(feed, Authorization=f"Bearer {TOKEN}").status == 401


def test_a_preflight_of_an_allowed_origin_is_answered(feed: LocalFeed) -> None:
    asked = {"Access_Control_Request_Method": "GET", "Access_Control_Request_Private_Network": "true"}
    answer = ask(feed, method="OPTIONS", Origin=PAGE, **asked)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["access-control-allow-private-network"] == "true"
    assert answer.headers["access-control-allow-methods"] == "GET"
    assert "authorization" in answer.headers["access-control-allow-headers"].lower()


def test_a_preflight_of_another_origin_is_refused(feed: LocalFeed) -> None:
    answer = ask(feed, method="OPTIONS", Origin="https://evil.example", Access_Control_Request_Private_Network="true")
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_private_networks_are_only_mentioned_to_those_who_ask(feed: LocalFeed) -> None:
    answer = ask(feed, method="OPTIONS", Origin=PAGE)
    assert "access-control-allow-private-network" not in answer.headers


@pytest.mark.parametrize("origin", ["", f"Origin: {PAGE}\r\n"])
def test_other_machines_always_need_the_token(origin: str) -> None:
    trust = FeedTrust("192.0.2.1", 8765, [PAGE], TOKEN)

    def admit(more: str = "") -> "dict[str, str]":
        request = parse_request(f"GET /now{more} HTTP/1.1\r\nHost: 192.0.2.1:8765\r\n{origin}\r\n".encode())
        return trust.admit(request, peer="192.0.2.9", local="192.0.2.1")

    with pytest.raises(FeedRefusal) as refused:
        admit()
    assert refused.value.status == 401
    assert admit(f"?token={TOKEN}")


def test_a_feed_on_all_addresses_answers_under_the_one_that_was_asked() -> None:
    trust = FeedTrust("0.0.0.0", 80, [], TOKEN)
    for host, is_ours in (("192.0.2.1", True), ("192.0.2.1:80", True), ("evil.example", False)):
        request = parse_request(f"GET /now?token={TOKEN} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        if is_ours:
            assert trust.admit(request, peer="192.0.2.9", local="::ffff:192.0.2.1")
        else:
            with pytest.raises(FeedRefusal):
                trust.admit(request, peer="192.0.2.9", local="::ffff:192.0.2.1")


def test_refusals_are_counted_by_reason() -> None:
    feed = LocalFeed(0)
    ask(feed, Host="evil.example")
    ask(feed, Origin=PAGE)
    ask(feed, "/now?token=wrong")
    ask(feed, "/other")
    ask(feed, method="POST")
    assert feed.status()["refused"] == {"host": 1, "origin": 1, "token": 1, "unknown": 2}
    feed.close()
