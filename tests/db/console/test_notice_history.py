"""What held when: every change that documents follow leaves a row, and its documents can be shown again."""

import re
from collections.abc import Callable
from dataclasses import asdict, fields

import psycopg
import pytest
from django.db import connection
from django.test import Client

from onlooker.console.accounts.models import Account
from onlooker.console.notices.facts import (
    DETAILS,
    SETTINGS,
    ComputedFacts,
    ControllerFacts,
    computed_facts,
    controller_facts,
    decode_held,
    find_details,
)
from onlooker.console.notices.history import DETAIL_NAMES, SETTING_NAMES, read_history
from onlooker.console.notices.models import NoticeDetails, NoticeVersion
from onlooker.console.streams.purge import purge_removed_streams
from onlooker.database_roles.creation import make_logins
from onlooker.database_roles.grants import CONSOLE
from onlooker.settings import Settings
from onlooker.streams.administration import create_stream, remove_stream, set_stream
from onlooker.streams.models import Stream
from testkit import migrated_database

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


def versions(stream: Stream) -> list[NoticeVersion]:
    return list(NoticeVersion.objects.filter(stream=stream).order_by("id"))


CHANGES = {
    "enabled": False,
    "reads_age": False,
    "reads_gender": False,
    "reads_expression": True,
    "compute": "device",
    "retention_days": 30,
    "reads_faces": False,
    "groups_of": 5,
    "hours": "mo-fr 09:00-18:30",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_a_switch_leaves_a_row(stream: Stream, name: str) -> None:
    before = len(versions(stream))
    set_stream(str(stream.client_id), {name: CHANGES[name]}, quota_s=60)
    stream.refresh_from_db()
    newest = versions(stream)[before:]
    assert [version.held[name] for version in newest] == [CHANGES[name]]
    assert decode_held(newest[0].held, ComputedFacts) == computed_facts(stream)


def test_whichever_way_it_is_changed(stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(reads_expression=True)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE streams_stream SET retention_days = 7 WHERE id = %s", [stream.pk])
    assert [version.held["retention_days"] for version in versions(stream)] == [365, 365, 7]


def test_other_changes_and_the_same_value_again_leave_none(stream: Stream) -> None:
    before = len(versions(stream))
    set_stream(str(stream.client_id), {"name": "Back door", "reads_age": True, "time_zone": "UTC"}, quota_s=60)
    assert len(versions(stream)) == before


@pytest.mark.django_db
def test_all_members_are_switches_that_the_trigger_keeps() -> None:
    """A setting that documents follow is in the dataclass, in the trigger and has a name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'notices_keep'"
        )
        kept = {table: re.findall(r"'(\w+)'", text)[1:] for table, text in cursor.fetchall()}
    assert set(kept[SETTINGS]) == {field.name for field in fields(ComputedFacts)} == set(SETTING_NAMES) == set(CHANGES)
    assert set(kept[DETAILS]) == {field.name for field in fields(ControllerFacts)} == set(DETAIL_NAMES)


def test_details_that_are_entered_leave_a_row(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    told = {"controller": "Corner Shop", "contact": "privacy@example.org", "legal_basis": "interests"}
    assert sign_in(owner).post(f"/streams/{stream.client_id}/notices/details/", told).status_code == 302
    newest = versions(stream)[-1]
    assert newest.subject == DETAILS
    assert decode_held(newest.held, ControllerFacts) == controller_facts(find_details(stream))
    assert asdict(controller_facts(find_details(stream)))["controller"] == "Corner Shop"
    changed = {change.name: change.after for change in read_history(stream)[0].changes}
    assert changed == {"Controller": "Corner Shop", "Contact": "privacy@example.org", "Legal basis": "interests"}


def test_the_public_page_is_no_part_of_the_history(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    before = len(versions(stream))
    for state in ("on", "off"):
        sign_in(owner).post(f"/streams/{stream.client_id}/notices/public/", {"is_public": state})
    assert len(versions(stream)) == before
    sign_in(owner).post(f"/streams/{stream.client_id}/notices/details/", {"controller": "Corner Shop"})
    assert len(versions(stream)) == before + 1


def test_the_history_says_what_changed(stream: Stream) -> None:
    set_stream(str(stream.client_id), {"reads_expression": True, "retention_days": 90}, quota_s=60)
    newest, first = read_history(stream)
    assert first.is_first
    assert not newest.is_first
    assert [(one.name, one.before, one.after) for one in newest.changes] == [
        ("Expression", "off", "on"),
        ("Days that visits are kept", "365", "90"),
    ]


def test_documents_of_an_earlier_moment_are_shown_again(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    url, browser = f"/streams/{stream.client_id}/notices", sign_in(owner)
    browser.post(f"{url}/details/", {"controller": "Corner Shop"})
    then = versions(stream)[-1].pk
    names = ("sign", "record", "assessment", "models")
    pages = {name: browser.get(f"{url}/{name}/").content.decode() for name in names}
    changes: dict[str, object] = {"reads_age": False, "reads_expression": True, "compute": "device"}
    set_stream(str(stream.client_id), changes, quota_s=60)
    browser.post(f"{url}/details/", {"controller": "Another Shop"})
    for name, before in pages.items():
        now = browser.get(f"{url}/{name}/").content.decode()
        again = browser.get(f"{url}/{name}/?version={then}").content.decode()
        assert article_of(again) == article_of(before)
        assert article_of(now) != article_of(before)
        assert "not what holds now" in again
        assert "not what holds now" not in now


def article_of(page: str) -> str:
    return page[page.index("<article") : page.rindex("</article>")]


def test_another_streams_version_is_not_there(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    other = create_stream("Back door", owner=owner, kind="developer").stream
    foreign = versions(other)[0].pk
    for version in (str(foreign), "0", "-1", "x", "9" * 40, "²"):
        answer = sign_in(owner).get(f"/streams/{stream.client_id}/notices/record/", {"version": version})
        assert answer.status_code == 404, version


def test_a_removed_stream_leaves_nothing(stream: Stream) -> None:
    NoticeDetails.objects.create(stream=stream, controller="Corner Shop")
    remove_stream(stream)
    Stream.objects.filter(pk=stream.pk).update(removed_at="2026-01-01T00:00:00Z")
    purge_removed_streams()
    assert not Stream.objects.filter(pk=stream.pk).exists()
    assert not NoticeVersion.objects.filter(stream_id=stream.pk).exists()
    assert not NoticeDetails.objects.filter(stream_id=stream.pk).exists()


def test_the_console_may_change_a_switch_but_not_the_history(tmp_path: object) -> None:
    with migrated_database() as url, psycopg.connect(url, autocommit=True) as owner:
        made, refused = make_logins(owner, Settings(home=str(tmp_path), database_url=url))
        assert not refused
        account = owner.execute(
            "INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)"
            " VALUES ('!', false, 'a@example.org', false, true, now()) RETURNING id"
        ).fetchone()
        assert account
        with psycopg.connect(made.urls[CONSOLE], autocommit=True) as console:
            console.execute(
                "INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)"
                " VALUES (%s, 'x', gen_random_uuid(), 'developer', true, now())",
                account,
            )
            console.execute("UPDATE streams_stream SET reads_expression = true")
            rows = console.execute("SELECT held ->> 'reads_expression' FROM notices_noticeversion ORDER BY id")
            assert rows.fetchall() == [("false",), ("true",)]
            for forbidden in (
                "UPDATE notices_noticeversion SET at = now()",
                "INSERT INTO notices_noticeversion (stream_id, subject, held) SELECT id, 'x', '{}' FROM streams_stream",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    console.execute(forbidden.encode())
