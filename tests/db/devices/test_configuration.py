"""A device's document: merged from template, site and device, in versions, fetched with an ETag, reported back."""

import json
from typing import Any

import pytest

from device_boxes import BY, Box, box_of
from enrolments import code_of, enrolled, new_key, site_of, template_of
from onlooker.audit.models import AuditEntry, OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.webhooks.endpoints import create_endpoint
from onlooker.devices.configuration import (
    NOTHING_SET,
    choose_template,
    document_for,
    newest_version,
    offer_again,
    set_device_settings,
    set_site_settings,
    set_template_settings,
    with_configuration_state,
)
from onlooker.devices.device_settings import SETTINGS, Level, check_settings, parse_settings
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.enrolment_codes import create_replacement
from onlooker.devices.models import Device, DeviceConfiguration
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


def versions_of(device: Device) -> list[tuple[int, str, str, str]]:
    rows = DeviceConfiguration.objects.filter(device=device).order_by("version")
    return [(one.version, one.level, one.by, one.state) for one in rows]


def test_a_device_that_enrols_gets_what_its_stream_says_as_version_1(owner: Account) -> None:
    box = box_of(owner)
    assert box.document() == {"version": 1, "settings": {"compute": "server"}}
    assert [one[:2] for one in versions_of(box.device)] == [(1, "enrolment")]


def test_device_goes_before_site_and_site_before_template(owner: Account) -> None:
    site = site_of(owner)
    box = box_of(owner, site)
    template = box.device.template
    assert template
    assert set_template_settings(template, {"fps": 2, "width": 640, "quality": 70}, by=BY) == 1
    assert set_site_settings(site, {"fps": 3, "width": 800}, by=BY) == 1
    assert set_device_settings(box.device, {"fps": 4}, by=BY) == 1
    assert box.document() == {
        "version": 4,
        "settings": {"compute": "server", "fps": 4.0, "width": 800, "quality": 70},
    }
    set_device_settings(box.device, {"fps": None}, by=BY)
    assert box.document()["settings"]["fps"] == 3.0
    set_site_settings(site, {"fps": None}, by=BY)
    assert box.document()["settings"]["fps"] == 2.0
    assert [one[1:3] for one in versions_of(box.device)][1:] == [
        ("template", BY),
        ("site", BY),
        ("device", BY),
        ("device", BY),
        ("site", BY),
    ]


def test_a_change_that_changes_nothing_for_a_device_brings_it_no_version(owner: Account) -> None:
    site = site_of(owner)
    box = box_of(owner, site)
    set_device_settings(box.device, {"fps": 4}, by=BY)
    assert set_site_settings(site, {"fps": 9}, by=BY) == 0, "the device has its own"
    assert set_device_settings(box.device, {"fps": 4.0}, by=BY) == 0
    assert box.document()["version"] == 2


def test_the_document_is_sent_once_for_each_etag(owner: Account) -> None:
    box = box_of(owner)
    first = box.fetch()
    again = box.fetch(first["ETag"].strip('"'))
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    set_device_settings(box.device, {"fps": 4}, by=BY)
    changed = box.fetch(first["ETag"].strip('"'))
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert changed["ETag"] != first["ETag"]


def test_a_stream_that_moves_brings_its_device_the_settings_of_the_other_site(owner: Account) -> None:
    lyon, nice = site_of(owner), site_of(owner, "Nice")
    set_site_settings(lyon, {"fps": 3}, by=BY)
    set_site_settings(nice, {"fps": 7}, by=BY)
    box = box_of(owner, lyon)
    assert box.document()["settings"]["fps"] == 3.0
    set_stream(str(box.device.stream.client_id), {"site_id": nice.pk}, quota_s=1e9)
    assert box.document() == {"version": 2, "settings": {"compute": "server", "fps": 7.0}}
    nice.delete()
    assert box.document() == {"version": 3, "settings": {"compute": "server"}}
    assert {one[1] for one in versions_of(box.device)[1:]} == {"stream"}


def test_hours_and_compute_are_those_of_the_stream_unless_the_device_has_its_own(owner: Account) -> None:
    box = box_of(owner)
    client_id = str(box.device.stream.client_id)
    set_stream(client_id, {"hours": "mo-fr 09:00-18:00", "compute": "device"}, quota_s=1e9)
    assert box.document()["settings"] == {
        "compute": "device",
        "hours": "mo-fr 09:00-18:00",
        "time_zone": "Europe/Paris",
    }
    set_device_settings(box.device, {"compute": "server", "hours": "mo 10:00-12:00"}, by=BY)
    set_stream(client_id, {"hours": "", "compute": "device"}, quota_s=1e9)
    assert box.document()["settings"] == {
        "compute": "server",
        "hours": "mo 10:00-12:00",
        "time_zone": "Europe/Paris",
    }


