"""Making a stream: what it may be called, and a Password that is shown once."""

import hashlib
import re
from collections.abc import Callable

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from forms import fields_of
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import RefusedError, create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
PLAIN = {"time_zone": "UTC", "place": "public", "preset": "own"}
CHOSEN = PLAIN | {"kind": "enterprise"}
CARDS = {"stripe_secret_key": "sk_test_1"}
STAFF_ONLY = {"enterprise_without_billing": "staff"}


def shown(page: str, name: str) -> str:
    found = re.search(rf'id="{name}">([^<]+)<', page)
    assert found, f"{name} is not on the page"
    return found[1]


def test_a_new_stream_shows_credentials_that_work_and_are_kept_as_a_hash(sign_in: SignIn, owner: Account) -> None:
    answer = sign_in(owner).post("/streams/new/", CHOSEN | {"name": "  Front door ", "time_zone": "Europe/Paris"})
    assert answer.status_code == 200
    stream = Stream.objects.get(organisation__memberships__account=owner)
    assert (stream.name, stream.kind, stream.time_zone) == ("Front door", "enterprise", "Europe/Paris")
    page = answer.content.decode()
    assert shown(page, "login") == str(stream.client_id)
    kept = stream.access_tokens.get()
    assert bytes(kept.sha256) == hashlib.sha256(shown(page, "password").encode()).digest()
    assert [change.state for change in stream.state_changes.all()] == ["enabled"]


def test_the_answer_is_not_kept_and_a_reload_is_the_streams_page(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    answer = browser.post("/streams/new/", CHOSEN | {"name": "Front door"})
    stream = Stream.objects.get()
    assert answer["Cache-Control"] == "no-store"
    page = answer.content.decode()
    assert f'data-replace-url="/streams/{stream.client_id}/"' in page
    assert 'data-copy="#login"' in page
    assert 'data-copy="#password"' in page
    password = shown(page, "password")
    assert page.count(password) == 2  # in its place and in the line to try it
    assert password not in browser.get(f"/streams/{stream.client_id}/").content.decode()


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "two\nlines", "bell\x07", "\u202eturned", "\u200b", "nul\x00"])
def test_a_name_that_can_not_be_one_is_refused(sign_in: SignIn, owner: Account, name: str) -> None:
    answer = sign_in(owner).post("/streams/new/", CHOSEN | {"name": name})
    assert "errorlist" in answer.content.decode()
    assert not Stream.objects.exists()


@pytest.mark.parametrize("name", ["x", "x" * 100, "Vitrine été 👩‍👩‍👧", "ショップ", "<b>&amp;"])
def test_any_other_name_is_taken(sign_in: SignIn, owner: Account, name: str) -> None:
    sign_in(owner).post("/streams/new/", CHOSEN | {"name": name})
    assert Stream.objects.get().name == name


@pytest.mark.parametrize("time_zone", ["", "Mars/Olympus", "../../etc/passwd", "Factory", "localtime"])
def test_a_time_zone_that_is_none_is_refused(sign_in: SignIn, owner: Account, time_zone: str) -> None:
    sign_in(owner).post("/streams/new/", CHOSEN | {"name": "Front door", "time_zone": time_zone})
    assert not Stream.objects.exists()


def set_settings(settings: Settings, changes: dict[str, str]) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, **changes)


def test_without_billing_enterprise_is_preselected_for_everybody(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    answer = browser.get("/streams/new/")
    assert fields_of(answer)["kind"] == "enterprise"
    page = answer.content.decode()
    assert "Developer: for non-commercial use only, and stops after 3 h of video each month" in page
    assert "Enterprise: no monthly limit" in page
    assert "card" not in page
    assert "staff" not in page.lower()
    for kind in ("enterprise", "developer"):
        browser.post("/streams/new/", CHOSEN | {"name": kind, "kind": kind})
        assert Stream.objects.get(name=kind).kind == kind


def test_without_billing_enterprise_may_be_for_staff_only(
    sign_in: SignIn, owner: Account, staff: Account, settings: Settings
) -> None:
    set_settings(settings, STAFF_ONLY)
    answer = sign_in(owner).get("/streams/new/")
    assert "kind" not in fields_of(answer)
    page = answer.content.decode()
    assert "Developer: for non-commercial use only, and stops after 3 h of video each month." in page
    assert "Staff can change it to an enterprise stream." in page
    sign_in(owner).post("/streams/new/", CHOSEN | {"name": "Of anybody"})
    assert Stream.objects.get(name="Of anybody").kind == "developer"
    assert fields_of(sign_in(staff).get("/streams/new/"))["kind"] == "enterprise"
    sign_in(staff).post("/streams/new/", CHOSEN | {"name": "Of staff"})
    assert Stream.objects.get(name="Of staff").kind == "enterprise"


def test_a_form_without_a_kind_makes_nothing_where_there_is_a_choice(sign_in: SignIn, owner: Account) -> None:
    answer = sign_in(owner).post("/streams/new/", PLAIN | {"name": "Front door"})
    assert "errorlist" in answer.content.decode()
    assert not Stream.objects.exists()


def test_with_billing_an_enterprise_stream_begins_as_a_developer_stream(
    sign_in: SignIn, owner: Account, settings: Settings
) -> None:
    set_settings(settings, CARDS)
    browser = sign_in(owner)
    answer = browser.get("/streams/new/")
    assert fields_of(answer)["kind"] == "developer"
    assert "Enterprise: no monthly limit, needs a payment card" in answer.content.decode()
    page = browser.post("/streams/new/", CHOSEN | {"name": "Door"}).content.decode()
    stream = Stream.objects.get()
    assert stream.kind == "developer"
    assert "Add a card" in page
    page = browser.post("/streams/new/", CHOSEN | {"name": "Door 2", "kind": "developer"}).content.decode()
    assert "card" not in page


def test_an_account_has_a_bounded_number_of_streams(
    sign_in: SignIn, owner: Account, stranger: Account, settings: Settings
) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, streams_per_account=2)
    for number in range(3):
        answer = sign_in(owner).post("/streams/new/", CHOSEN | {"name": f"Door {number}"})
    assert "at most 2 streams" in answer.content.decode()
    assert Stream.objects.count() == 2
    sign_in(stranger).post("/streams/new/", CHOSEN | {"name": "Other"})
    assert Stream.objects.count() == 3


def test_removed_streams_do_not_count_against_the_bound(owner: Account) -> None:
    from onlooker.streams.administration import remove_stream

    remove_stream(create_stream("Front door", owner=owner, kind="developer", at_most=1).stream)
    create_stream("Front door", owner=owner, kind="developer", at_most=1)
    with pytest.raises(RefusedError):
        create_stream("Back door", owner=owner, kind="developer", at_most=1)
