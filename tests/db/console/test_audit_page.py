"""The owner's page of the audit log: who did what by which way, in sentences; and as a file."""

import json
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client

from forms import fields_of
from memberships import owner_of, site_of
from onlooker.audit.chain import check_chain
from onlooker.audit.entries import end_past_entries, list_entries
from onlooker.audit.export import read_json_lines
from onlooker.audit.models import AuditEntry, OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.billing.subscriptions import set_kind
from onlooker.console.members.models import Invitation
from onlooker.console.streams import audit_log
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)
"""An actor that is declared holds for a transaction: each request must have its own."""

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Lobby", owner=owner, kind="developer").stream


def address_of(stream: Stream, page: str = "audit") -> str:
    return f"/streams/{stream.client_id}/{page}/"


def newest(stream: Stream) -> tuple[str, str, dict[str, Any]]:
    entry = AuditEntry.objects.filter(stream=stream).latest("number")
    return entry.actor, entry.action, json.loads(entry.detail)


def actors_since(stream: Stream, number: int) -> set[str]:
    return set(AuditEntry.objects.filter(stream=stream, number__gt=number).values_list("actor", flat=True))


def count(stream: Stream) -> int:
    return AuditEntry.objects.filter(stream=stream).count()


def change(browser: Client, stream: Stream, **values: str) -> None:
    page = address_of(stream, "settings")
    given = fields_of(browser.get(page)) | values
    assert browser.post(page, given).status_code == 302


