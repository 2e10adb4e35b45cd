"""Streams, sites and tags by the management interface: what the console's pages do, a program can do."""

from typing import Any

import msgspec
import pytest

from api_programs import ApiProgram, program_of
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.credentials import hash_access_token
from onlooker.streams.models import AccessToken, Site, Stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]


@pytest.fixture
def manager(owner: Account) -> ApiProgram:
    return program_of(organisation_of(owner), "manage", role="manager")


def test_a_stream_is_created_read_changed_and_removed(manager: ApiProgram) -> None:
    site = manager.do("POST", "sites", {"name": "Lyon", "time_zone": "Europe/Paris", "hours": "mo-fr 09:00-18:00"})
    body = {"name": "Window", "site": site["id"], "preset": "audience", "notice_given": True, "tags": ["north", "new"]}
    created = manager.do("POST", "streams", body)
    stream = created["stream"]
    assert (stream["name"], stream["site"], stream["tags"]) == ("Window", site["id"], ["new", "north"])
    assert (stream["time_zone"], stream["hours"]) == ("Europe/Paris", "mo-fr 09:00-18:00")
    assert (stream["groups_of"], stream["retention_days"], stream["reads_expression"]) == (5, 90, False)
    assert stream["notice_given_at"]
    assert stream["created_at"].endswith("Z")
    assert stream["last_frame_at"] is None
    token = AccessToken.objects.get(stream__client_id=stream["client_id"])
    assert bytes(token.sha256) == hash_access_token(created["access_token"])
    path = f"streams/{stream['client_id']}"
    assert manager.do("GET", path) == stream
    changed = manager.do("PATCH", path, {"site": None, "tags": ["north"], "retention_days": 30, "audit_days": 40})
    assert changed == stream | {"site": None, "tags": ["north"], "retention_days": 30, "audit_days": 40}
    assert manager.do("GET", "tags")["items"][0] | {"id": 0} == {"id": 0, "name": "north", "streams": 1}
    assert manager.send("DELETE", path).status_code == 204
    assert manager.refusal("GET", path) == (404, "not_found")


def test_what_a_key_did_is_in_the_audit_log_as_the_keys(manager: ApiProgram, owner: Account) -> None:
    created = manager.do("POST", "streams", {"name": "Window", "preset": "counts"})
    manager.do("PATCH", f"streams/{created['stream']['client_id']}", {"name": "Door"})
    stream = Stream.objects.get()
    actors = set(AuditEntry.objects.filter(stream_id=stream.pk).values_list("actor", flat=True))
    key = organisation_of(owner).keys.get()
    assert actors == {f"key:{key.pk}"}


def test_the_password_is_rotated_with_a_grace_time(manager: ApiProgram, owner: Account) -> None:
    stream = create_stream("Window", owner=owner, kind="developer").stream
    told = manager.do("POST", f"streams/{stream.client_id}/access-token", {"grace_hours": 0})
    live = AccessToken.objects.filter(stream=stream, expires_at=None).get()
    assert bytes(live.sha256) == hash_access_token(told["access_token"])
    assert manager.refusal("POST", f"streams/{stream.client_id}/access-token", {"grace_hours": 25})[0] == 400


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "name"),
        ({"name": " ", "preset": "counts"}, "name"),
        ({"name": "A", "nmae": "B"}, "nmae"),
        ({"name": "A", "preset": "audience"}, "notice_given"),
        ({"name": "A", "preset": "everything", "notice_given": True, "place": "school"}, "preset"),
        ({"name": "A", "preset": "counts", "time_zone": "Mars/Base"}, "time_zone"),
        ({"name": "A", "preset": "counts", "hours": "always"}, "hours"),
        ({"name": "A", "preset": "counts", "site": 4711}, "site"),
        ({"name": "A", "preset": "counts", "tags": ["a,b"]}, "tags"),
    ],
)
def test_what_a_form_refuses_is_refused_with_the_name_of_the_field(
    manager: ApiProgram, body: dict[str, Any], word: str
) -> None:
    answer = manager.send("POST", "streams", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert word in answer.json()["detail"]
    assert not Stream.objects.exists()


def test_an_organisation_has_as_many_streams_as_in_the_console(manager: ApiProgram, settings: Any) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, streams_per_account=1)
    manager.do("POST", "streams", {"name": "One", "preset": "counts"})
    assert manager.refusal("POST", "streams", {"name": "Two", "preset": "counts"}) == (409, "conflict")


