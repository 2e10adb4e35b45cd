"""Removing a stream: by its name, at once, for everybody."""

from collections.abc import Callable

import pytest
from django.test import Client

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import AccessToken, Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account, viewer: Account) -> Stream:
    made = create_stream("Café  - entrée", owner=owner, kind="developer").stream
    share_stream(made, viewer)
    return made


@pytest.mark.parametrize("typed", ["Café - entrée", " Café  - entrée ", "Cafe\u0301 - entre\u0301e"])
def test_who_types_its_name_removes_it(sign_in: SignIn, owner: Account, stream: Stream, typed: str) -> None:
    browser = sign_in(owner)
    answer = browser.post(f"/streams/{stream.client_id}/remove/", {"name": typed})
    assert answer["Location"] == "/streams/"
    stream.refresh_from_db()
    assert stream.removed_at is not None
    assert (stream.organisation, stream.site, stream.name) == (None, None, "")
    assert not AccessToken.objects.filter(stream=stream).exists()
    page = browser.get("/streams/").content.decode()
    assert "was deleted" in page
    assert str(stream.client_id) not in page


def test_it_is_gone_from_all_pages_for_everybody(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    sign_in(owner).post(f"/streams/{stream.client_id}/remove/", {"name": "Café - entrée"})
    for account in (owner, viewer):
        for page in ("", "settings/", "rotate/", "remove/"):
            assert sign_in(account).get(f"/streams/{stream.client_id}/{page}").status_code == 404
        assert str(stream.client_id) not in sign_in(account).get("/streams/").content.decode()


@pytest.mark.parametrize("typed", ["", "café - entrée", "Café", "yes", "Café - entrée!"])
def test_another_name_removes_nothing(sign_in: SignIn, owner: Account, stream: Stream, typed: str) -> None:
    answer = sign_in(owner).post(f"/streams/{stream.client_id}/remove/", {"name": typed})
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    stream.refresh_from_db()
    assert stream.removed_at is None
    assert stream.access_tokens.count() == 1


def test_a_get_removes_nothing(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    sign_in(owner).get(f"/streams/{stream.client_id}/remove/", {"name": "Café - entrée"})
    stream.refresh_from_db()
    assert stream.removed_at is None