def test_another_template_or_none_changes_the_document(owner: Account) -> None:
    box = box_of(owner)
    other = template_of(owner, "Till")
    set_template_settings(other, {"quality": 50}, by=BY)
    assert choose_template(box.device, other, by=BY) == 1
    assert box.document()["settings"]["quality"] == 50
    other.delete()
    assert box.document() == {"version": 3, "settings": {"compute": "server"}}
    assert versions_of(box.device)[-1][1] == "template"


def test_a_box_that_replaces_another_takes_over_its_settings(owner: Account) -> None:
    box = box_of(owner)
    set_device_settings(box.device, {"fps": 4}, by=BY)
    key = new_key()
    said = enrolled(create_replacement(box.device.stream).text, key)
    after = Box(key, Device.objects.get(device_id=said["device"]))
    assert (after.device.template, after.device.settings) == (box.device.template, {"fps": 4.0})
    assert after.document() == {"version": 1, "settings": {"compute": "server", "fps": 4.0}}
    assert box.fetch().json()["code"] == "device_revoked"


def test_what_a_device_could_not_live_with_is_not_offered_again(owner: Account) -> None:
    box = box_of(owner)
    good = box.fetch()["ETag"].strip('"')
    assert box.report(good, "applied") == good
    set_device_settings(box.device, {"source": "7"}, by=BY)
    bad = box.report(good, "applied")
    assert bad.startswith("2-")
    assert box.report(bad, "trying") == bad
    assert box.report(bad, "rolled_back", "Camera 7 gives no pictures.") == good, "the last good one, at once"
    assert box.document()["version"] == 1
    newest = newest_version(box.device)
    assert newest
    assert (newest.state, newest.reason) == ("rolled_back", "Camera 7 gives no pictures.")
    shown = with_configuration_state(Device.objects.all()).get()
    assert (shown.newest_version, shown.configuration_state) == (2, "rolled_back")
    set_device_settings(box.device, {"fps": 4}, by=BY)
    assert box.document()["version"] == 3, "somebody changed something"


def test_a_device_that_applied_nothing_yet_is_offered_its_own_settings(owner: Account) -> None:
    box = box_of(owner)
    etag = box.fetch()["ETag"].strip('"')
    assert box.report(etag, "refused", "no") == NOTHING_SET.etag
    assert box.document() == {"version": 0, "settings": {}}
    assert document_for(box.device) == NOTHING_SET
    assert offer_again(box.device, by=BY) == 1
    assert box.document() == {"version": 2, "settings": {"compute": "server"}}
    assert offer_again(box.device, by=BY) == 0, "it has not said anything of it"


def test_a_report_of_a_version_that_is_not_known_changes_nothing(owner: Account) -> None:
    box = box_of(owner)
    etag = box.fetch()["ETag"].strip('"')
    for reported in ("9-00000000", "", "1-00000000", "x" * 24):
        assert box.report(reported, "refused") == etag
    assert versions_of(box.device)[0][3] == "new"


def test_a_revoked_device_gets_no_versions(owner: Account) -> None:
    site = site_of(owner)
    box = box_of(owner, site)
    revoke_device(box.device)
    assert set_site_settings(site, {"fps": 3}, by=BY) == 0
    assert [one[0] for one in versions_of(box.device)] == [1]


def test_changes_and_refusals_are_in_the_audit_logs(owner: Account) -> None:
    site = site_of(owner)
    box = box_of(owner, site)
    assert box.device.template
    set_site_settings(site, {"fps": 3}, by=BY)
    set_template_settings(box.device.template, {"quality": 50}, by=BY)
    set_device_settings(box.device, {"fps": 4}, by=BY)
    set_device_settings(box.device, {"fps": None}, by=BY)
    newest = newest_version(box.device)
    assert newest
    box.report(newest.etag, "refused", "It can't be.")
    box.report(newest.etag, "refused", "It can't be.")
    entries = AuditEntry.objects.filter(stream=box.device.stream).order_by("number")
    about = {"device": box.device.pk, "name": "player-1"}
    found = [(one.actor, one.action, json.loads(one.detail)) for one in entries if "config" in one.action]
    template = box.device.template.name
    assert found == [
        (BY, "device.configured", about | {"changes": {"fps": [None, 4.0]}, "template": template}),
        (BY, "device.configured", about | {"changes": {"fps": [4.0, None]}, "template": template}),
        (
            f"device:{box.device.pk}",
            "device.configuration_refused",
            about | {"version": newest.version, "reason": "It can't be."},
        ),
    ]
    of_all = OrganisationEntry.objects.filter(action__endswith=".configured").order_by("number")
    assert [(one.actor, one.action) for one in of_all] == [(BY, "site.configured"), (BY, "template.configured")]