def test_lists_go_on_with_a_cursor_and_never_show_a_row_twice(manager: ApiProgram, owner: Account) -> None:
    created = [create_stream(f"Stream {number}", owner=owner, kind="developer").stream for number in range(7)]
    seen, cursor = [], ""
    while cursor is not None:
        page = manager.do("GET", f"streams?limit=3&cursor={cursor}")
        seen += [one["name"] for one in page["items"]]
        cursor = page["next"]
        create_stream(f"Later {len(seen)}", owner=owner, kind="developer")
        if len(seen) > 20:
            break
    assert seen[:7] == [stream.name for stream in created]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("query", ["cursor=nonsense", "limit=0", "limit=201", "limit=x", "sort=name", "site=0&site=1"])
def test_parameters_that_mean_nothing_are_refused(manager: ApiProgram, query: str) -> None:
    assert manager.refusal("GET", f"streams?{query}") == (400, "bad_request")


def test_a_cursor_is_for_its_own_list(manager: ApiProgram, owner: Account) -> None:
    for number in range(3):
        create_stream(f"Stream {number}", owner=owner, kind="developer")
    cursor = manager.do("GET", "streams?limit=1")["next"]
    assert manager.refusal("GET", f"sites?cursor={cursor}") == (400, "bad_request")


def test_streams_are_found_by_site_tag_and_part_of_the_name(manager: ApiProgram, owner: Account) -> None:
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    manager.do("POST", "streams", {"name": "Window", "preset": "counts", "site": site.pk, "tags": ["north"]})
    manager.do("POST", "streams", {"name": "Door", "preset": "counts"})

    def names(query: str) -> list[str]:
        return [one["name"] for one in manager.do("GET", f"streams?{query}")["items"]]

    assert names(f"site={site.pk}") == names("tag=north") == names("search=win") == ["Window"]
    assert names("") == ["Window", "Door"]


def test_many_streams_are_changed_after_a_preview(manager: ApiProgram, owner: Account) -> None:
    streams = [create_stream(f"Stream {number}", owner=owner, kind="developer").stream for number in range(3)]
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    body = {"select": {"all": True}, "change": {"site": site.pk, "retention_days": 30, "add_tags": ["north"]}}
    shown = manager.do("POST", "streams/bulk", body | {"preview": True})
    assert (shown["selected"], shown["changed"], shown["deletes_visits"]) == (3, 3, 3)
    assert shown["items"][0]["settings"]["site"] == {"before": None, "after": site.pk}
    assert not Stream.objects.filter(site=site).exists()
    done = manager.do("POST", "streams/bulk", body)
    assert done == shown | {"preview": False}
    assert Stream.objects.filter(site=site, retention_days=30, tag_links__tag__name="north").count() == 3
    assert manager.do("POST", "streams/bulk", body)["changed"] == 0
    body = {"select": {"site": site.pk, "streams": [str(streams[0].client_id)]}, "change": {"site": None}}
    assert manager.do("POST", "streams/bulk", body)["changed"] == 1
    assert manager.refusal("POST", "streams/bulk", {"select": {}, "change": {}}) == (400, "bad_request")


def test_a_key_for_a_site_creates_and_moves_streams_there_alone(owner: Account) -> None:
    organisation = organisation_of(owner)
    here, there = (Site.objects.create(organisation=organisation, name=name) for name in ("Here", "There"))
    limited = program_of(organisation, "manage", sites=[here])
    body = {"name": "Window", "preset": "counts"}
    assert limited.refusal("POST", "streams", body) == (403, "forbidden")
    assert limited.refusal("POST", "streams", body | {"site": there.pk}) == (400, "bad_request")
    stream = limited.do("POST", "streams", body | {"site": here.pk})["stream"]
    path = f"streams/{stream['client_id']}"
    assert limited.refusal("PATCH", path, {"site": there.pk}) == (400, "bad_request")
    assert limited.refusal("PATCH", path, {"site": None}) == (403, "forbidden")
    assert [one["name"] for one in limited.do("GET", "sites")["items"]] == ["Here"]


def test_sites_are_changed_and_removed(manager: ApiProgram) -> None:
    site = manager.do("POST", "sites", {"name": "Lyon"})
    path = f"sites/{site['id']}"
    assert manager.refusal("POST", "sites", {"name": "Lyon"}) == (409, "conflict")
    changed = manager.do("PATCH", path, {"name": "Lyon 2", "address": "1 rue X", "hours": "mo-su 10:00-12:00"})
    assert (
        changed
        == manager.do("GET", path)
        == site
        | {
            "name": "Lyon 2",
            "address": "1 rue X",
            "hours": "mo-su 10:00-12:00",
        }
    )
    assert manager.send("DELETE", path).status_code == 204
    assert manager.do("GET", "sites") == {"items": [], "next": None}
