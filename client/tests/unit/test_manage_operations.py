"""Every operation of the SDK, and what it asks for; the console has no operation and no field that the SDK lacks."""

import dataclasses
import importlib
import importlib.util
import re
from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import Any

import pytest
from management_server import KEY, Asked, Reply, management_server

from onlooker_client import BadArgument, manage
from onlooker_client.manage import Organisation, Selection
from onlooker_client.manage.record_fields import Record

NOW = "2026-11-18T09:00:00Z"
ANY = {
    "id": 7,
    "name": "Lyon",
    "email": "a@example.org",
    "client_id": "c-1",
    "device_id": "d-1",
    "url": "https://hook.example.org",
    "event": "test",
    "access_token": "hunter2",
    "secret": "whsec_hunter2",
    "code": "K7QM-4TRX-9WPH",
    "text": KEY,
    "gateway_url": "https://gateway.example.org",
    "data_url": "https://data.example.org",
    "version": 3,
    "preview": True,
    "selected": 2,
    "changed": 1,
    "created_at": NOW,
}
"""Enough for any record."""
BODY = {**ANY, "enrolment_code": ANY, "key": ANY, "webhook": ANY}
SOME = Selection(["c-1", "c-2"], site=3, tag="front")
SOME_STREAMS = {"streams": ["c-1", "c-2"], "site": 3, "tag": "front"}
SOME_DEVICES = {"devices": ["c-1", "c-2"], "site": 3, "tag": "front"}
Act = Callable[[Organisation], Any]
OPERATIONS: list[tuple[str, Act, Any]] = [
    ("GET organisation", lambda o: o.get(), None),
    ("PATCH organisation", lambda o: o.change(name="Shops"), {"name": "Shops"}),
    ("GET addresses", lambda o: o.addresses(), None),
    ("GET tags", lambda o: list(o.tags), {"limit": "200"}),
    (
        "POST streams/bulk",
        lambda o: o.tags.add("x", SOME),
        {"select": SOME_STREAMS, "change": {"add_tags": ["x"]}, "preview": False},
    ),
    ("GET streams", lambda o: list(o.streams.list(site=3, tag="a b")), {"limit": "200", "site": "3", "tag": "a b"}),
    (
        "POST streams",
        lambda o: o.streams.create("Door", site=3, tags=["x"]),
        {"name": "Door", "site": 3, "tags": ["x"]},
    ),
    ("GET streams/ID", lambda o: o.streams.get("c-1"), None),
    ("PATCH streams/ID", lambda o: o.streams.change("c-1", site=None, hours=""), {"site": None, "hours": ""}),
    ("DELETE streams/ID", lambda o: o.streams.delete("c-1"), None),
    ("POST streams/ID/access-token", lambda o: o.streams.new_password("c-1", grace_hours=0), {"grace_hours": 0}),
    (
        "POST streams/bulk",
        lambda o: o.streams.change_many(SOME, preview=True, site=None),
        {"select": SOME_STREAMS, "change": {"site": None}, "preview": True},
    ),
    ("GET sites", lambda o: list(o.sites), {"limit": "200"}),
    (
        "POST sites",
        lambda o: o.sites.create("Lyon", time_zone="Europe/Paris"),
        {"name": "Lyon", "time_zone": "Europe/Paris"},
    ),
    ("GET sites/ID", lambda o: o.sites.get(7), None),
    ("PATCH sites/ID", lambda o: o.sites.change(7, device_settings={"fps": None}), {"device_settings": {"fps": None}}),
    ("DELETE sites/ID", lambda o: o.sites.delete(7), None),
    ("GET templates", lambda o: list(o.templates), {"limit": "200"}),
    ("POST templates", lambda o: o.templates.create("Window", preset="counts"), {"name": "Window", "preset": "counts"}),
    ("GET templates/ID", lambda o: o.templates.get(7), None),
    ("PATCH templates/ID", lambda o: o.templates.configure(7, {"fps": 5}), {"device_settings": {"fps": 5}}),
    ("DELETE templates/ID", lambda o: o.templates.delete(7), None),
    ("GET enrolment-codes", lambda o: list(o.codes.list(state="open")), {"limit": "200", "state": "open"}),
    (
        "POST enrolment-codes",
        lambda o: o.codes.create(7, site=3, devices=50),
        {"template": 7, "site": 3, "devices": 50},
    ),
    ("GET enrolment-codes/ID", lambda o: o.codes.get(7), None),
    ("POST enrolment-codes/ID/end", lambda o: o.codes.end(7), {}),
    ("GET devices", lambda o: list(o.devices.list(revoked=True)), {"limit": "200", "revoked": "true"}),
    ("GET devices/ID", lambda o: o.devices.get("d-1"), None),
    ("PATCH devices/ID", lambda o: o.devices.configure("d-1", {"fps": 5}), {"settings": {"fps": 5}}),
    ("POST devices/ID/revoke", lambda o: o.devices.revoke("d-1"), {}),
    ("POST devices/ID/replacement", lambda o: o.devices.replace("d-1", life_days=3), {"life_days": 3}),
    ("GET devices/ID/health", lambda o: o.devices.health("d-1"), None),
    ("GET devices/ID/configuration", lambda o: o.devices.configuration("d-1"), None),
    ("POST devices/ID/configuration/again", lambda o: o.devices.offer_again("d-1"), {}),
    (
        "POST device-configurations",
        lambda o: o.devices.configure_many(SOME, {"fps": 5}, preview=True),
        {"select": SOME_DEVICES, "settings": {"fps": 5}, "preview": True},
    ),
    ("GET members", lambda o: list(o.members.list(search="ann")), {"limit": "200", "search": "ann"}),
    ("GET members/ID", lambda o: o.members.get(7), None),
    ("PATCH members/ID", lambda o: o.members.change(7, role="viewer", sites=[3]), {"role": "viewer", "sites": [3]}),
    ("DELETE members/ID", lambda o: o.members.remove(7), None),
    ("GET invitations", lambda o: list(o.members.invitations()), {"limit": "200"}),
    (
        "POST invitations",
        lambda o: o.members.invite("a@example.org", "analyst"),
        {"emails": ["a@example.org"], "role": "analyst"},
    ),
    ("DELETE invitations/ID", lambda o: o.members.withdraw("i-1"), None),
    ("GET keys", lambda o: list(o.keys), {"limit": "200"}),
    (
        "POST keys",
        lambda o: o.keys.create("BI", "numbers", sites=[3], life_days=30),
        {"name": "BI", "scopes": ["numbers"], "sites": [3], "life_days": 30},
    ),
    ("GET keys/ID", lambda o: o.keys.get(7), None),
    ("DELETE keys/ID", lambda o: o.keys.revoke(7), None),
    ("GET notes", lambda o: list(o.notes), {"limit": "200"}),
    (
        "POST notes",
        lambda o: o.notes.create("Sale", date(2026, 11, 9), site=7),
        {"text": "Sale", "first_day": "2026-11-09", "site": 7},
    ),
    ("GET notes/ID", lambda o: o.notes.get(7), None),
    ("PATCH notes/ID", lambda o: o.notes.change(7, text="Sale"), {"text": "Sale"}),
    ("DELETE notes/ID", lambda o: o.notes.delete(7), None),
    ("GET webhooks", lambda o: list(o.webhooks), {"limit": "200"}),
    ("POST webhooks", lambda o: o.webhooks.create("https://a.example"), {"url": "https://a.example"}),
    ("GET webhooks/ID", lambda o: o.webhooks.get(7), None),
    ("PATCH webhooks/ID", lambda o: o.webhooks.change(7, enabled=True), {"enabled": True}),
    ("DELETE webhooks/ID", lambda o: o.webhooks.delete(7), None),
    ("POST webhooks/ID/test", lambda o: o.webhooks.test(7), {}),
    ("POST webhooks/ID/secret", lambda o: o.webhooks.new_secret(7), {}),
    ("GET webhooks/ID/deliveries", lambda o: list(o.webhooks.deliveries(7)), {"limit": "200"}),
    ("POST webhooks/ID/deliveries/ID/replay", lambda o: o.webhooks.replay(7, 9), {}),
    (
        "GET numbers",
        lambda o: o.numbers(site=3, from_date=date(2026, 11, 1)),
        {"by": "total", "site": "3", "from_date": "2026-11-01"},
    ),
    (
        "GET numbers",
        lambda o: list(o.numbers_by_stream(streams=["c-1", "c-2"])),
        {"by": "stream", "streams": "c-1,c-2", "limit": "200"},
    ),
]
"""By method and path; and what is sent, as a body or as a query."""


