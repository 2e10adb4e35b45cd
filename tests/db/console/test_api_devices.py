"""Templates, enrolment codes and devices by the management interface."""

import pytest

from api_programs import ApiProgram, program_of
from enrolments import enrolled
from onlooker.console.accounts.models import Account
from onlooker.devices.models import Device
from onlooker.streams.models import Site
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]


@pytest.fixture
def workshop(owner: Account) -> ApiProgram:
    """Enrols, and does nothing else."""
    return program_of(organisation_of(owner), "enrol", role="manager")


@pytest.fixture
def manager(owner: Account) -> ApiProgram:
    return program_of(organisation_of(owner), "manage", role="manager")


def test_a_device_enrols_with_a_code_of_a_program_is_replaced_and_revoked(
    manager: ApiProgram, workshop: ApiProgram, owner: Account
) -> None:
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    template = manager.do("POST", "templates", {"name": "Window", "preset": "counts", "time_zone": "Europe/Paris"})
    made = workshop.do("POST", "enrolment-codes", {"template": template["id"], "site": site.pk, "devices": 2})
    code = made["enrolment_code"]
    assert (code["state"], code["devices_at_most"], code["site"]) == ("open", 2, site.pk)
    box = enrolled(made["code"])
    (device,) = workshop.do("GET", f"devices?site={site.pk}")["items"]
    assert (device["device_id"], device["stream"], device["name"]) == (box["device"], box["client_id"], "player-1")
    replacement = workshop.do("POST", f"devices/{box['device']}/replacement")
    next_box = enrolled(replacement["code"])
    assert next_box["client_id"] == box["client_id"]
    assert [one["device_id"] for one in manager.do("GET", "devices")["items"]] == [next_box["device"]]
    assert len(manager.do("GET", "devices?revoked=true")["items"]) == 2
    assert manager.do("POST", f"devices/{next_box['device']}/revoke")["revoked_at"]
    assert manager.do("POST", f"devices/{next_box['device']}/revoke")["revoked_at"]  # again, it changes nothing
    assert not Device.objects.filter(revoked_at=None).exists()


def test_a_code_ends(manager: ApiProgram, workshop: ApiProgram) -> None:
    template = manager.do("POST", "templates", {"name": "Window", "preset": "counts"})
    code = workshop.do("POST", "enrolment-codes", {"template": template["id"]})["enrolment_code"]
    assert [one["id"] for one in workshop.do("GET", "enrolment-codes?state=open")["items"]] == [code["id"]]
    assert workshop.do("POST", f"enrolment-codes/{code['id']}/end")["state"] == "ended"
    assert workshop.send("DELETE", f"enrolment-codes/{code['id']}").status_code == 204
    assert workshop.do("GET", "enrolment-codes?state=open")["items"] == []
    assert len(workshop.do("GET", "enrolment-codes")["items"]) == 1


def test_templates_are_checked_as_on_the_page(manager: ApiProgram) -> None:
    body = {"name": "Window", "preset": "counts"}
    template = manager.do("POST", "templates", body | {"source": "rtsp://192.0.2.7/low"})
    assert manager.do("GET", f"templates/{template['id']}")["source"] == "rtsp://192.0.2.7/low"
    assert manager.refusal("POST", "templates", body) == (409, "conflict")
    assert manager.refusal("POST", "templates", body | {"name": "X", "source": "rtsp://a:b@c/"}) == (400, "bad_request")
    assert manager.refusal("POST", "templates", {"name": "Y"}) == (400, "bad_request")  # nobody is told
    assert manager.refusal("POST", "enrolment-codes", {"template": 4711}) == (400, "bad_request")
    assert manager.send("DELETE", f"templates/{template['id']}").status_code == 204


def test_devices_are_set_by_template_site_and_device_and_many_at_once(manager: ApiProgram, owner: Account) -> None:
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    template = manager.do("POST", "templates", {"name": "Window", "preset": "counts"})
    made = manager.do("POST", "enrolment-codes", {"template": template["id"], "site": site.pk, "devices": 3})
    boxes = [enrolled(made["code"])["device"] for _ in range(3)]
    manager.do("PATCH", f"templates/{template['id']}", {"device_settings": {"fps": 2, "quality": 50}})
    told = manager.do("PATCH", f"sites/{site.pk}", {"device_settings": {"fps": 3}, "address": "1 rue X"})
    assert (told["device_settings"], told["address"]) == ({"fps": 3}, "1 rue X")
    device = manager.do("PATCH", f"devices/{boxes[0]}", {"settings": {"quality": 60}})
    assert (device["settings"], device["configuration"]["state"]) == ({"quality": 60}, "new")
    offered = manager.do("GET", f"devices/{boxes[0]}/configuration")
    assert (offered["settings"]["fps"], offered["settings"]["quality"]) == (3, 60)
    assert offered["versions"][0]["version"] == offered["version"]
    assert offered["versions"][0]["by"].startswith("key:")
    body = {"select": {"site": site.pk}, "settings": {"fps": 5}}
    shown = manager.do("POST", "device-configurations", body | {"preview": True})
    assert (shown["selected"], shown["changed"]) == (3, 3)
    assert shown["items"][0]["settings"] == {"fps": {"before": 3, "after": 5}}
    assert manager.do("POST", "device-configurations", body) == shown | {"preview": False}
    assert manager.do("GET", f"devices/{boxes[2]}/configuration")["settings"]["fps"] == 5
    assert manager.do("GET", f"devices/{boxes[2]}/health") == {"items": []}
    for wrong in ({"fps": 1000}, {"colour": "red"}):
        assert manager.refusal("PATCH", f"devices/{boxes[0]}", {"settings": wrong}) == (400, "bad_request")
        assert manager.refusal("POST", "device-configurations", body | {"settings": wrong}) == (400, "bad_request")
