"""One change of many devices, with a preview that says what it does; and the same at the command line."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from device_boxes import BY, Box, box_of
from enrolments import site_of, template_of
from onlooker.audit.models import AuditEntry
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.devices import bulk_configuration
from onlooker.devices.bulk_configuration import (
    DeviceSelection,
    apply_configuration,
    digest_plan,
    plan_configuration,
    select_devices,
)
from onlooker.devices.configuration import newest_version, set_device_settings, set_site_settings
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.models import Device
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import Stream
from onlooker.streams.organisations import RefusedError, organisation_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def say(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def documents(boxes: list[Box]) -> list[dict[str, Any]]:
    return [box.document() for box in boxes]


def test_the_preview_is_what_happens(owner: Account) -> None:
    site = site_of(owner)
    set_site_settings(site, {"quality": 70}, by=BY)
    boxes = [box_of(owner, site), box_of(owner, site), box_of(owner)]
    set_device_settings(boxes[1].device, {"fps": 2, "quality": 60}, by=BY)
    before = documents(boxes)
    change = {"fps": 2, "quality": None}
    rows = select_devices(DeviceSelection(organisation_of(owner)))
    planned = plan_configuration(rows.all(), change)
    assert [one.settings for one in planned] == [{"fps": (None, 2.0)}, {"quality": (60, 70)}, {"fps": (None, 2.0)}]
    assert documents(boxes) == before, "nothing is changed by looking"
    assert digest_plan(planned) == digest_plan(plan_configuration(rows.all(), change))
    assert apply_configuration(planned, change, by=BY) == 3
    for box, was, one in zip(boxes, before, planned, strict=True):
        becomes = was["settings"] | {name: after for name, (_, after) in one.settings.items()}
        assert box.document() == {"version": was["version"] + 1, "settings": becomes}
    assert plan_configuration(rows.all(), change) == []
    entries = AuditEntry.objects.filter(action="device.configured", actor=BY)
    assert entries.count() == 4


def test_a_change_of_too_many_or_of_what_can_not_be_is_refused(owner: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = [box_of(owner), box_of(owner)]
    rows = select_devices(DeviceSelection(organisation_of(owner)))
    with pytest.raises(ValueError, match=r"fps: must be 0.2 to 30"):
        plan_configuration(rows, {"fps": 1000})
    monkeypatch.setattr(bulk_configuration, "AT_MOST", 1)
    with pytest.raises(RefusedError, match="at most 1 devices"):
        plan_configuration(rows, {"fps": 1})
    assert [one["version"] for one in documents(boxes)] == [1, 1]


def test_a_large_change_goes_in_steps_and_leaves_out_who_was_revoked_meanwhile(
    owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = [box_of(owner) for _ in range(3)]
    planned = plan_configuration(select_devices(DeviceSelection(organisation_of(owner))), {"fps": 2})
    revoke_device(boxes[1].device)
    monkeypatch.setattr(bulk_configuration, "AT_ONCE", 1)
    assert apply_configuration(planned, {"fps": 2}, by=BY) == 2
    assert [one.version for box in boxes if (one := newest_version(box.device))] == [2, 1, 2]


def test_the_command_line_sets_whatever_a_device_can_be_set_to(owner: Account) -> None:
    site = site_of(owner)
    box = box_of(owner, site)
    number, whose = str(box.device.device_id), ("--owner", owner.email)
    settings = ["source=/dev/video2", "fps=5", "idle_fps=0.5", "width=1280", "height=720", "quality=70"]
    settings += ["max_kbytes=0", "compute=device", "hours=mo-fr 09:00-18:00", "log_level=debug"]
    assert "1 of 1 devices would change. Nothing is changed." in say("device", "set", number, *settings, "--preview")
    assert box.document()["version"] == 1
    assert "1 of 1 devices changed." in say("device", "set", number, *settings)
    assert box.document()["settings"] == {
        "source": "/dev/video2",
        "fps": 5.0,
        "idle_fps": 0.5,
        "width": 1280,
        "height": 720,
        "quality": 70,
        "max_kbytes": 0,
        "compute": "device",
        "hours": "mo-fr 09:00-18:00",
        "time_zone": "Europe/Rome",
        "log_level": "debug",
    }
    say("device", "set", number, *(one.split("=")[0] + "=" for one in settings))
    say("device", "set", "--site", "Lyon", *whose, "fps=3")
    say("device", "set", "--template", "Shop window", *whose, "fps=9", "quality=44")
    assert box.document()["settings"] == {"compute": "server", "fps": 3.0, "quality": 44}
    template_of(owner, "Till")
    assert "1 of 1 devices get" in say("device", "set", number, "--use-template", "Till")
    assert box.document()["settings"] == {"compute": "server", "fps": 3.0}


def test_the_command_line_shows_what_became_of_it(owner: Account) -> None:
    box = box_of(owner)
    number = str(box.device.device_id)
    box.report(box.fetch()["ETag"].strip('"'), "refused", "No such camera.")
    assert "1 refused" in say("device", "list")
    assert "No such camera." in say("device", "show", number)
    shown = json.loads(say("device", "show", number, "--json"))
    assert (shown["document"]["version"], shown["versions"][0]["state"]) == (0, "refused")
    assert shown["health"]["condition"] == "fine"
    assert "1 of 1 devices get" in say("device", "set", number, "--again")
    assert box.document()["version"] == 2
    assert "is revoked" in say("device", "revoke", number)
    assert "revoked" in say("device", "list", "--revoked")
    assert json.loads(say("device", "show", number, "--json"))["document"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("fps=5",), "Name devices, or --tag, --all, --site or --template."),
        (("nobody", "fps=5"), "There is no device 'nobody'."),
        (("--all", "fps=500"), "fps: must be 0.2 to 30."),
        (("--site", "Lyon"), "Name settings as NAME=VALUE"),
        (("--site", "Nowhere", "fps=5"), "The organisation has no site 'Nowhere'."),
        (("--site", "Lyon", "hours=mo 09:00-10:00"), "hours is set on a device"),
        (("--site", "Lyon", "--all", "fps=5"), "stand alone"),
    ],
)
def test_the_command_line_refuses_with_a_sentence(owner: Account, words: tuple[str, ...], sentence: str) -> None:
    site_of(owner)
    box_of(owner)
    refused = run("device", "set", *words, "--owner", owner.email)
    assert refused.exit_code != 0
    assert sentence in refused.output


def test_a_selection_is_of_an_organisation_its_sites_tags_and_devices(owner: Account, stranger: Account) -> None:
    organisation, site = organisation_of(owner), site_of(owner)

    def device_of(account: Account, **where: Any) -> Device:
        stream = Stream.objects.create(organisation=organisation_of(account), name="Window", **where)
        return Device.objects.create(stream=stream, key_sha256=stream.client_id.bytes)

    here, there, theirs, revoked = device_of(owner, site=site), device_of(owner), device_of(stranger), device_of(owner)
    revoke_device(revoked)
    change_tags(there.stream, organisation, added=("window",), removed=())

    def selected(**chosen: Any) -> list[Device]:
        return list(select_devices(DeviceSelection(organisation, **chosen)))

    assert selected() == [here, there]
    assert selected(site=site) == [here]
    assert selected(tag="window") == [there]
    assert selected(tag="window", site=site) == []
    assert selected(device_ids=(here.device_id, theirs.device_id, revoked.device_id)) == [here]
    assert selected(device_ids=()) == []
