"""Who may follow a dashboard, and for how long: an account that loses access gets no more events."""

import time
from contextlib import ExitStack

import pytest
from django.contrib.sessions.models import Session

from console_people import make_account
from event_stream import listening
from memberships import share_stream, viewers
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.live import CHECK_EVERY_S
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages", "consoles"]
LOSSES = ("membership", "session", "account", "password", "stream")
SOON_S = CHECK_EVERY_S + 5
pytestmark = pytest.mark.django_db(transaction=True)


def share(owner: Account, viewer: Account) -> tuple[Stream, str]:
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    share_stream(stream, viewer)
    return stream, f"/streams/{stream.client_id}/dashboard/live/"


def lose(what: str, stream: Stream, viewer: Account, *, session_key: str) -> None:
    if what == "membership":
        viewers().filter(account=viewer).delete()
    elif what == "session":
        Session.objects.filter(session_key=session_key).delete()
    elif what == "account":
        Account.objects.filter(pk=viewer.pk).update(is_active=False)
    elif what == "password":
        viewer.set_password("another one, as long as the first")
        viewer.save()
    else:
        Stream.objects.filter(pk=stream.pk).update(removed_at="2026-01-01T00:00:00+00:00")


def test_a_page_that_follows_does_not_keep_a_session_alive(console, owner, viewer) -> None:
    """The browser says with HTMX's header that nobody clicked."""
    _, path = share(owner, viewer)
    with console.client_of(viewer) as client:
        key = client.headers["Cookie"].removeprefix("session=")
        session = Session.objects.get(session_key=key)
        before = session.get_decoded()
        long_ago = before | {"seen_at": int(time.time()) - 3600, "signed_in_at": int(time.time()) - 3600}
        Session.objects.filter(session_key=key).update(session_data=Session.objects.encode(long_ago))
        client.headers["HX-Request"] = "true"
        with listening(client, path) as ear:
            ear.await_event("view")
    assert Session.objects.get(session_key=key).get_decoded()["seen_at"] == long_ago["seen_at"]


def test_strangers_are_told_nothing(console, owner, viewer, stranger) -> None:
    _, path = share(owner, viewer)
    with console.client_of(None) as client:
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (302, f"/accounts/login/?next={path}")
    with console.client_of(stranger) as client:
        assert client.get(path).status_code == 404
        assert client.get(path.replace("/live", "/live/live")).status_code == 404


def test_whoever_may_not_see_it_any_more_hears_no_more(console, owner) -> None:
    with ExitStack() as stack:
        others = stack.enter_context(console.client_of(owner))
        shares = []
        for loss in LOSSES:
            viewer = make_account(f"{loss}@example.org")
            stream, path = share(owner, viewer)
            client = stack.enter_context(console.client_of(viewer))
            ear, other = (stack.enter_context(listening(one, path)) for one in (client, others))
            ear.await_event("view")
            other.await_event("view")
            shares.append((loss, stream, viewer, path, client, ear, other))
        for loss, stream, viewer, _, client, *_ in shares:
            lose(loss, stream, viewer, session_key=client.headers["Cookie"].removeprefix("session="))
        for loss, _, _, path, client, ear, other in shares:
            assert ear.is_over.wait(SOON_S), loss
            assert client.get(path).status_code in (302, 404), loss
            assert other.is_over.wait(SOON_S if loss == "stream" else 0.1) is (loss == "stream"), loss
