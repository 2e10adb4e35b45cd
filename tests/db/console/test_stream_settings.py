"""Changing a stream: what is saved, what is logged, and what is asked before visits are deleted."""

import time
from collections.abc import Callable

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from forms import fields_of
from memberships import owner_of
from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Customer, Subscription
from onlooker.streams.administration import create_stream, log_state, remove_stream
from onlooker.streams.models import Stream, Usage
from onlooker.streams.options import READING_NOTICE
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
AS_MADE = {
    "name": "Front door",
    "enabled": "on",
    "kind": "developer",
    "reads_age": "on",
    "reads_gender": "on",
    "retention_days": "365",
    "time_zone": "UTC",
    "silence_alert_minutes": "15",
    "blind_alert_minutes": "15",
}


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    return sign_in(owner)


def test_all_that_can_be_set_is_saved(browser: Client, stream: Stream) -> None:
    given = {"name": "Back door", "retention_days": "400", "time_zone": "Europe/Paris"}
    given |= {"silence_alert_minutes": "0", "blind_alert_minutes": "90", "unusual_alert": "on"}
    answer = browser.post(f"/streams/{stream.client_id}/settings/", given)
    assert answer.status_code == 302
    assert answer["Location"] == f"/streams/{stream.client_id}/"
    stream.refresh_from_db()
    assert (stream.name, stream.retention_days, stream.time_zone) == ("Back door", 400, "Europe/Paris")
    assert (stream.enabled, stream.silence_alert_minutes, stream.blind_alert_minutes) == (False, 0, 90)
    assert (stream.reads_age, stream.reads_gender, stream.reads_expression) == (False, False, False)
    assert stream.unusual_alert
    assert "Settings saved." in browser.get(answer["Location"]).content.decode()


def test_switching_off_and_on_is_logged(browser: Client, stream: Stream) -> None:
    off = {name: value for name, value in AS_MADE.items() if name != "enabled"}
    for given in (off, off, AS_MADE):
        browser.post(f"/streams/{stream.client_id}/settings/", given)
    states = stream.state_changes.order_by("id").values_list("state", flat=True)
    assert list(states) == ["enabled", "disabled", "enabled"]


