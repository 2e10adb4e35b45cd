"""The page that tries a stream out: what it may do that no other page may, and what it says first."""

from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
GATEWAY = "https://gate.example.org"


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def policy_of(answer: HttpResponse) -> dict[str, str]:
    return dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";"))


def test_it_says_what_is_sent_where_before_anything_is(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/try/").content.decode()
    assert f"sends them to <strong>{GATEWAY}</strong>" in page
    assert "no picture and no visit is stored" in page
    assert "counts towards this stream's month" in page
    assert page.index("sends them to") < page.index("Use the camera")


def test_only_this_page_may_use_the_camera_and_ask_the_gateway(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    trying, other = (browser.get(f"/streams/{stream.client_id}/{page}") for page in ("try/", ""))
    assert trying["Permissions-Policy"] == "camera=(self), microphone=(), geolocation=()"
    assert other["Permissions-Policy"] == "camera=(), microphone=(), geolocation=()"
    more = {name: value for name, value in policy_of(trying).items() if policy_of(other).get(name) != value}
    assert more == {"connect-src": f"'self' {GATEWAY}", "media-src": "blob:"}
    assert "media-src" not in policy_of(other)
    assert policy_of(other)["connect-src"] == "'self'"


def test_it_has_words_for_whatever_the_gateway_may_refuse(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/try/").content.decode()
    refused = ("bad_credentials", "quota_exceeded", "stream_disabled", "stream_closed", "rate_limited", "overloaded")
    for code in (*refused, "other"):
        assert f'data-trouble="{code}"' in page


def test_a_viewer_is_not_led_there(sign_in: SignIn, viewer: Account, stream: Stream) -> None:
    share_stream(stream, viewer)
    browser = sign_in(viewer)
    assert "/try/" not in browser.get(f"/streams/{stream.client_id}/").content.decode()
    assert browser.get(f"/streams/{stream.client_id}/try/").status_code == 404
    assert browser.post(f"/streams/{stream.client_id}/try/token/").status_code == 404
