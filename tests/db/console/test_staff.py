"""Staff finds accounts, streams, use and jobs, grants and switches off, and sees no secret."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from memberships import invite_to, owner_of, share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.staff.accounts import ABOUT
from onlooker.console.staff.names import COLUMNS, TABLES
from onlooker.console.staff.site import MODEL_ADMINS
from onlooker.gateway.models import Job, ListedWorker
from onlooker.streams.administration import NewStream, create_stream, remove_stream
from onlooker.streams.models import AccessToken, StateChange, Stream, Usage
from onlooker.streams.state import State
from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]
LISTS = {
    *("accounts/account", "streams/stream", "streams/usage", "streams/organisation", "streams/membership"),
    *("members/invitation", "gateway/job", "gateway/listedworker"),
}
HIDDEN = "gFz7-this-is-secret"


@pytest.fixture
def door(staff: Account, sign_in: SignIn) -> Client:
    """A browser of somebody who may enter."""
    add_second_factor(staff)
    return sign_in(staff)


@pytest.fixture
def made(owner: Account, viewer: Account) -> NewStream:
    """A stream with something in every table that staff sees."""
    made = create_stream("Lobby", owner=owner, kind="developer")
    share_stream(made.stream, viewer)
    invite_to(made.stream, "new@example.org")
    Usage.objects.create(
        stream=made.stream, month=timezone.now().date().replace(day=1), video_s=5400, last_frame_at=timezone.now()
    )
    add_job(made.stream)
    add_worker("worker-1")
    return made


def add_job(stream: Stream, **values: object) -> Job:
    now = timezone.now()
    times = {"accepted_at": now, "deadline_at": now + timedelta(minutes=10), "expires_at": now + timedelta(days=1)}
    texts = {"service": "measure", "version": 1, "request_id": "r", "session": f"s.{HIDDEN}", "attachments": [HIDDEN]}
    content = {"params": HIDDEN.encode(), "result": HIDDEN.encode()}
    return Job.objects.create(job_id=uuid.uuid4(), stream=stream, **times | texts | content | values)


def add_worker(name: str, *, confined: bool = True, silent_s: float = 0) -> ListedWorker:
    seen_at = timezone.now() - timedelta(seconds=silent_s)
    services = ["face_detection-1", "scene_analysis-1"]
    return ListedWorker.objects.create(
        instance=f"instance-of-{name}",
        name=name,
        version="0.1.0",
        services=services,
        confined=confined,
        seen_at=seen_at,
    )


def rows_in(answer) -> list[object]:
    return list(answer.context["cl"].result_list)


def test_only_what_is_meant_to_be_seen_is_registered() -> None:
    assert {f"{model._meta.app_label}/{model._meta.model_name}" for model in admin.site._registry} == LISTS


def test_names_of_tables_and_columns_can_be_translated() -> None:
    named_by_django = {"last login", "email address"}
    for model, model_admin in MODEL_ADMINS.items():
        shown = {*model_admin.list_display, *(model_admin.fields or ABOUT)}
        columns = {str(field.verbose_name) for field in model._meta.fields if field.name in shown}
        assert columns <= {*COLUMNS, *TABLES} | named_by_django
        assert {str(model._meta.verbose_name), str(model._meta.verbose_name_plural)} <= set(TABLES)


def test_usage_is_called_what_it_is(door: Client, made: NewStream) -> None:
    index, table = (door.get(path).content.decode() for path in ("/staff/", "/staff/streams/usage/"))
    assert ">Months of usage</a>" in index
    assert "1 month of usage" in table
    assert "usages" not in (index + table).lower()
    assert ">Nutzungsmonate</a>" in door.get("/staff/", headers={"accept-language": "de"}).content.decode()


def test_staff_sees_each_list_and_each_page(door: Client, made: NewStream) -> None:
    assert door.get("/staff/").status_code == 200
    for path in LISTS:
        answer = door.get(f"/staff/{path}/")
        assert answer.status_code == 200, path
        assert rows_in(answer), path
        page = door.get(f"/staff/{path}/{rows_in(answer)[0].pk}/change/")
        assert page.status_code == 200, path


@pytest.mark.parametrize("who", ["nobody", "owner", "staff without a second factor"])
def test_nobody_else_gets_in(made: NewStream, staff: Account, sign_in: SignIn, who: str) -> None:
    account = {"nobody": None, "owner": owner_of(made.stream)}.get(who, staff)
    browser = sign_in(account)
    for path in ("", *(f"{name}/" for name in LISTS), f"streams/stream/{made.stream.pk}/change/"):
        answer = browser.get(f"/staff/{path}", follow=True)
        assert answer.status_code == 404 or not answer.request["PATH_INFO"].startswith("/staff/")
        assert "Lobby" not in answer.content.decode()


def test_nothing_can_be_deleted_here(door: Client, made: NewStream, owner: Account) -> None:
    for path, row in (("accounts/account", owner), ("streams/stream", made.stream), ("gateway/job", Job.objects.get())):
        assert door.post(f"/staff/{path}/{row.pk}/delete/", {"post": "yes"}).status_code == 403
        door.post(f"/staff/{path}/", {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert (Account.objects.filter(pk=owner.pk).count(), Stream.objects.count(), Job.objects.count()) == (1, 1, 1)


def test_granting_enterprise_is_logged_and_lifts_the_quota(door: Client, made: NewStream, settings) -> None:
    Usage.objects.update(video_s=settings.ONLOOKER.developer_quota_s + 1)
    StateChange.objects.create(stream=made.stream, state=State.QUOTA)
    url = f"/staff/streams/stream/{made.stream.pk}/change/"
    assert door.post(url, {"kind": "enterprise", "enabled": "on", "name": "Hacked"}).status_code == 302
    stream = Stream.objects.get()
    assert (stream.kind, stream.enabled, stream.name) == ("enterprise", True, "Lobby")
    assert StateChange.objects.order_by("-id").first().state == State.ENABLED
    assert "Changed Kind" in LogEntry.objects.get().get_change_message()


def test_a_stream_that_is_being_removed_stays_as_it_is(door: Client, made: NewStream) -> None:
    remove_stream(made.stream)
    url = f"/staff/streams/stream/{made.stream.pk}/change/"
    assert door.get(url).status_code == 200
    assert door.post(url, {"kind": "enterprise"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "term", "found"),
    [
        ("accounts/account", "OWNER@", 1),
        ("accounts/account", "wner@", 0),
        ("streams/stream", "lob", 1),
        ("streams/stream", "owner@example.org", 1),
        ("streams/stream", "viewer@example.org", 0),
        ("streams/stream", "<client_id>", 1),
        ("streams/usage", "<client_id>", 1),
        ("streams/usage", "owner@", 1),
        ("gateway/job", "<job_id>", 1),
        ("gateway/job", "measure", 0),
        ("streams/membership", "viewer@", 1),
        ("members/invitation", "new@", 1),
    ],
)
def test_searching_finds_it(door: Client, made: NewStream, path: str, term: str, found: int) -> None:
    ids = {"<client_id>": str(made.stream.client_id), "<job_id>": str(Job.objects.get().job_id)}
    answer = door.get(f"/staff/{path}/", {"q": ids.get(term, term)})
    assert len(rows_in(answer)) == found


def test_use_and_last_frame_stand_beside_a_stream(door: Client, made: NewStream) -> None:
    assert "1 h 30 min" in door.get("/staff/streams/stream/").content.decode()
    Usage.objects.all().delete()
    assert "0 h 0 min" in door.get("/staff/streams/stream/").content.decode()


def test_jobs_are_counted_and_found_by_state(door: Client, made: NewStream) -> None:
    now = timezone.now()
    jobs = {
        "waiting": Job.objects.get(),
        "leased": add_job(made.stream, leased_until=now + timedelta(minutes=1)),
        "overdue": add_job(made.stream, deadline_at=now - timedelta(seconds=1)),
        "finished": add_job(made.stream, finished_at=now),
    }
    page = door.get("/staff/gateway/job/").content.decode()
    for state, job in jobs.items():
        assert f"{state} (1)" in page
        assert rows_in(door.get("/staff/gateway/job/", {"state": state})) == [job]


def test_live_workers_are_shown_with_their_services(door: Client) -> None:
    live = add_worker("worker-1")
    add_worker("worker-2", silent_s=60)
    answer = door.get("/staff/gateway/listedworker/")
    assert rows_in(answer) == [live]
    for word in ("worker-1", "0.1.0", "face_detection-1, scene_analysis-1", ">Yes<"):
        assert word in answer.content.decode()
    assert "not confined" not in door.get("/staff/").content.decode()


def test_a_worker_that_is_not_confined_is_warned_of_while_it_is_live(door: Client) -> None:
    worker = add_worker("worker-1", confined=False)
    assert "A worker is not confined" in door.get("/staff/").content.decode()
    for path in ("", f"{worker.pk}/change/"):
        page = door.get(f"/staff/gateway/listedworker/{path}").content.decode()
        assert "Set ONLOOKER_CONFINEMENT=on" in page, path
    ListedWorker.objects.update(seen_at=timezone.now() - timedelta(minutes=1))
    assert "A worker is not confined" not in door.get("/staff/").content.decode()


def test_an_account_can_be_switched_off_and_is_out_at_once(door: Client, owner: Account, sign_in: SignIn) -> None:
    theirs = sign_in(owner)
    assert theirs.get("/streams/").status_code == 200
    url = f"/staff/accounts/account/{owner.pk}/change/"
    assert door.post(url, {}).status_code == 302  # a box that is not ticked is not sent
    owner.refresh_from_db()
    assert (owner.is_active, owner.email, owner.check_password("correct horse battery staple")) == (
        False,
        "owner@example.org",
        True,
    )
    assert theirs.get("/streams/").status_code == 302


def test_only_a_superuser_makes_others_staff_and_nobody_locks_itself_out(
    door: Client, staff: Account, owner: Account
) -> None:
    mine, theirs = (f"/staff/accounts/account/{one.pk}/change/" for one in (staff, owner))
    assert door.post(mine, {}).status_code == 403
    assert door.post(theirs, {"is_active": "on", "is_staff": "on"}).status_code == 302
    assert Account.objects.get(pk=owner.pk).is_staff
    Account.objects.filter(pk=staff.pk).update(is_superuser=False)
    Account.objects.filter(pk=owner.pk).update(is_staff=False)
    assert door.post(theirs, {"is_active": "on", "is_staff": "on", "is_superuser": "on"}).status_code == 302
    changed = Account.objects.get(pk=owner.pk)
    assert (changed.is_staff, changed.is_superuser) == (False, False)


def test_staff_makes_an_account_whose_owner_chooses_the_password(door: Client) -> None:
    assert door.post("/staff/accounts/account/add/", {"email": "New@Example.org"}).status_code == 302
    made = Account.objects.get(email="new@example.org")
    assert not made.has_usable_password()
    assert (made.is_staff, made.is_superuser) == (False, False)
    assert not EmailAddress.objects.get(user=made).verified
    again = door.post("/staff/accounts/account/add/", {"email": "NEW@example.org"})
    assert "already" in again.content.decode()


def test_staffs_pages_wear_the_consoles_clothes(door: Client, made: NewStream, owner: Account) -> None:
    paths = ["/staff/", *(f"/staff/{name}/" for name in LISTS), f"/staff/accounts/account/{owner.pk}/change/"]
    paths += ["/staff/accounts/account/add/", f"/staff/streams/stream/{made.stream.pk}/history/"]
    for path in paths:
        page = door.get(path).content.decode()
        assert "console/console.css" in page, path
        assert '<nav aria-label="Main">' in page, path
        assert "admin/css/" not in page, path
        assert "<script>" not in page, path


def test_each_cell_of_a_staff_list_says_what_it_is(door: Client, made: NewStream) -> None:
    page = door.get("/staff/streams/stream/").content.decode()
    assert '<td data-label="Client id" class="field-client_id">' in page
    assert '<td data-label="Used this month" class="field-used_this_month' in page
    assert 'aria-current="true">All</a>' in page


def test_a_staff_list_says_how_it_is_sorted(door: Client, made: NewStream) -> None:
    page = door.get("/staff/accounts/account/?o=-3").content.decode()
    assert '<th scope="col" aria-sort="descending"><a href="?o=3">Created at</a></th>' in page


def test_staffs_pages_write_times_with_24_hours(door: Client, made: NewStream) -> None:
    Stream.objects.update(created_at=datetime(2026, 11, 14, 20, 59, tzinfo=UTC))
    Usage.objects.update(last_frame_at=datetime(2026, 11, 15, 20, 59, tzinfo=UTC))
    for path in ("/staff/streams/stream/", "/staff/streams/usage/", f"/staff/streams/stream/{made.stream.pk}/change/"):
        for language in ("en-GB", "en-US,en;q=0.5"):
            page = door.get(path, headers={"accept-language": language}).content.decode()
            assert "20:59" in page, path
            assert "8:59" not in page.replace("18:59", ""), path


def test_no_page_shows_a_secret(door: Client, made: NewStream, owner: Account) -> None:
    add_second_factor(owner)
    stored = [bytes(AccessToken.objects.get().sha256).hex(), made.access_token, owner.password, HIDDEN]
    stored += [one.data["secret"] for one in Authenticator.objects.all()]
    stored += [str(door.session.session_key), repr(bytes(AccessToken.objects.get().sha256))]
    for path in LISTS:
        answer = door.get(f"/staff/{path}/")
        pages = [answer] + [door.get(f"/staff/{path}/{row.pk}/change/") for row in rows_in(answer)]
        pages += [door.get(f"/staff/{path}/{row.pk}/history/") for row in rows_in(answer)]
        for page in pages:
            for secret in stored:
                assert secret not in page.content.decode(), f"{path} shows {secret}"