def test_settings_that_an_owner_changes_are_logged(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    change(sign_in(owner), stream, retention_days="400", reads_expression="on")
    changed = {"reads_expression": [False, True], "retention_days": [365, 400]}
    assert newest(stream) == (f"account:{owner.pk}", "stream.changed", changed)


def test_an_owner_chooses_how_long_entries_are_kept(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    assert "365 days" in browser.get(address_of(stream)).content.decode()
    change(browser, stream, audit_days="30")
    assert newest(stream) == (f"account:{owner.pk}", "stream.changed", {"audit_days": [365, 30]})
    assert "30 days" in browser.get(address_of(stream)).content.decode()
    before = count(stream)
    assert end_past_entries() == 0
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE audit_entry SET at = at - interval '31 days' WHERE number < 3")
        cursor.execute("SET session_replication_role = origin")
    assert end_past_entries() == 2
    assert count(stream) == before - 2


def test_every_way_of_the_console_names_its_account(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    """A way that declares nobody would be a role's."""
    mine, before = sign_in(owner), count(stream)
    assert mine.post(address_of(stream, "rotate"), {"grace": "1"}).status_code == 200
    assert mine.post(address_of(stream, "try/token")).status_code == 200
    assert actors_since(stream, before) == {f"account:{owner.pk}"}
    site_of(stream)
    people, known = f"/organisations/{stream.organisation_id}/", count_of_organisation(stream)
    site = str(stream.site_id)
    invite = {"emails": "viewer@example.org", "role": "viewer", "sites": [site], "confirmed": "1"}
    assert mine.post(f"{people}invite/", invite).status_code == 302
    invitation = Invitation.objects.get()
    assert mine.post(f"{people}invitations/{invitation.pk}/revoke/").status_code == 302
    assert mine.post(f"{people}invite/", invite).status_code == 302
    assert {actor for actor, _ in organisation_log(stream)[known:]} == {f"account:{owner.pk}"}
    before, known = count(stream), count_of_organisation(stream)
    theirs, invitation = sign_in(viewer), Invitation.objects.get()
    assert theirs.post(f"/invitations/{invitation.pk}/", {"answer": "accept"}).status_code == 302
    assert theirs.get(f"/streams/{stream.client_id}/dashboard/table.csv").status_code == 200
    assert theirs.post(f"{people}leave/").status_code == 302
    assert actors_since(stream, before) == {f"account:{viewer.pk}"}
    assert organisation_log(stream)[known:] == [
        (f"account:{viewer.pk}", action)
        for action in (
            "member.added",
            "member.sites_added",
            "invitation.ended",
            "member.sites_removed",
            "member.removed",
        )
    ]


def organisation_log(stream: Stream) -> list[tuple[str, str]]:
    rows = OrganisationEntry.objects.filter(organisation=stream.organisation_id).order_by("number")
    return list(rows.values_list("actor", "action"))


def count_of_organisation(stream: Stream) -> int:
    return len(organisation_log(stream))


def test_a_new_stream_is_its_owner_s(sign_in: SignIn, owner: Account) -> None:
    browser = sign_in(owner)
    given = fields_of(browser.get("/streams/new/")) | {"name": "Shelf", "place": "public", "preset": "counts"}
    assert browser.post("/streams/new/", given).status_code == 200
    made = Stream.objects.get(name="Shelf")
    assert actors_since(made, 0) == {f"account:{owner.pk}"}


def test_staff_and_billing_are_told_apart(sign_in: SignIn, staff: Account, stream: Stream) -> None:
    add_second_factor(staff)
    door = sign_in(staff)
    page = f"/staff/streams/stream/{stream.pk}/change/"
    given = fields_of(door.get(page)) | {"kind": "enterprise"}
    assert door.post(page, given).status_code == 302
    assert newest(stream) == (f"staff:{staff.pk}", "stream.changed", {"kind": ["developer", "enterprise"]})
    set_kind(Stream.objects.get(pk=stream.pk), Stream.Kind.DEVELOPER)
    assert newest(stream)[0] == "billing"
    page = f"/staff/accounts/account/{owner_of(stream).pk}/change/"
    given = fields_of(door.get(page))
    given.pop("is_active")
    assert door.post(page, given).status_code == 302
    noted = OrganisationEntry.objects.filter(organisation=stream.organisation).order_by("number").last()
    assert noted
    assert (noted.actor, noted.action) == (f"staff:{staff.pk}", "account.changed")


def test_a_download_from_the_dashboard_is_logged_once_an_hour(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, before = sign_in(owner), count(stream)
    for period in ("from=2026-03-02&to=2026-03-02", "from=2026-03-02&to=2026-03-02", "from=2026-03-02&to=2026-03-03"):
        assert browser.get(f"/streams/{stream.client_id}/dashboard/table.csv?{period}").status_code == 200
    assert count(stream) == before + 2


def test_the_page_says_it_in_sentences(sign_in: SignIn, owner: Account, viewer: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    change(browser, stream, retention_days="400", time_zone="Europe/Paris")
    gone = viewer.pk
    with connection.cursor() as cursor:
        detail = {
            "kind": "table",
            "password": 7,
            "from": "2026-03-02T00:00:00.000000Z",
            "to": "2026-03-03T00:00:00.000000Z",
        }
        cursor.execute(
            "INSERT INTO audit_entry (stream_id, actor, action, detail) VALUES (%s, %s, 'numbers.read', %s)",
            [stream.pk, f"account:{viewer.pk}", json.dumps(detail)],
        )
    text = browser.get(address_of(stream)).content.decode()
    assert "Settings changed: time zone from UTC to Europe/Paris, retention days from 365 to 400." in text
    read = "Numbers from 2 March 2026, 01:00 to 3 March 2026, 01:00 read as a table, with a token of Password 7."
    assert read in text, "in the stream's time zone"
    german = browser.get(address_of(stream), headers={"accept-language": "de"}).content.decode()
    assert "Zahlen vom 2. März 2026, 01:00 bis zum 3. März 2026, 01:00 als Tabelle gelesen" in german
    assert "owner@example.org" in text
    viewer.delete()
    assert f"account {gone} (deleted)" in browser.get(address_of(stream)).content.decode()


def test_the_days_of_a_note_are_written_as_the_language_does(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    noted = {"note": 7, "from": "2026-11-01", "to": "2026-11-02", "about": "stream", "name": "Lobby"}
    changes = {"changes": {"first_day": ["2026-10-31", "2026-11-01"]}, "new_text": False}
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (stream_id, actor, action, detail) VALUES (%s, 'odd', 'note.changed', %s)",
            [stream.pk, json.dumps(noted | changes)],
        )
    browser = sign_in(owner)
    text = browser.get(address_of(stream)).content.decode()
    assert "Note 7 for 1 November 2026 to 2 November 2026 (stream Lobby) changed: " in text
    assert "first day from 31 October 2026 to 1 November 2026" in text
    assert "1er novembre 2026" in browser.get(address_of(stream), headers={"accept-language": "fr"}).content.decode()


def test_an_organisation_s_log_is_by_the_clock_of_its_streams(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(time_zone="Asia/Tokyo")
    at = OrganisationEntry.objects.filter(organisation=stream.organisation).latest("number").at
    text = sign_in(owner).get(f"/organisations/{stream.organisation_id}/audit/").content.decode()
    assert "times are by the clock of Asia/Tokyo." in text
    assert f"{at.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M:%S}</time>" in text


def test_every_action_has_a_sentence(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    """Also one that a later release writes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (stream_id, actor, action, detail) VALUES (%s, 'odd', 'something.else', '{}')",
            [stream.pk],
        )
    assert "something.else" in sign_in(owner).get(address_of(stream)).content.decode()


def test_older_entries_are_on_further_pages(
    sign_in: SignIn, owner: Account, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "ROWS", 2)
    browser = sign_in(owner)
    for days in range(3):
        change(browser, stream, retention_days=str(366 + days))
    first = browser.get(address_of(stream)).content.decode()
    assert "?before=4" in first
    assert "from 366 to 367" in first
    second = browser.get(address_of(stream), {"before": "4"}).content.decode()
    assert "from 365 to 366" in second
    assert "from 366 to 367" not in second
    assert browser.get(address_of(stream), {"before": "x"}).status_code == 200


def test_a_broken_log_is_shown_as_broken(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    assert "The log is unbroken: 2 entries checked." in browser.get(address_of(stream), {"check": "1"}).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE audit_entry SET actor = 'account:0' WHERE number = 2")
        cursor.execute("SET session_replication_role = origin")
    assert "Entry 2 was changed" in browser.get(address_of(stream), {"check": "1"}).content.decode()


def test_the_log_is_downloaded_as_a_file_that_can_be_checked(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    change(browser, stream, name='Lobby, left; "the" one')
    answer = browser.get(address_of(stream, "audit/file"))
    lines = answer.content.decode().splitlines(keepends=True)
    entries = list(read_json_lines(lines))
    assert entries == list(list_entries(stream.pk))
    assert check_chain(entries).fault == ""
    table = browser.get(address_of(stream, "audit/file"), {"form": "csv"})
    text = table.content.decode()
    assert text.splitlines()[0].startswith("stream_id,number,at,role,actor,action,detail")
    assert len(text.splitlines()) == len(entries) + 1