def test_the_form_shows_what_is_set(browser: Client, stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(time_zone="Etc/GMT+5", reads_gender=False)
    shown = fields_of(browser.get(f"/streams/{stream.client_id}/settings/"))
    assert (shown["time_zone"], shown["kind"]) == ("Etc/GMT+5", "developer")
    assert (shown["enabled"], shown["reads_age"]) == ("on", "on")
    assert not {"reads_gender", "reads_expression"} & shown.keys()
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
    assert "All visits older than 30 days will be deleted" in page
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
        ("blind_alert_minutes", "-1"),
        ("blind_alert_minutes", "10081"),
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


@pytest.mark.parametrize("name", ["silence_alert_minutes", "blind_alert_minutes"])
def test_an_e_mail_that_no_opening_is_long_enough_for_is_refused(browser: Client, stream: Stream, name: str) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    hours = {"hours": "mo-fr 09:00-12:00, su 23:00-24:00, mo 00:00-01:30"}
    for minutes in ("180", "600"):
        page = browser.post(path, AS_MADE | hours | {name: minutes}).content.decode()
        assert "The longest opening lasts 180 minutes" in page
        assert "Choose less than 180, or 0 for none." in page
    stream.refresh_from_db()
    assert (stream.hours, getattr(stream, name)) == ("", 15)
    for minutes in ("179", "0"):
        assert browser.post(path, AS_MADE | hours | {name: minutes}).status_code == 302
    stream.refresh_from_db()
    assert getattr(stream, name) == 0


def test_hours_that_are_too_short_for_the_e_mails_are_refused_and_other_changes_are_not(
    browser: Client, stream: Stream
) -> None:
    path, short = f"/streams/{stream.client_id}/settings/", {"hours": "mo 09:00-09:15"}
    assert "Choose less than 15, or 0 for none." in browser.post(path, AS_MADE | short).content.decode()
    Stream.objects.filter(pk=stream.pk).update(hours="mo 09:00-09:15")
    assert browser.post(path, AS_MADE | short | {"name": "Other"}).status_code == 302
    stream.refresh_from_db()
    assert stream.name == "Other"


def test_without_billing_its_owner_makes_it_an_enterprise_stream(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    Usage.objects.create(stream=stream, month=month_of(time.time()), video_s=10_801)
    log_state(stream.id, quota_s=10_800)
    shown = fields_of(browser.get(path))
    assert shown["kind"] == "developer"
    assert browser.post(path, shown | {"kind": "enterprise"}).status_code == 302
    stream.refresh_from_db()
    assert stream.kind == "enterprise"
    assert list(stream.state_changes.order_by("id").values_list("state", flat=True)) == ["enabled", "quota", "enabled"]


def test_a_form_from_before_the_choice_leaves_the_kind_alone(browser: Client, stream: Stream) -> None:
    Stream.objects.update(kind="enterprise")
    given = {name: value for name, value in AS_MADE.items() if name != "kind"}
    assert browser.post(f"/streams/{stream.client_id}/settings/", given | {"name": "Other"}).status_code == 302
    stream.refresh_from_db()
    assert (stream.name, stream.kind) == ("Other", "enterprise")


@pytest.mark.parametrize("changes", [{"enterprise_without_billing": "staff"}, {"stripe_secret_key": "sk_test_1"}])
def test_the_kind_is_not_for_this_form_where_staff_or_a_card_decides(
    browser: Client, stream: Stream, settings: Settings, changes: dict[str, str]
) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, **changes)
    path = f"/streams/{stream.client_id}/settings/"
    assert "kind" not in fields_of(browser.get(path))
    assert browser.post(path, AS_MADE | {"kind": "enterprise"}).status_code == 302
    stream.refresh_from_db()
    assert stream.kind == "developer"


def test_the_kind_is_not_for_this_form_while_a_subscription_stands_for_it(
    browser: Client, stream: Stream, owner: Account
) -> None:
    Stream.objects.update(kind="enterprise")
    Subscription.objects.create(stream=stream, customer=Customer.objects.create(account=owner))
    browser.post(f"/streams/{stream.client_id}/settings/", AS_MADE | {"kind": "developer"})
    stream.refresh_from_db()
    assert stream.kind == "enterprise"


def test_expression_is_switched_on_beside_what_the_law_wants(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    answer = browser.get(path)
    assert READING_NOTICE in answer.content.decode()
    browser.post(path, fields_of(answer) | {"reads_expression": "on"})
    stream.refresh_from_db()
    assert stream.reads_expression


def test_the_owner_is_not_for_this_form(browser: Client, stream: Stream, stranger: Account) -> None:
    given = AS_MADE | {"owner": str(stranger.pk), "client_id": "0", "removed_at": "2026-01-01"}
    browser.post(f"/streams/{stream.client_id}/settings/", given)
    before = (owner_of(stream).pk, stream.client_id, stream.removed_at)
    stream.refresh_from_db()
    assert (owner_of(stream).pk, stream.client_id, stream.removed_at) == before


def test_a_removed_stream_has_no_settings(browser: Client, stream: Stream) -> None:
    client_id = stream.client_id
    remove_stream(stream)
    assert browser.post(f"/streams/{client_id}/settings/", AS_MADE).status_code == 404


def test_where_frames_are_computed_can_be_chosen_and_is_shown(browser: Client, stream: Stream) -> None:
    path = f"/streams/{stream.client_id}/settings/"
    shown = fields_of(browser.get(path))
    assert shown["compute"] == "server"
    answer = browser.post(path, shown | {"compute": "device"})
    stream.refresh_from_db()
    assert stream.compute == "device"
    assert "on the device" in browser.get(answer["Location"]).content.decode()
    browser.post(path, shown | {"compute": "moon"})
    stream.refresh_from_db()
    assert stream.compute == "device"
