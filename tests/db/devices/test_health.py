"""A device reports its health once a minute, in one statement; a day of it is kept, and no more."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from device_boxes import BY, CONFIGURATION, HEALTH, REPORT, Box, box_of
from enrolments import new_key
from onlooker.console.accounts.models import Account
from onlooker.console.web.counters import device_configurations, device_health
from onlooker.devices.configuration import set_device_settings
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.health import read_day
from onlooker.devices.models import DeviceHealth, DeviceStatus
from token_requests import program

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def statements_of(asked: Any) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        asked()
    return [query["sql"] for query in queries.captured_queries]


def minute(box: Box, after_min: float, **columns: Any) -> None:
    at = NOON + timedelta(minutes=after_min)
    slot = at.hour * 60 + at.minute
    known = {"uptime_s": 60.0, "state": "live", "condition": "fine", "grabbed": 0, "answered": 0, "dropped": {}}
    DeviceHealth.objects.create(device=box.device, slot=slot, at=at, **known | columns)


def test_a_report_is_one_statement_and_so_is_a_fetch(owner: Account) -> None:
    box = box_of(owner)
    etag = box.report()
    box.report(etag, "applied")
    assert len(statements_of(lambda: box.report(etag, "applied"))) == 1
    assert len(statements_of(lambda: box.fetch(etag))) == 1
    assert len(statements_of(box.fetch)) == 1


def test_the_newest_report_and_its_minute_are_kept(owner: Account) -> None:
    box = box_of(owner)
    before = datetime.now(UTC)
    etag = box.report()
    box.report(etag, "applied", light=12.0, more="of a newer agent")
    status = DeviceStatus.objects.get()
    assert status.device == box.device
    assert (status.version, status.machine, status.state, status.condition) == ("0.2.0", "Pi 5", "live", "fine")
    assert (status.camera_name, status.camera_state) == ("USB camera", "open")
    assert (status.configuration_etag, status.configuration_state) == (etag, "applied")
    assert (status.health["light"], status.health["line"]["latency_ms"]) == (12.0, 41.0)
    assert status.reported_at >= before
    newest = DeviceHealth.objects.order_by("at").last()
    assert newest
    assert newest.slot == newest.at.astimezone(UTC).hour * 60 + newest.at.minute
    assert (newest.grabbed, newest.answered, newest.dropped) == (600, 590, {"busy": 10})
    assert (newest.light, newest.latency_ms, newest.journal_waiting) == (12.0, 41.0, None)
    assert DeviceHealth.objects.count() <= 2, "at the turn of a minute"


def test_a_minute_of_the_day_before_is_written_over(owner: Account) -> None:
    box = box_of(owner)
    box.report()
    row = DeviceHealth.objects.get()
    DeviceHealth.objects.filter(device=box.device).update(at=row.at - timedelta(days=1))
    assert read_day(box.device) == []
    box.report()
    assert DeviceHealth.objects.filter(slot=row.slot).count() == 1


def test_counts_since_the_start_become_rates(owner: Account) -> None:
    box = box_of(owner)
    minute(box, 0, uptime_s=100, grabbed=1000, answered=900, dropped={"busy": 5})
    minute(box, 1, uptime_s=160, grabbed=1300, answered=1190, dropped={"busy": 5, "slow": 3})
    minute(box, 3, uptime_s=30, grabbed=60, answered=30, dropped={"busy": 1})
    day = read_day(box.device, NOON + timedelta(minutes=4))
    assert [(one.grabbed_s, one.answered_s, one.dropped) for one in day] == [
        (None, None, {}),
        (5.0, 290 / 60, {"slow": 3}),
        (2.0, 1.0, {"busy": 1}),
    ]
    assert read_day(box.device, NOON + timedelta(days=1, minutes=2))[0].at == NOON + timedelta(minutes=3)


def test_a_change_is_named_in_the_answer_to_the_next_report(owner: Account) -> None:
    box = box_of(owner)
    etag = box.report()
    set_device_settings(box.device, {"fps": 4}, by=BY)
    assert box.report(etag, "applied") == box.fetch()["ETag"].strip('"') != etag


def test_what_became_of_a_version_is_counted_once(owner: Account) -> None:
    box = box_of(owner)
    etag = box.report()
    counted = device_configurations("rolled_back")._value.get()
    for _ in range(3):
        box.report(etag, "rolled_back", "Worse.")
    assert device_configurations("rolled_back")._value.get() == counted + 1


@pytest.mark.parametrize("path", [CONFIGURATION, HEALTH])
@pytest.mark.parametrize(
    ("credential", "status", "code"),
    [
        ("", 401, "bad_credentials"),
        ("Bearer", 401, "bad_credentials"),
        ("Bearer short", 401, "bad_credentials"),
        ("Basic " + "x" * 43, 401, "bad_credentials"),
        ("Bearer " + "x" * 43, 401, "bad_credentials"),
    ],
)
def test_without_a_key_of_a_device_nothing_is_answered(
    path: str, credential: str, status: int, code: str, owner: Account
) -> None:
    box_of(owner)
    client = program(REMOTE_ADDR="203.0.113.9")
    headers = {"Authorization": credential}
    if path == HEALTH:
        answer = client.post(path, REPORT, content_type="application/json", headers=headers)
    else:
        answer = client.get(path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "onlooker-agent enrol CODE" in answer.json()["detail"]
    assert not DeviceStatus.objects.exists()


def test_a_revoked_device_is_told_so_and_leaves_nothing(owner: Account) -> None:
    box = box_of(owner)
    revoke_device(box.device)
    for answer in (box.fetch(), box.send(REPORT)):
        assert (answer.status_code, answer.json()["code"]) == (403, "device_revoked")
    assert not DeviceStatus.objects.exists()


def test_a_device_reports_for_itself_alone(owner: Account) -> None:
    one, other = box_of(owner), box_of(owner)
    set_device_settings(other.device, {"fps": 4}, by=BY)
    etag = other.fetch()["ETag"].strip('"')
    one.report(etag, "refused", "not mine")
    assert other.report() == etag
    assert one.document()["settings"] == {"compute": "server"}
    assert DeviceStatus.objects.get(device=other.device).configuration_state == ""


def test_who_tries_keys_is_stopped_and_devices_of_that_address_go_on(owner: Account) -> None:
    box = box_of(owner)
    statuses = [Box(new_key(), box.device).send(REPORT).status_code for _ in range(12)]
    assert (set(statuses[:10]), set(statuses[10:])) == ({401}, {429})
    assert box.send(REPORT).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"uptime_s": "long"}', 400),
        (b'{"uptime_s": -1}', 400),
        (b'{"light": 256}', 400),
        (b'{"configuration": {"state": "fine"}}', 400),
        (b"[" * 8000, 400),
        (json.dumps({"dropped": {f"reason {number}": 1 for number in range(41)}}).encode(), 400),
        (json.dumps({"more": "x" * 8192}).encode(), 413),
        (b"{}", 200),
        (json.dumps({"camera": {"name": "a\x00b"}, "state": "\x00", "dropped": {"\x00": 1}}).encode(), 200),
        (json.dumps({"machine": "\ud800"}).encode(), 400),
    ],
)
def test_a_report_is_bounded(owner: Account, body: bytes, status: int) -> None:
    box = box_of(owner)
    counted = device_health("accepted")._value.get()
    answer = box.send(body)
    assert answer.status_code == status, answer.content
    assert device_health("accepted")._value.get() == counted + (status == 200)


def test_other_methods_and_types_are_refused(owner: Account) -> None:
    box = box_of(owner)
    client = program(headers={"Authorization": f"Bearer {box.key}"})
    assert client.get(HEALTH).status_code == 405
    assert client.post(CONFIGURATION).status_code == 405
    assert client.post(HEALTH, b"{}", content_type="text/plain").status_code == 415
    assert box.send(REPORT, **{"Content-Encoding": "gzip"}).status_code in {400, 415}
