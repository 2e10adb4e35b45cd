"""A second click finds what the first one did: one stream, one membership, and a way on."""

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from django.db import connections
from django.test import Client

from forms import fields_of
from memberships import invite_to, viewers
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

PLACE = {"place": "public", "notice_given": "on"}
SignIn = Callable[[Account | None], Client]


def click_twice(click: Callable[[], object]) -> list[object]:
    """At the same time, each over a connection of its own."""
    answers: list[object] = []
    start = Barrier(2)

    def run() -> None:
        start.wait(10)
        try:
            answers.append(click())
        finally:
            connections.close_all()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return answers


def test_the_same_form_makes_one_stream(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    form = fields_of(browser.get("/streams/new/")) | PLACE | {"name": "Lobby"}
    assert "Stream created" in browser.post("/streams/new/", form).content.decode()
    again = browser.post("/streams/new/", form)
    stream = Stream.objects.get()
    assert again["Location"] == f"/streams/{stream.client_id}/"
    assert "Lobby already exists" in browser.get(again["Location"]).content.decode()
    browser.post("/streams/new/", form | {"name": "Roof"})  # somebody went back and wants another one
    remove_stream(stream)
    browser.post("/streams/new/", fields_of(browser.get("/streams/new/")) | PLACE | {"name": "Roof"})
    assert sorted(Stream.objects.filter(removed_at=None).values_list("name", flat=True)) == ["Roof", "Roof"]


def test_the_key_of_somebody_else_finds_nothing(sign_in: SignIn, owner: Account, stranger: Account) -> None:
    form = fields_of(sign_in(owner).get("/streams/new/")) | PLACE | {"name": "Lobby"}
    for account in (owner, stranger):
        assert sign_in(account).post("/streams/new/", form).status_code == 200
    assert Stream.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_make_one_stream(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    form = fields_of(browser.get("/streams/new/")) | PLACE | {"name": "Lobby"}
    statuses = click_twice(lambda: browser.post("/streams/new/", form).status_code)
    assert sorted(map(str, statuses)) == ["200", "302"]
    assert Stream.objects.count() == 1


def test_accepting_again_leads_to_the_streams(sign_in: SignIn, owner: Account, viewer: Account) -> None:
    stream = create_stream("Lobby", owner=owner, kind="developer").stream
    invitation = invite_to(stream, viewer.email)
    browser, url = sign_in(viewer), f"/invitations/{invitation.pk}/"
    for _ in range(2):
        assert browser.post(url, {"answer": "accept"})["Location"] == "/streams/"
    assert sign_in(owner).post(url, {"answer": "accept"}).status_code == 404
    viewers().delete()  # revoked
    assert browser.post(url, {"answer": "accept"}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_accepting_twice_at_once_leads_to_the_streams(sign_in: SignIn, owner: Account, viewer: Account) -> None:
    stream = create_stream("Lobby", owner=owner, kind="developer").stream
    invitation = invite_to(stream, viewer.email)
    browser, url = sign_in(viewer), f"/invitations/{invitation.pk}/"
    places = click_twice(lambda: browser.post(url, {"answer": "accept"}).get("Location"))
    assert places == ["/streams/"] * 2
    assert viewers().count() == 1
