"""What staff decides holds, changes nothing beside it, and leaves no names in the log."""

from collections.abc import Callable

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client

from forms import fields_of
from onlooker.console.accounts.deletion import erase_account
from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Customer, Subscription
from onlooker.database import load_queries
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def door(staff: Account, sign_in: SignIn) -> Client:
    """A browser of somebody who may enter."""
    add_second_factor(staff)
    return sign_in(staff)


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Lobby", owner=owner, kind="developer").stream


def page_of(row: Account | Stream) -> str:
    return f"/staff/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"


def is_enabled(stream: Stream) -> bool:
    """As a gateway reads it."""
    with connection.cursor() as cursor:
        values = {"client_id": stream.client_id, "month": "2026-01-01"}
        cursor.execute(load_queries("onlooker.streams")["find_stream"], values)
        columns = [column.name for column in cursor.description or ()]
        return bool(dict(zip(columns, cursor.fetchone(), strict=True))["enabled"])


def states_of(stream: Stream) -> list[str]:
    return list(stream.state_changes.order_by("id").values_list("state", flat=True))


def test_the_switch_of_a_stream_is_its_owners(door: Client, stream: Stream) -> None:
    assert "enabled" not in fields_of(door.get(page_of(stream)))
    door.post(page_of(stream), {"kind": "developer"})  # a box that is not ticked is not sent
    assert Stream.objects.get().enabled


def test_a_disabled_accounts_streams_stop_whatever_its_owner_set(door: Client, stream: Stream, owner: Account) -> None:
    assert is_enabled(stream)
    assert "Streams refuse all frames while no owner" in door.get(page_of(owner)).content.decode()
    door.post(page_of(owner), {})
    assert not is_enabled(stream)
    door.post(page_of(owner), {"is_active": "on"})
    assert is_enabled(stream)
    assert states_of(stream) == ["enabled", "disabled", "enabled"]


def test_a_stream_with_a_subscription_keeps_its_kind(door: Client, stream: Stream, owner: Account) -> None:
    assert "kind" in fields_of(door.get(page_of(stream)))
    Stream.objects.update(kind="enterprise")
    Subscription.objects.create(stream=stream, customer=Customer.objects.create(account=owner))
    page = door.get(page_of(stream))
    assert "Its kind depends on its subscription" in page.content.decode()
    assert "kind" not in fields_of(page)
    door.post(page_of(stream), {"kind": "developer"})
    assert Stream.objects.get().kind == "enterprise"


def test_the_log_keeps_neither_address_nor_name(door: Client, stream: Stream, owner: Account) -> None:
    door.post(page_of(owner), {"is_active": "on", "is_staff": "on"})
    door.post(page_of(stream), {"kind": "enterprise"})
    door.post("/staff/accounts/account/add/", {"email": "new@example.org"})
    assert LogEntry.objects.count() == 3
    assert door.get(f"/staff/accounts/account/{owner.pk}/history/").status_code == 200
    erase_account(Account.objects.get(pk=owner.pk))
    kept = " ".join(f"{entry.object_repr} {entry.change_message}" for entry in LogEntry.objects.all())
    for name in ("owner@example.org", "new@example.org", "Lobby"):
        assert name not in kept
    assert '"Kind"' in kept


def test_saving_an_account_without_a_change_writes_nothing(
    door: Client, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[object] = []
    monkeypatch.setattr(Account, "save", lambda account, **named: saved.append(named))
    assert door.post(page_of(owner), {"is_active": "on"}).status_code == 302
    assert saved == []


def test_an_old_page_changes_only_what_was_touched_in_it(door: Client, stream: Stream, owner: Account) -> None:
    old_account, old_stream = fields_of(door.get(page_of(owner))), fields_of(door.get(page_of(stream)))
    Account.objects.filter(pk=owner.pk).update(is_active=False)
    Stream.objects.update(kind="enterprise")
    assert door.post(page_of(owner), old_account | {"is_staff": "on"}).status_code == 302
    assert door.post(page_of(stream), old_stream).status_code == 302
    changed = Account.objects.get(pk=owner.pk)
    assert (changed.is_active, changed.is_staff) == (False, True)
    assert Stream.objects.get().kind == "enterprise"