def answer(asked: Asked) -> Reply:
    if asked.method == "DELETE":
        return Reply(status=204)
    if asked.path.endswith("/health"):
        return Reply({"items": [{"at": NOW}]})
    own: dict[str, Any] = {}
    if asked.path == "invitations":
        own = {"id": "i-1"}
    elif asked.path == "streams":
        own = {"stream": ANY}
    elif asked.path.startswith("devices") and "/configuration" not in asked.path:
        own = {"version": "0.1.0"}
    return Reply({"items": [BODY | own], "next": None} if "limit" in asked.query else BODY | own)


@pytest.mark.parametrize(("operation", "act", "sent"), OPERATIONS, ids=[name for name, _, _ in OPERATIONS])
def test_an_operation_asks_for(operation: str, act: Act, sent: Any) -> None:
    with management_server(answer) as server, Organisation(server.url, KEY) as organisation:
        found = act(organisation)
    (asked,) = server.asked
    path = re.sub(r"(?<=/)([cdi]-1|7|9)(?=/|$)", "ID", asked.path)
    assert f"{asked.method} {path}" == operation
    got = asked.query if asked.method == "GET" else asked.body
    assert (got or sent) == sent
    assert not sent or got
    assert bool(asked.idempotency_key) == (asked.method == "POST")
    for secret in ("hunter2", KEY, "K7QM"):
        assert secret not in repr(found), "what is shown ends up in logs"