@pytest.mark.parametrize(
    ("level", "settings", "sentence"),
    [
        (Level.DEVICE, {"fps": 31}, "fps: must be 0.2 to 30."),
        (Level.DEVICE, {"fps": "many"}, "fps: must be a number."),
        (Level.DEVICE, {"fps": True}, "fps: must be a number."),
        (Level.DEVICE, {"quality": "nan"}, "quality: must be a number."),
        (Level.DEVICE, {"width": 640.5}, "width: must be a whole number, 160 to 3840."),
        (Level.DEVICE, {"compute": "cloud"}, "compute: must be one of: server, device."),
        (Level.DEVICE, {"hours": "always"}, "hours: Write opening hours"),
        (Level.DEVICE, {"source": "rtsp://user:secret@camera/1"}, "source: A camera is a number"),
        (Level.DEVICE, {"source": " "}, "source: must name a camera"),
        (Level.DEVICE, {"colour": 1}, "There is no setting 'colour'. There are: source, fps"),
        (Level.SITE, {"hours": "mo 09:00-10:00"}, "hours is set on a device, or is that of its stream"),
        (Level.TEMPLATE, {"compute": "device"}, "compute is set on a device, or is that of its stream"),
    ],
)
def test_a_setting_that_can_not_be_is_refused_with_a_sentence(
    level: Level, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        check_settings(level, settings)
    assert str(refused.value).startswith(sentence)


def test_settings_are_read_as_typed() -> None:
    typed = parse_settings(["fps=2.5", "quality=70", "hours=mo-fr 9:00-18:00", "source="])
    checked = check_settings(Level.DEVICE, typed)
    assert checked == {"fps": 2.5, "quality": 70, "hours": "mo-fr 09:00-18:00", "source": None}
    assert set(SETTINGS) == {
        *("source", "fps", "idle_fps", "width", "height", "quality", "max_kbytes", "compute", "hours", "log_level")
    }
    with pytest.raises(ValueError, match="Write NAME=VALUE"):
        parse_settings(["fps"])


def test_no_version_outlives_its_device(owner: Account) -> None:
    box = box_of(owner)
    box.report()
    Stream.objects.filter(pk=box.device.stream_id).update(removed_at="2026-01-01T00:00Z")
    assert box.fetch().json()["code"] == "device_revoked"
    Device.objects.all().delete()
    assert not DeviceConfiguration.objects.exists()
    assert code_of(owner)


def test_webhooks_are_told_once_of_a_version_that_a_device_could_not_live_with(owner: Account) -> None:
    box = box_of(owner)
    organisation = box.device.stream.organisation
    assert organisation
    endpoint = create_endpoint(organisation, "https://hooks.example.org/").endpoint
    etag = str(box.fetch()["ETag"]).strip('"')
    for state in ("trying", "rolled_back", "rolled_back"):
        box.report(etag, state, "no pictures")
    set_device_settings(box.device, {"fps": 4}, by=BY)
    box.report(document_for(box.device).etag, "refused", "no such camera")
    told = [json.loads(body) for body in endpoint.deliveries.order_by("pk").values_list("body", flat=True)]
    assert [(one["type"], one["data"]["version"], one["data"]["reason"]) for one in told] == [
        ("device.configuration_rolled_back", 1, "no pictures"),
        ("device.configuration_refused", 2, "no such camera"),
    ]
    assert told[0]["data"]["device"] == str(box.device.device_id)


def test_the_newest_50_versions_are_kept_and_the_last_good_one(owner: Account) -> None:
    box = box_of(owner)
    box.report(box.fetch()["ETag"].strip('"'), "applied")
    first = DeviceConfiguration.objects.get(device=box.device)
    names = {"level": first.level, "by": first.by, "settings": first.settings}
    DeviceConfiguration.objects.bulk_create(
        DeviceConfiguration(device=box.device, version=number, etag=f"{number}-x", **names) for number in range(2, 61)
    )
    set_device_settings(box.device, {"quality": 70}, by=BY)
    kept = [one[0] for one in versions_of(box.device)]
    assert kept == [1, *range(12, 62)]
    newest = newest_version(box.device)
    assert newest
    assert box.report(newest.etag, "refused", "no").startswith("1-")
