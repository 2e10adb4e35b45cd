"""The pages of devices: templates, codes that are shown once, the list, revoking, replacing; each for its managers."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from enrolments import code_of, enrol, enrolled, new_key, renew, site_of, template_of
from onlooker.audit.models import AuditEntry, OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.devices import pages
from onlooker.devices.models import Device, DeviceTemplate, EnrolmentCode
from onlooker.streams.models import AgentCondition, MemberRole, Membership, Stream
from onlooker.streams.organisations import organisation_of
from onlooker.up.certificates import ensure_certificate

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
TEMPLATE = {
    "name": "Shop window",
    "place": "public",
    "preset": "counts",
    "compute": "server",
    "time_zone": "Europe/Paris",
    "hours": "",
    "source": "0",
}


@pytest.fixture
def browser(sign_in: SignIn, owner: Account) -> Client:
    organisation_of(owner)
    return sign_in(owner)


def text_of(browser: Client, path: str, **given: Any) -> str:
    return browser.post(path, given).content.decode()


def code_in(page: str) -> str:
    found = re.search(r'id="code">([A-Z0-9-]+)<', page)
    assert found, page
    return found[1]


def test_a_template_then_a_code_then_devices(browser: Client, owner: Account) -> None:
    assert browser.get("/devices/codes/new/")["Location"] == "/devices/templates/new/"
    answer = browser.post("/devices/templates/new/", TEMPLATE)
    template = DeviceTemplate.objects.get()
    assert answer["Location"] == f"/devices/codes/new/?template={template.pk}"
    assert template.settings["reads_faces"] is False
    answer = browser.post("/devices/codes/new/", {"template": template.pk, "devices": "50", "days": "7"})
    page = answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    assert 'data-replace-url="/devices/"' in page
    code = code_in(page)
    assert f"onlooker-agent enrol {code}" in page
    assert f"code = {code}" in page
    assert "server = https://console.example.org" in page
    assert enrolled(code)["stream"] == "Shop window 1"
    listed = browser.get("/devices/").content.decode()
    assert code[5:] not in listed
    assert "1 of 50" in listed
    assert "player-1" in listed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"preset": "audience"}, "Tell the people"),
        ({"preset": "everything", "place": "workplace", "notice_given": "on"}, "forbidden"),
        ({"source": "rtsp://user:secret@192.0.2.7/1"}, "without a password"),
        ({"name": "x" * 90}, "at most 80"),
        ({"hours": "never"}, "errorlist"),
    ],
)
def test_a_template_that_can_not_be_is_refused(browser: Client, change: dict[str, str], words: str) -> None:
    assert words in text_of(browser, "/devices/templates/new/", **TEMPLATE | change)
    assert not DeviceTemplate.objects.exists()


def test_a_second_template_of_a_name_is_refused(browser: Client) -> None:
    browser.post("/devices/templates/new/", TEMPLATE)
    assert "already" in text_of(browser, "/devices/templates/new/", **TEMPLATE)


@pytest.mark.parametrize("given", [{"devices": "0"}, {"devices": "1001"}, {"days": "91"}, {"site": "999999"}])
def test_a_code_that_can_not_be_is_refused(browser: Client, owner: Account, given: dict[str, str]) -> None:
    right = {"template": str(template_of(owner).pk), "devices": "1", "days": "7"}
    assert "errorlist" in text_of(browser, "/devices/codes/new/", **right | given)
    assert not EnrolmentCode.objects.exists()


def test_site_and_template_of_others_are_not_offered(browser: Client, owner: Account, stranger: Account) -> None:
    template_of(owner)
    others_template, others_site = template_of(stranger, "Theirs"), site_of(stranger, "Their site")
    page = browser.get("/devices/codes/new/").content.decode()
    assert "Theirs" not in page
    assert "Their site" not in page
    given = {"template": others_template.pk, "site": others_site.pk, "devices": "1", "days": "7"}
    assert "errorlist" in text_of(browser, "/devices/codes/new/", **given)


def test_codes_and_templates_are_in_the_log_of_the_organisation(browser: Client, owner: Account) -> None:
    browser.post("/devices/templates/new/", TEMPLATE)
    template = DeviceTemplate.objects.get()
    browser.post("/devices/codes/new/", {"template": template.pk, "devices": "50", "days": "7"})
    browser.post(f"/devices/codes/{EnrolmentCode.objects.get().pk}/end/")
    browser.post(f"/devices/templates/{template.pk}/remove/")
    rows = OrganisationEntry.objects.filter(organisation=organisation_of(owner), actor=f"account:{owner.pk}")
    done = list(rows.order_by("number").values_list("action", flat=True))
    assert done == ["template.created", "code.created", "code.ended", "template.removed"]


def test_a_code_can_be_ended(browser: Client, owner: Account) -> None:
    made = code_of(owner)
    browser.post(f"/devices/codes/{made.code.pk}/end/")
    assert "was ended" in enrol(made.text).json()["detail"]
    assert browser.post(f"/devices/codes/{made.code.pk}/end/").status_code == 404


def test_a_removed_template_ends_its_codes(browser: Client, owner: Account) -> None:
    made = code_of(owner)
    key = new_key()
    enrolled(code_of(owner).text, key)
    browser.post(f"/devices/templates/{DeviceTemplate.objects.get().pk}/remove/")
    assert enrol(made.text).status_code == 403
    assert renew(key).status_code == 200


def test_revoking_asks_first_and_names_who_did_it(browser: Client, owner: Account) -> None:
    key = new_key()
    said = enrolled(code_of(owner).text, key)
    path = f"/devices/{said['device']}/revoke/"
    assert "ends at once" in browser.get(path).content.decode()
    assert renew(key).status_code == 200
    browser.post(path)
    assert renew(key).json()["code"] == "device_revoked"
    entry = AuditEntry.objects.get(action="device.revoked")
    assert entry.actor == f"account:{owner.pk}"
    assert "player-1 is revoked" in browser.get("/devices/").content.decode()
    assert browser.post(path).status_code == 404, "there is nothing left to revoke"
    assert "player-1" not in browser.get("/devices/").content.decode()
    assert "revoked" in browser.get("/devices/?revoked=1").content.decode()
    log = browser.get(f"/streams/{said['client_id']}/audit/").content.decode()
    assert "(player-1) revoked." in log
    assert "A device with enrolment code" in log


def test_replacing_gives_a_code_for_the_same_stream(browser: Client, owner: Account) -> None:
    said = enrolled(code_of(owner).text)
    page = text_of(browser, f"/devices/{said['device']}/replace/")
    assert enrolled(code_in(page))["client_id"] == said["client_id"]
    assert Stream.objects.count() == 1
    assert Device.objects.filter(revoked_at=None).count() == 1


def test_the_list_says_what_the_agent_last_reported(browser: Client, owner: Account) -> None:
    said = enrolled(code_of(owner).text)
    moment = timezone.now() + timedelta(minutes=5)
    AgentCondition.objects.create(
        stream=Stream.objects.get(client_id=said["client_id"]),
        state="seeing",
        since_at=moment,
        over_s=60,
        sent=1,
        dropped={},
        version="9.8.7",
        received_at=moment,
    )
    page = browser.get("/devices/").content.decode()
    assert "9.8.7" in page
    assert f"{moment:%H:%M}" in page


def test_the_list_can_be_searched_and_turned(browser: Client, owner: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ROWS", 2)
    site = site_of(owner)
    for _ in range(3):
        enrolled(code_of(owner, site=site).text)
    enrolled(code_of(owner).text)
    first = browser.get("/devices/").content.decode()
    assert "Shop window 1" in first
    following = re.search(r'href="\?before=(\d+)', first)
    assert following
    second = browser.get(f"/devices/?before={following[1]}").content.decode()
    assert ("Lyon 1" in second, "Shop window 1" in second) == (True, False)
    assert "Lyon 2" in browser.get("/devices/?search=lyon+2").content.decode()
    assert "Shop window 1" not in browser.get(f"/devices/?site={site.pk}").content.decode()


@pytest.mark.parametrize("role", [MemberRole.ANALYST, MemberRole.VIEWER])
def test_members_who_manage_nothing_see_no_devices(
    sign_in: SignIn, owner: Account, viewer: Account, role: MemberRole
) -> None:
    said = enrolled(code_of(owner).text)
    Membership.objects.create(organisation=organisation_of(owner), account=viewer, role=role)
    browser = sign_in(viewer)
    assert "player-1" not in browser.get("/devices/").content.decode()
    for path in (f"/devices/{said['device']}/revoke/", f"/devices/{said['device']}/replace/", "/devices/codes/new/"):
        assert browser.get(path).status_code == 404
        assert browser.post(path).status_code == 404


def test_a_manager_manages_devices(sign_in: SignIn, owner: Account, viewer: Account) -> None:
    said = enrolled(code_of(owner).text)
    Membership.objects.create(organisation=organisation_of(owner), account=viewer, role=MemberRole.MANAGER)
    sign_in(viewer).post(f"/devices/{said['device']}/revoke/")
    assert Device.objects.get().revoked_at


def test_the_boot_file_carries_the_authority(browser: Client, owner: Account, settings: Any, tmp_path: Path) -> None:
    ensure_certificate(tmp_path / "tls", ["console.example.org"])
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file=str(tmp_path / "tls" / "ca.pem"))
    page = text_of(browser, "/devices/codes/new/", template=template_of(owner).pk, devices="1", days="1")
    assert "-----BEGIN CERTIFICATE-----" in page
    assert "--ca authority.pem" in page
