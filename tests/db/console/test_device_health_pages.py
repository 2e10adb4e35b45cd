"""The page of a device: what is wrong in plain words, a day as charts and tables, settings and their versions."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from device_reports import REPORT, device_of, report, report_day
from enrolments import site_of
from onlooker.console.accounts.models import Account
from onlooker.console.devices.health_charts import BUCKETS, as_data, make_charts
from onlooker.console.devices.health_words import explain_status
from onlooker.devices.configuration import document_for, report_configuration, set_device_settings
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.health import read_day
from onlooker.devices.models import Device, DeviceStatus
from onlooker.streams.models import MemberRole, Membership
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    organisation_of(owner)
    return sign_in(owner)


def page_of(browser: Client, device: Device, ending: str = "") -> str:
    answer = browser.get(f"/devices/{device.device_id}/{ending}")
    assert answer.status_code == 200
    return answer.content.decode()


def status(**changes: Any) -> DeviceStatus:
    health = REPORT | changes
    return DeviceStatus(
        reported_at=changes.get("reported_at", timezone.now()),
        state=health["state"],
        condition=health["condition"],
        health=health,
    )


def test_a_device_that_has_not_reported_says_so(browser: Client, owner: Account) -> None:
    device, _ = device_of(owner)
    page = page_of(browser, device)
    assert "Never reported" in page
    assert "Reports begin a minute after its agent starts" in page
    assert "No report came in the last 24 hours" in page
    assert "main.js" not in page


def test_a_report_is_shown_as_facts(browser: Client, owner: Account) -> None:
    device, key = device_of(owner, site=site_of(owner))
    report(key)
    page = page_of(browser, device)
    for words in ("Works", "Lyon 1", "Raspberry Pi 5", "0.1.0", "/dev/video0", "2 h 1 min", "Shop window"):
        assert words in page
    assert "The camera gives pictures, and they are answered." in page


@pytest.mark.parametrize(
    ("changes", "label", "remedy"),
    [
        ({"condition": "black"}, "Black", "Check the shutter"),
        ({"condition": "frozen", "state": "degraded"}, "Frozen", "Restart the camera"),
        ({"condition": "", "state": "no_camera"}, "No camera", "cable and power"),
        ({"state": "offline"}, "Frames not answered", "firewall"),
        ({"state": "refused"}, "Frames refused", "Open the stream"),
        ({"temperature_c": 84.2}, "Hot", "Give it air"),
        ({"disk_free_mb": 120.0}, "Disk full", "Delete what is not needed"),
        ({"clock_off_s": -95.0}, "Clock wrong", "timedatectl"),
        ({"line": {"latency_ms": 4100.0}}, "Slow line", "Check its network"),
        ({"journal": {"waiting": 9, "bytes": 900, "lost": 12}}, "Visits lost", "12 visits"),
        ({"condition": "", "state": "upside_down"}, "Upside down", "Look at its log"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(changes: dict[str, Any], label: str, remedy: str) -> None:
    found = explain_status(status(**changes), timezone.now())
    assert [one.label for one in found] == [label]
    assert remedy in found[0].words


def test_a_device_that_is_silent_says_nothing_else() -> None:
    old = status(reported_at=timezone.now() - timedelta(hours=5), condition="black", temperature_c=99.0)
    [found] = explain_status(old, timezone.now())
    assert found.label == "Silent"
    assert "No report for 5 hours. Check its power and its network." in found.words


def test_a_report_that_says_little_is_no_fault() -> None:
    bare = DeviceStatus(reported_at=timezone.now(), state="running", condition="fine", health={})
    assert [one.label for one in explain_status(bare, timezone.now())] == ["Works"]


def test_a_day_is_drawn_and_has_the_same_numbers_as_tables(browser: Client, owner: Account) -> None:
    device, key = device_of(owner)
    report_day(device)
    report(key)
    page = page_of(browser, device)
    assert "main.js" in page
    found = re.search(r'<script id="health-data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert len(data["points"]) == BUCKETS
    assert set(data["charts"]) == {"frames", "drops", "temperature", "light", "disk", "clock", "line"}
    assert "Only a device that computes by itself has a journal." in page
    for key_of_chart in data["charts"]:
        assert f'id="table-{key_of_chart}"' in page
    drops = data["charts"]["drops"]["series"]
    assert [one["name"] for one in drops] == ["The line or the server is too slow", "Answers took too long"]
    assert page.count('<th scope="row">') > 6 * 90


def test_quarters_of_an_hour_have_what_their_minutes_say(owner: Account) -> None:
    device, _ = device_of(owner)
    now = datetime(2026, 5, 4, 12, 7, 30, tzinfo=UTC)
    report_day(device, now=now, minutes=30)
    keys, charts = make_charts(read_day(device, now), now, ZoneInfo("Europe/Paris"))
    assert (keys[0][:16], keys[-1][:16]) == ("2026-05-03T14:15", "2026-05-04T14:00")
    values = {chart.key: chart.series[0].values for chart in charts}
    assert values["frames"][-3:] == [4.95, 4.95, 4.95]
    assert values["frames"][-4] is None
    assert values["drops"][-2:] == [30, 16]
    assert values["temperature"][-1] == (45.22, 45.29)
    assert values["clock"][-1] == (-0.5, -0.5)
    assert values["journal"][-1] is None
    assert "journal" not in as_data(keys, charts)["charts"]
    rows = next(chart for chart in charts if chart.key == "temperature").rows
    assert rows.count("<tr>") == 3
    assert "<td>45.2</td><td>45.3</td>" in rows


def test_many_reasons_are_drawn_together(owner: Account) -> None:
    device, key = device_of(owner)
    report(key, dropped={})
    device.health.update(at=timezone.now() - timedelta(minutes=1), slot=1, uptime_s=7200.0)
    reasons = {f"reason_{number}": number + 1 for number in range(9)}
    report(key, dropped=reasons | {"busy": 50})
    now = timezone.now()
    _, charts = make_charts(read_day(device), now, ZoneInfo("UTC"))
    drops = charts[1]
    assert drops.series[0].name == "The line or the server is too slow"
    assert drops.series[-1].name == "Other reasons"
    assert len(drops.series) == 5
    assert sum(one.values[-1] or 0 for one in drops.series) == 50 + 45


def test_settings_say_where_they_come_from_and_versions_what_became_of_them(browser: Client, owner: Account) -> None:
    device, key = device_of(owner)
    report(key)
    document_for(device)
    browser.post(f"/devices/templates/{device.template_id}/", {"fps": "4", "quality": "70"})
    browser.post(f"/devices/{device.device_id}/settings/", {"fps": "2.5"})
    device.refresh_from_db()
    assert device.settings == {"fps": 2.5}
    page = page_of(browser, device)
    assert re.search(r'Frames a second</th><td data-label="Value" class="own">2.5</td><td[^>]*>this device<', page)
    assert re.search(r'JPEG quality</th><td data-label="Value">70</td><td[^>]*>template Shop window<', page)
    assert re.search(r"Where frames are computed</th><td[^>]*>on the server</td><td[^>]*>the stream<", page)
    assert "Frames a second: 4 → 2.5" in page
    assert owner.email in page
    assert "Waiting" in page
    form = page_of(browser, device, "settings/")
    assert 'name="fps" value="2.5"' in form
    assert "Empty: 70, from template Shop window." in form


@pytest.mark.parametrize(("state", "words"), [("refused", "Refused"), ("rolled_back", "Rolled back")])
def test_what_a_device_did_not_take_is_told_with_its_reason_and_can_be_offered_again(
    browser: Client, owner: Account, state: str, words: str
) -> None:
    device, key = device_of(owner)
    report(key)
    set_device_settings(device, {"source": "7"}, by=f"account:{owner.pk}")
    newest = device.configurations.order_by("-version")[0]
    report_configuration(device.pk, newest.etag, state, "Camera 7 can't be opened.")
    page = page_of(browser, device)
    assert words in page
    assert page.count("Camera 7 can&#x27;t be opened.") == 2
    assert f"Offer version {newest.version} again" in page
    assert browser.post(f"/devices/{device.device_id}/again/").status_code == 302
    assert device.configurations.order_by("-version")[0].version == newest.version + 1
    assert f"Offer version {newest.version + 1} again" not in page_of(browser, device)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fps": "0"}, "Must be 0.2 to 30."),
        ({"width": "12"}, "160 to 3840"),
        ({"source": "rtsp://user:secret@192.0.2.7/1"}, "without a password"),
        ({"hours": "never"}, "errorlist"),
        ({"compute": "cloud"}, "Select a valid choice"),
    ],
)
def test_settings_that_can_not_be_are_refused(
    browser: Client, owner: Account, given: dict[str, str], words: str
) -> None:
    device, _ = device_of(owner)
    answer = browser.post(f"/devices/{device.device_id}/settings/", given)
    assert answer.status_code == 200
    assert words in answer.content.decode()
    device.refresh_from_db()
    assert device.settings == {}


def test_names_of_others_are_never_markup(browser: Client, owner: Account) -> None:
    site = site_of(owner, "<script>alert(1)</script>")
    device, key = device_of(owner, site=site)
    report(key, machine="<b>x</b>", dropped={"<i>y</i>": 4}, camera={"name": "<u>z</u>", "state": "open"})
    browser.post(f"/organisations/{organisation_of(owner).pk}/sites/{site.pk}/devices/", {"fps": "3"})
    for page in (page_of(browser, device), page_of(browser, device, "settings/")):
        for forbidden in ("<script>alert", "<b>x", "<i>y", "<u>z"):
            assert forbidden not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;." in page_of(browser, device, "settings/")


def test_a_revoked_device_can_be_looked_at_and_not_changed(browser: Client, owner: Account) -> None:
    device, key = device_of(owner)
    report(key)
    revoke_device(device)
    page = page_of(browser, device)
    assert "This device was revoked on" in page
    assert f"/devices/{device.device_id}/settings/" not in page
    assert browser.get(f"/devices/{device.device_id}/settings/").status_code == 404
    assert browser.post(f"/devices/{device.device_id}/again/").status_code == 404


@pytest.mark.parametrize("role", [MemberRole.ANALYST, MemberRole.VIEWER])
def test_only_managers_see_a_device(sign_in: SignIn, owner: Account, viewer: Account, role: MemberRole) -> None:
    device, _ = device_of(owner)
    Membership.objects.create(organisation=organisation_of(owner), account=viewer, role=role)
    for ending in ("", "settings/"):
        assert sign_in(viewer).get(f"/devices/{device.device_id}/{ending}").status_code == 404
    page = sign_in(viewer).get("/devices/fleet/").content.decode()
    assert "0 devices" in page


def test_a_page_takes_few_statements_however_much_there_is(
    browser: Client, owner: Account, django_assert_max_num_queries: Any
) -> None:
    device, key = device_of(owner)
    report_day(device)
    report(key)
    for number in range(12):
        set_device_settings(device, {"quality": 40 + number}, by=f"account:{owner.pk}")
    with django_assert_max_num_queries(14):
        page = page_of(browser, device)
    assert "JPEG quality: 50 → 51" in page