def test_a_thing_stands_for_its_id_and_moments_are_moments() -> None:
    with management_server(answer) as server, Organisation(server.url, KEY) as organisation:
        created = organisation.streams.create("Door")
        assert created.stream.created_at == datetime(2026, 11, 18, 9, tzinfo=timezone.utc)
        assert created.access_token == "hunter2"
        organisation.streams.get(created)
        organisation.streams.change(created.stream, site=organisation.sites.get(7))
    assert server.asked[1].path == "streams/c-1"
    assert server.asked[3].body == {"site": 7}


def test_numbers_are_read_by_name() -> None:
    said = {
        "from_date": "2026-11-01",
        "to_date": "2026-11-02",
        "streams": 2,
        "total": {
            "metrics": {"passing_by": {"value": 3}, "interested": 1, "gender": {"female": 1, "male": 0}},
            "coverage": {"watched_s": 60, "open_s": 120.0, "blind_s": 0, "share": 0.5},
        },
        "by_day": [{"day": "2026-11-01", "passing_by": 3, "interested": 1, "streams": 2, "watched_s": 60}],
    }
    with management_server(lambda _: Reply(said)) as server, Organisation(server.url, KEY) as organisation:
        numbers = organisation.numbers()
        with pytest.raises(BadArgument, match="give a date"):
            organisation.numbers(from_date=datetime(2026, 11, 1))
    assert (numbers.passing_by, numbers["interested"], numbers["gender"]["female"]) == (3, 1, 1)
    assert (numbers.streams, numbers.coverage.share, numbers.by_day[0].watched_s) == (2, 0.5, 60.0)
    with pytest.raises(BadArgument, match="passing_by, interested, gender"):
        numbers["happiness"]


