"""Devices in numbers, the list that each number leads to, and one change of many of them with its preview."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from device_reports import device_of, many_devices, report
from enrolments import site_of
from onlooker.console.accounts.models import Account
from onlooker.console.devices import pages
from onlooker.devices.configuration import report_configuration, set_device_settings
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.models import Device, DeviceConfiguration, DeviceTemplate
from onlooker.streams.models import MemberRole, Membership, Organisation
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
MANY = 200
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    organisation_of(owner)
    return sign_in(owner)


def text_of(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def counts_in(page: str, what: str) -> dict[str, int]:
    """In the order of the page."""
    table = page.partition(f'id="by-{what}"')[2].partition("</table>")[0]
    rows = re.findall(r'<span class="badge \w+">([^<]+)</span></th><td><a [^>]+>([\d,]+)</a>', table)
    return {name: int(number.replace(",", "")) for name, number in rows}


def links_in(page: str) -> dict[str, str]:
    return {
        label: address.replace("&amp;", "&")
        for address, label in re.findall(r'<td><a href="(/devices/\?[^"]+)" aria-label="([^"]+)"', page)
    }


def listed(browser: Client, path: str) -> list[str]:
    return re.findall(r'name="device" value="(\d+)"', text_of(browser, path))


def digest_of(page: str) -> str:
    [found] = re.findall(r'name="shown" value="([0-9a-f]{64})"', page)
    return str(found)


def change(browser: Client, devices: list[Device], *, shown: str = "", **values: Any) -> str:
    query = "&".join(f"device={device.pk}" for device in devices)
    answer = browser.post(f"/devices/change/?{query}", values | ({"shown": shown} if shown else {}), follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_fleet_is_counted_and_each_number_leads_to_its_devices(
    browser: Client, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "ROWS", 200)
    many_devices(owner, 40)
    page = text_of(browser, "/devices/fleet/")
    assert "40 devices" in page
    assert counts_in(page, "condition") == {"Silent": 10, "Black": 6, "Works": 24}
    assert counts_in(page, "version") == {"0.0.9": 4, "0.1.0": 36}
    assert list(counts_in(page, "version")) == ["0.0.9", "0.1.0"], "old agents first"
    assert counts_in(page, "configuration") == {"Waiting": 40}
    links = links_in(page)
    assert len(links) == 6
    for label, address in links.items():
        assert len(listed(browser, address)) == int(label.split()[0]), label


def test_what_a_device_did_with_its_settings_is_counted_and_found(browser: Client, owner: Account) -> None:
    for state in ("applied", "refused", "rolled_back", "trying"):
        device, key = device_of(owner)
        report(key)
        set_device_settings(device, {"fps": 3}, by=f"account:{owner.pk}")
        newest = DeviceConfiguration.objects.filter(device=device).order_by("-version")[0]
        report_configuration(device.pk, newest.etag, state, "why")
    page = text_of(browser, "/devices/fleet/")
    expected = {"Refused": 1, "Rolled back": 1, "On trial": 1, "Applied": 1}
    assert counts_in(page, "configuration") == expected
    assert list(counts_in(page, "configuration")) == list(expected)
    refused = listed(browser, "/devices/?configuration=refused")
    assert len(refused) == 1
    assert refused != listed(browser, "/devices/?configuration=applied")


def test_a_site_is_counted_alone(browser: Client, owner: Account) -> None:
    lyon, nice = site_of(owner), site_of(owner, "Nice")
    for site in (lyon, lyon, nice):
        device_of(owner, site=site)
    page = text_of(browser, f"/devices/fleet/?site={lyon.pk}")
    assert counts_in(page, "condition") == {"Never reported": 2}
    assert f"site={lyon.pk}" in next(iter(links_in(page).values()))
    assert counts_in(text_of(browser, "/devices/fleet/"), "condition") == {"Never reported": 3}


def test_revoked_devices_and_those_of_others_are_not_counted(
    browser: Client, owner: Account, stranger: Account
) -> None:
    device, _ = device_of(owner)
    device_of(stranger)
    revoke_device(device)
    assert "0 devices" in text_of(browser, "/devices/fleet/")


@pytest.mark.parametrize(
    "query", ["version=x", "condition=%F0%9F%98%80", "configuration=none", "site=9223372036854775807", "site=x"]
)
def test_whatever_the_address_says_is_answered(browser: Client, owner: Account, query: str) -> None:
    device_of(owner)
    assert browser.get(f"/devices/?{query}").status_code == 200
    assert browser.get(f"/devices/fleet/?{query}").status_code == 200
    assert browser.get(f"/devices/change/?found=1&{query}").status_code == 200


def test_a_preview_changes_nothing_and_says_what_would(browser: Client, owner: Account) -> None:
    devices = [device_of(owner)[0] for _ in range(3)]
    set_device_settings(devices[0], {"fps": 3}, by=f"account:{owner.pk}")
    page = change(browser, devices, fps="3", quality="60")
    assert "Frames a second: 2 of 3 devices" in page
    assert "JPEG quality: 3 of 3 devices" in page
    assert "JPEG quality: the agent&#x27;s own → 60" in page
    assert list(Device.objects.order_by("pk").values_list("settings", flat=True)) == [{"fps": 3}, {}, {}]


def test_what_was_shown_is_changed(browser: Client, owner: Account) -> None:
    devices = [device_of(owner)[0] for _ in range(2)]
    values = {"fps": "3", "log_level": "debug"}
    page = change(browser, devices, **values)
    page = change(browser, devices, shown=digest_of(page), **values)
    assert "2 devices changed." in page
    assert set(map(str, Device.objects.values_list("settings", flat=True))) == {"{'fps': 3.0, 'log_level': 'debug'}"}
    newest = DeviceConfiguration.objects.filter(device=devices[0]).order_by("-version")[0]
    assert newest.by == f"account:{owner.pk}"


def test_a_preview_of_something_else_is_shown_again(browser: Client, owner: Account) -> None:
    devices = [device_of(owner)[0] for _ in range(2)]
    page = change(browser, devices, fps="3")
    shown = digest_of(page)
    set_device_settings(devices[0], {"fps": 3}, by=f"account:{owner.pk}")
    page = change(browser, devices, shown=shown, fps="3")
    assert "The devices have changed since you saw this." in page
    assert "Frames a second: 1 of 2 devices" in page


def test_own_settings_can_be_taken_away(browser: Client, owner: Account) -> None:
    device, _ = device_of(owner)
    set_device_settings(device, {"fps": 3, "quality": 50}, by=f"account:{owner.pk}")
    page = change(browser, [device], forget=["fps"])
    assert "Frames a second: 3 → the agent&#x27;s own" in page
    change(browser, [device], shown=digest_of(page), forget=["fps"])
    device.refresh_from_db()
    assert device.settings == {"quality": 50}
    assert "Either set it or take it away." in change(browser, [device], fps="2", forget=["fps"])


def test_nothing_chosen_is_said(browser: Client, owner: Account) -> None:
    device, _ = device_of(owner)
    assert "No device is selected" in text_of(browser, "/devices/change/")
    assert "Nothing: all of these devices are so already" in change(browser, [device])
    assert browser.get("/devices/change/?device=999999").status_code == 404


@pytest.mark.parametrize("role", [MemberRole.ANALYST, MemberRole.VIEWER])
def test_devices_of_others_are_not_changed(sign_in: SignIn, owner: Account, viewer: Account, role: MemberRole) -> None:
    device, _ = device_of(owner)
    Membership.objects.create(organisation=organisation_of(owner), account=viewer, role=role)
    browser = sign_in(viewer)
    assert browser.get(f"/devices/change/?device={device.pk}").status_code == 404
    assert "No device is selected" in text_of(browser, "/devices/change/?found=1")
    assert browser.post(f"/devices/templates/{DeviceTemplate.objects.get().pk}/", {"fps": "1"}).status_code == 404


def test_settings_of_a_site_go_before_those_of_a_template(browser: Client, owner: Account) -> None:
    site = site_of(owner)
    device, _ = device_of(owner, site=site)
    organisation = organisation_of(owner)
    template = browser.post(f"/devices/templates/{device.template_id}/", {"fps": "4", "quality": "70"}, follow=True)
    assert "Template Shop window saved. 1 device applies it within a minute" in template.content.decode()
    answer = browser.post(f"/organisations/{organisation.pk}/sites/{site.pk}/devices/", {"fps": "2"}, follow=True)
    assert "Devices at Lyon saved. 1 device applies it" in answer.content.decode()
    assert "Settings of the devices at this site" in answer.content.decode()
    newest = DeviceConfiguration.objects.filter(device=device).order_by("-version")[0]
    assert (newest.settings["fps"], newest.settings["quality"]) == (2, 70)
    page = text_of(browser, f"/organisations/{organisation.pk}/sites/{site.pk}/devices/")
    assert 'name="fps" value="2' in page
    assert 'name="compute"' not in page, "where frames are computed is the stream's"
    form = text_of(browser, f"/devices/{device.device_id}/settings/")
    assert "Empty: 2, from site Lyon." in form


def test_somebody_without_an_organisation_begins_with_a_template(sign_in: SignIn, stranger: Account) -> None:
    browser = sign_in(stranger)
    assert "Create code" in text_of(browser, "/devices/")
    assert browser.get("/devices/codes/new/")["Location"] == "/devices/templates/new/"
    assert not Organisation.objects.filter(memberships__account=stranger).exists()
    given = {"name": "Window", "place": "public", "preset": "counts", "compute": "server", "time_zone": "UTC"}
    browser.post("/devices/templates/new/", given | {"hours": "", "source": "0"})
    assert DeviceTemplate.objects.get().organisation == organisation_of(stranger)


def test_many_devices_take_as_many_statements_as_ten(
    browser: Client, owner: Account, django_assert_max_num_queries: Any
) -> None:
    site = many_devices(owner, MANY)
    with django_assert_max_num_queries(16):
        assert len(listed(browser, "/devices/")) == 100
    with django_assert_max_num_queries(12):
        page = text_of(browser, "/devices/fleet/")
    assert sum(counts_in(page, "condition").values()) == MANY
    with django_assert_max_num_queries(14):
        page = text_of(browser, f"/devices/change/?found=1&site={site.pk}")
    assert "Change 200 devices" in page
    with django_assert_max_num_queries(20):
        page = browser.post(f"/devices/change/?found=1&site={site.pk}", {"fps": "3"}).content.decode()
    assert "Frames a second: 200 of 200 devices" in page
    assert "And 150 more devices." in page
    answer = browser.post(f"/devices/change/?found=1&site={site.pk}", {"fps": "3", "shown": digest_of(page)})
    assert answer["Location"] == "/devices/"
    assert Device.objects.filter(settings={"fps": 3.0}).count() == MANY
