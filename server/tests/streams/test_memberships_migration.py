"""A database of the release before becomes one with organisations: each account sees what it saw, tokens work."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from console_role import grant_again
from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation
from onlooker.console.streams.access import visible_streams
from onlooker.console.tokens.issuance import find_token_subject
from onlooker.database import load_queries
from onlooker.streams.administration import create_stream
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import MemberRole, Membership, Organisation, Site, Stream

BEFORE = [
    ("streams", "0013_groups"),
    ("members", "0001_initial"),
    ("audit", "0001_initial"),
    ("notices", "0001_initial"),
]
STREAMS, OWNERS, VIEWERS, LONG_S = 200, 20, 30, 30.0
PASSWORD = "one for all of them"

pytestmark = pytest.mark.django_db(transaction=True)

FILL = """
INSERT INTO accounts_account (id, password, is_superuser, email, is_staff, is_active, created_at)
SELECT number, '!', false, 'person' || number || '@example.org', false, true, now() - interval '1 year'
FROM generate_series(1, %(owners)s + %(viewers)s) number;
SELECT setval(pg_get_serial_sequence('accounts_account', 'id'), %(owners)s + %(viewers)s);
INSERT INTO streams_stream (id, owner_id, name, client_id, kind, enabled, created_at)
SELECT number, 1 + number %% %(owners)s, 'Door ' || number, gen_random_uuid(), 'enterprise', true, now()
FROM generate_series(1, %(streams)s) number;
SELECT setval(pg_get_serial_sequence('streams_stream', 'id'), greatest(%(streams)s, 1));
INSERT INTO streams_accesstoken (stream_id, sha256, created_at) SELECT id, %(sha256)s, now() FROM streams_stream;
"""
SHARE = """
INSERT INTO streams_member (stream_id, account_id, created_at)
SELECT stream.id, %(owners)s + 1 + viewer %% %(viewers)s, now() - interval '1 day'
FROM streams_stream stream, generate_series(0, stream.id %% 4) viewer
WHERE stream.id %% 3 > 0;
INSERT INTO members_invitation (id, stream_id, email, invited_at, expires_at)
SELECT gen_random_uuid(), id, 'new' || id %% 5 || '@example.org', now(), now() + interval '3 days'
FROM streams_stream WHERE id %% 7 = 0;
INSERT INTO members_invitation (id, stream_id, email, invited_at, expires_at)
SELECT gen_random_uuid(), id, 'late@example.org', now(), now() - interval '1 day' FROM streams_stream WHERE id %% 5 = 0;
"""
SEEN = "SELECT owner_id, id FROM streams_stream UNION SELECT account_id, stream_id FROM streams_member"


def execute(query: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def release_before() -> Iterator[list[tuple[str, str]]]:
    """At its tables; whatever happens, at the newest ones afterwards."""
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate(BEFORE)
    try:
        yield newest
    finally:
        migrate(newest)


def migrate(targets: list[tuple[str, str]]) -> None:
    MigrationExecutor(connection).migrate(targets)
    grant_again()


def fill_quietly(streams: int) -> None:
    """Without an entry in a log for each row: that takes longer than what is measured."""
    tables = ("streams_stream", "streams_accesstoken", "streams_member", "members_invitation")
    for table in tables:
        execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    fill(streams)
    for table in tables:
        execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def fill(streams: int = STREAMS) -> None:
    values = {"owners": OWNERS, "viewers": VIEWERS, "streams": streams, "sha256": hash_access_token(PASSWORD)}
    for statement in (FILL + SHARE).strip().split(";\n"):
        execute(statement.rstrip(";"), **values)


def seen_now() -> set[tuple[int, int]]:
    return {
        (account.pk, number)
        for account in Account.objects.all()
        for number in visible_streams(account).values_list("pk", flat=True)
    }


def test_each_account_sees_what_it_saw_and_its_tokens_work(release_before: list[tuple[str, str]]) -> None:
    fill()
    saw = set(execute(SEEN))
    invited = {
        (email, number)
        for email, number in execute("SELECT email, stream_id FROM members_invitation WHERE expires_at > now()")
    }
    links = {key for (key,) in execute("SELECT id FROM members_invitation WHERE expires_at > now()")}
    migrate(release_before)
    assert seen_now() == saw
    assert set(execute(SEEN)) == saw, "as processes of the release before read it"
    assert Organisation.objects.count() == OWNERS
    assert Membership.objects.filter(role=MemberRole.OWNER).count() == OWNERS
    assert not Stream.objects.filter(organisation=None).exists()
    waiting = Invitation.objects.all()
    assert {one.pk for one in waiting} == links, "links in mails go on to work"
    assert {
        (one.email, number)
        for one in waiting
        for number in Stream.objects.filter(site__in=one.site_links.values("site")).values_list("pk", flat=True)
    } == invited
    check_tokens(saw)
    assert execute("SELECT count(*) FROM audit_entry WHERE action = 'stream.changed'") == [(0,)]


def check_tokens(saw: set[tuple[int, int]]) -> None:
    """With each Password for each account that saw the stream, and for one that did not; tokens of before as well."""
    before = time.time() - 3600
    bearer = load_queries("onlooker.streams")["find_bearer"]
    emails = dict(Account.objects.values_list("pk", "email"))
    for stream in Stream.objects.all()[::9]:
        credential = stream.access_tokens.get().pk
        for account_id, email in emails.items():
            found = find_token_subject(email, client_id=str(stream.client_id), access_token=PASSWORD)
            assert (found is not None) == ((account_id, stream.pk) in saw)
            rows = execute(bearer, user_id=account_id, credential=credential, client_id=stream.client_id)
            assert len(rows) == ((account_id, stream.pk) in saw)
            assert all(since < before for *_, since in rows)


def test_streams_with_the_same_people_share_a_site(release_before: list[tuple[str, str]]) -> None:
    fill(streams=0)
    add = """INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)
             VALUES (1, %(name)s, gen_random_uuid(), 'developer', true, now()) RETURNING id"""
    one, two, three, four = (execute(add, name=name)[0][0] for name in ("One", "Two", "Three", "Four"))
    share = "INSERT INTO streams_member (stream_id, account_id, created_at) VALUES (%(stream)s, %(account)s, now())"
    for stream, account in ((one, 21), (two, 21), (three, 21), (three, 22)):
        execute(share, stream=stream, account=account)
    migrate(release_before)
    assert {site.name: set(site.streams.values_list("name", flat=True)) for site in Site.objects.all()} == {
        "One and 1 more": {"One", "Two"},
        "Three": {"Three"},
    }
    assert Stream.objects.get(pk=four).site is None
    assert Membership.objects.get(account=21).site_links.count() == 2


def test_ten_thousand_streams_take_seconds(release_before: list[tuple[str, str]]) -> None:
    fill_quietly(streams=10_000)
    began = time.monotonic()
    migrate([("audit", "0002_organisations")])
    took_s = time.monotonic() - began
    print(f"10,000 streams were migrated in {took_s:.1f} s")
    assert took_s < LONG_S
    assert Stream.objects.exclude(organisation=None).count() == 10_000


def test_a_process_of_the_release_before_creates_and_removes_a_stream(db: None) -> None:
    """It knows an owner, and nothing of organisations."""
    account = Account.objects.create_user("owner@example.org")
    made = execute(
        """INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)
           VALUES (%(owner)s, 'Old', gen_random_uuid(), 'developer', true, now()) RETURNING id""",
        owner=account.pk,
    )[0][0]
    assert list(visible_streams(account).values_list("name", flat=True)) == ["Old"]
    new = create_stream("New", owner=account, kind="developer").stream
    assert execute("SELECT owner_id FROM streams_stream WHERE id = %(id)s", id=new.pk) == [(account.pk,)]
    execute("DELETE FROM streams_member WHERE stream_id = %(id)s", id=made)
    execute("UPDATE streams_stream SET removed_at = now(), owner_id = NULL, name = '' WHERE id = %(id)s", id=made)
    assert Stream.objects.get(pk=made).organisation is None
    other = Account.objects.create_user("other@example.org")
    Membership.objects.create(organisation=new.organisation, account=other, role=MemberRole.OWNER)
    Membership.objects.get(account=account).delete()
    assert execute("SELECT owner_id FROM streams_stream WHERE id = %(id)s", id=new.pk) == [(other.pk,)]
