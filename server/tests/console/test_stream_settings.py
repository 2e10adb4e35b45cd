"""Changing a stream: what is saved, what is logged, and what is asked before visits are deleted."""

from collections.abc import Callable

import pytest
from django.test import Client

from forms import fields_of
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
AS_MADE = {
    "name": "Front door",
    "enabled": "on",
    "reads_age": "on",
    "reads_gender": "on",
    "reads_expression": "on",
    "retention_days": "365",
    "time_zone": "UTC",
    "silence_alert_minutes": "15",
}


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    return sign_in(owner)


def test_all_that_can_be_set_is_saved(browser: Client, stream: Stream) -> None:
    given = {"name": "Back door", "retention_days": "400", "time_zone": "Europe/Paris", "silence_alert_minutes": "0"}
    answer = browser.post(f"/streams/{stream.client_id}/settings/", given)
    assert answer.status_code == 302
    assert answer["Location"] == f"/streams/{stream.client_id}/"
    stream.refresh_from_db()
    assert (stream.name, stream.retention_days, stream.time_zone) == ("Back door", 400, "Europe/Paris")
    assert (stream.enabled, stream.silence_alert_minutes) == (False, 0)
    assert (stream.reads_age, stream.reads_gender, stream.reads_expression) == (False, False, False)
    assert "Saved." in browser.get(answer["Location"]).content.decode()


def test_switching_off_and_on_is_logged(browser: Client, stream: Stream) -> None:
    off = {name: value for name, value in AS_MADE.items() if name != "enabled"}
    for given in (off, off, AS_MADE):
        browser.post(f"/streams/{stream.client_id}/settings/", given)
    states = stream.state_changes.order_by("id").values_list("state", flat=True)
    assert list(states) == ["enabled", "disabled", "enabled"]


def test_the_form_shows_what_is_set(browser: Client, stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(time_zone="Etc/GMT+5", reads_gender=False)
    page = browser.get(f"/streams/{stream.client_id}/settings/").content.decode()
    assert '<option value="Etc/GMT+5" selected>' in page
    assert page.count(" checked") == 3
    assert (
        browser.post(f"/streams/{stream.client_id}/settings/", AS_MADE | {"time_zone": "Etc/GMT+5"}).status_code == 302
    )


def test_an_old_tab_changes_only_what_was_touched_in_it(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    old = fields_of(browser.get(path))
    off = {name: value for name, value in old.items() if name not in ("enabled", "reads_age")}
    assert browser.post(path, off | {"retention_days": "400"}).status_code == 302
    assert browser.post(path, old | {"name": "Back door"}).status_code == 302
    stream.refresh_from_db()
    assert (stream.enabled, stream.reads_age, stream.reads_gender) == (False, False, True)
    assert (stream.retention_days, stream.name) == (400, "Back door")


def test_a_refused_form_still_knows_what_its_page_showed(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    old = fields_of(browser.get(path))
    Stream.objects.update(reads_age=False)
    refused = fields_of(browser.post(path, old | {"name": " ", "reads_gender": ""}))
    browser.post(path, refused | {"name": "Back door"})
    stream.refresh_from_db()
    assert (stream.name, stream.reads_age) == ("Back door", False)


def test_fewer_days_are_saved_only_when_their_loss_is_confirmed(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    page = browser.post(path, AS_MADE | {"retention_days": "30", "name": "Other"}).content.decode()
    assert "All that are older than 30 days will be deleted" in page
    assert 'name="confirmed_days" value="30"' in page
    stream.refresh_from_db()
    assert (stream.retention_days, stream.name) == (365, "Front door")
    browser.post(path, AS_MADE | {"retention_days": "30", "confirmed_days": "30"})
    stream.refresh_from_db()
    assert stream.retention_days == 30


def test_a_confirmation_is_for_that_number_of_days_only(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    page = browser.post(path, AS_MADE | {"retention_days": "7", "confirmed_days": "30"}).content.decode()
    assert 'name="confirmed_days" value="7"' in page
    stream.refresh_from_db()
    assert stream.retention_days == 365


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("retention_days", "0"),
        ("retention_days", "3651"),
        ("retention_days", "many"),
        ("silence_alert_minutes", "-1"),
        ("silence_alert_minutes", "10081"),
        ("time_zone", "Mars/Olympus"),
        ("name", " "),
    ],
)
def test_a_wrong_value_changes_nothing(browser: Client, stream: Stream, field: str, value: str) -> None:
    answer = browser.post(f"/streams/{stream.client_id}/settings/", AS_MADE | {"name": "Other"} | {field: value})
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    stream.refresh_from_db()
    assert stream.name == "Front door"


def test_kind_and_owner_are_not_for_this_form(browser: Client, stream: Stream, stranger: Account) -> None:
    given = AS_MADE | {"kind": "enterprise", "owner": str(stranger.pk), "client_id": "0", "removed_at": "2026-01-01"}
    browser.post(f"/streams/{stream.client_id}/settings/", given)
    before = (stream.kind, stream.owner_id, stream.client_id, stream.removed_at)
    stream.refresh_from_db()
    assert (stream.kind, stream.owner_id, stream.client_id, stream.removed_at) == before


def test_a_removed_stream_has_no_settings(browser: Client, stream: Stream) -> None:
    client_id = stream.client_id
    remove_stream(stream)
    assert browser.post(f"/streams/{client_id}/settings/", AS_MADE).status_code == 404
