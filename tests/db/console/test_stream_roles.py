"""Who may open which page of a stream: nobody, a stranger, staff, a viewer, the owner."""

from collections.abc import Callable

import pytest
from django.test import Client

from memberships import share_stream, viewers
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

OWNERS_PAGES = ["settings/", "rotate/", "remove/"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account, viewer: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="developer").stream
    share_stream(made, viewer)
    return made


@pytest.mark.parametrize("page", ["", *OWNERS_PAGES])
@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_is_led_to_the_login(sign_in: SignIn, stream: Stream, page: str, method: str) -> None:
    path = f"/streams/{stream.client_id}/{page}"
    answer = getattr(sign_in(None), method)(path)
    assert answer.status_code == 302
    assert answer["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize("path", ["/streams/", "/streams/new/"])
def test_the_list_and_the_form_need_a_login(sign_in: SignIn, path: str, db: None) -> None:
    assert sign_in(None).get(path)["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize("page", ["", *OWNERS_PAGES])
@pytest.mark.parametrize("role", ["stranger", "staff"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stream_of_others_does_not_exist(
    request: pytest.FixtureRequest, sign_in: SignIn, stream: Stream, *, page: str, role: str, method: str
) -> None:
    browser = sign_in(request.getfixturevalue(role))
    answer = getattr(browser, method)(f"/streams/{stream.client_id}/{page}", {"name": "Front door", "grace": "0"})
    assert answer.status_code == (405 if method == "post" and page == "" else 404)
    stream.refresh_from_db()
    assert (stream.name, stream.removed_at, stream.access_tokens.count()) == ("Front door", None, 1)


@pytest.mark.parametrize("role", ["stranger", "staff"])
def test_the_list_of_others_does_not_have_it(
    request: pytest.FixtureRequest, sign_in: SignIn, stream: Stream, role: str
) -> None:
    page = sign_in(request.getfixturevalue(role)).get("/streams/").content.decode()
    assert "Front door" not in page
    assert "Create your first stream" in page


@pytest.mark.parametrize("page", OWNERS_PAGES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_viewer_changes_nothing(sign_in: SignIn, viewer: Account, stream: Stream, page: str, method: str) -> None:
    answer = getattr(sign_in(viewer), method)(f"/streams/{stream.client_id}/{page}", {"name": "Front door"})
    assert answer.status_code == 404
    assert Stream.objects.filter(pk=stream.pk, removed_at=None, name="Front door").exists()


def test_a_viewer_sees_how_it_stands_and_no_credentials(sign_in: SignIn, viewer: Account, stream: Stream) -> None:
    page = sign_in(viewer).get(f"/streams/{stream.client_id}/").content.decode()
    assert "Front door" in page
    assert "Never seen" in page
    assert "owner@example.org shares this stream with you" in page
    for hidden in ("Login", "Password", "curl", "/settings/", "/rotate/", "/remove/", "People and sites", "Refused"):
        assert hidden not in page
    assert f">{stream.client_id}<" not in page


@pytest.mark.parametrize("page", ["", *OWNERS_PAGES])
def test_the_owner_opens_every_page(sign_in: SignIn, owner: Account, stream: Stream, page: str) -> None:
    answer = sign_in(owner).get(f"/streams/{stream.client_id}/{page}")
    assert answer.status_code == 200
    assert answer.content.decode().count("<h1") == 1


def test_an_ended_membership_ends_what_is_seen(sign_in: SignIn, viewer: Account, stream: Stream) -> None:
    browser = sign_in(viewer)
    assert browser.get(f"/streams/{stream.client_id}/").status_code == 200
    viewers().delete()
    assert browser.get(f"/streams/{stream.client_id}/").status_code == 404
    assert "Front door" not in browser.get("/streams/").content.decode()


@pytest.mark.parametrize("page", ["settings/", "rotate/", "remove/"])
def test_a_change_needs_the_token_against_forged_requests(owner: Account, stream: Stream, page: str) -> None:
    browser = Client(SERVER_NAME="console.example.org", enforce_csrf_checks=True)
    browser.force_login(owner)
    answer = browser.post(f"/streams/{stream.client_id}/{page}", {"name": "Front door", "grace": "0"}, secure=True)
    assert answer.status_code == 403
    assert stream.access_tokens.count() == 1