def test_any_other_operation_can_be_asked_for_by_its_path() -> None:
    with management_server(lambda asked: Reply({"path": asked.path})) as server, Organisation(server.url, KEY) as known:
        assert known.ask("GET", "moons")["path"] == "moons"
        assert known.ask("POST", "moons", {"a": 1})["path"] == "moons"
        known.ask("DELETE", "moons/1")
        with pytest.raises(BadArgument, match="GET, POST, PATCH or DELETE"):
            known.ask("PUT", "moons")
    assert [asked.method for asked in server.asked] == ["GET", "POST", "DELETE"]


def test_every_public_name_of_the_package_is_there() -> None:
    assert all(hasattr(manage, name) for name in manage.__all__)
    records = {name for name in manage.__all__ if issubclass(getattr(manage, name), Record)}
    assert all(getattr(manage, name).__dataclass_params__.frozen for name in records)


needs_api = pytest.mark.skipif(
    importlib.util.find_spec("onlooker.console.api") is None, reason="this tree's console has no /api/v1/ yet"
)


@needs_api
def test_the_sdk_has_every_operation_of_the_console() -> None:
    from onlooker.console.api.operations import OPERATIONS as OFFERED

    offered = {f"{one.method} {re.sub(r'<[^>]+>', 'ID', one.path)}" for one in OFFERED}
    known = {name for name, _, _ in OPERATIONS} | {"DELETE enrolment-codes/ID"}  # the same as its end
    assert offered <= known
    assert known <= offered


@needs_api
@pytest.mark.parametrize(
    ("module", "struct", "record"),
    [
        ("organisation", "OrganisationBody", manage.OrganisationFacts),
        ("organisation", "AddressesBody", manage.Addresses),
        ("organisation", "TagBody", manage.Tag),
        ("streams", "StreamBody", manage.Stream),
        ("streams", "CreatedStreamBody", manage.NewStream),
        ("streams", "NewPasswordBody", manage.NewPassword),
        ("stream_changes", "BulkAnswer", manage.BulkChange),
        ("stream_changes", "ChangedStream", manage.StreamChange),
        ("sites", "SiteBody", manage.Site),
        ("enrolment", "TemplateBody", manage.Template),
        ("enrolment", "CodeBody", manage.EnrolmentCode),
        ("enrolment", "CreatedCodeBody", manage.NewCode),
        ("devices", "DeviceBody", manage.Device),
        ("devices", "ConfigurationStateBody", manage.ConfigurationState),
        ("device_configuration", "DeviceConfigurationBody", manage.DeviceConfiguration),
        ("device_configuration", "ConfigurationVersion", manage.ConfigurationVersion),
        ("device_configuration", "ConfigurationAnswer", manage.BulkConfiguration),
        ("device_configuration", "ChangedDevice", manage.DeviceChange),
        ("notes", "NoteBody", manage.Note),
        ("webhooks", "WebhookBody", manage.Webhook),
        ("webhooks", "CreatedWebhookBody", manage.NewWebhook),
        ("webhooks", "NewSecretBody", manage.NewSecret),
        ("webhooks", "DeliveryBody", manage.WebhookDelivery),
        ("members", "MemberBody", manage.Member),
        ("members", "SentInvitationsBody", manage.Invited),
        ("members", "InvitationBody", manage.Invitation),
        ("keys", "KeyBody", manage.Key),
        ("keys", "CreatedKeyBody", manage.NewKey),
        ("numbers", "StreamNumbersBody", manage.StreamNumbers),
        ("numbers", "NumbersCoverageBody", manage.FleetCoverage),
        ("numbers", "DayBody", manage.FleetDay),
    ],
)
def test_the_sdk_has_every_field_of_the_consoles_answers(module: str, struct: str, record: type[Record]) -> None:
    said = getattr(importlib.import_module(f"onlooker.console.api.resources.{module}"), struct).__struct_fields__
    assert set(said) <= {field.name for field in dataclasses.fields(record)}  # type: ignore[arg-type]
