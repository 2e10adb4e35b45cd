"""An organisation that requires a second factor: members without one are led to set one up, and see nothing before."""

import pytest

from onlooker.streams.administration import create_stream
from onlooker.streams.models import MembershipSite, Site, Stream
from onlooker.streams.organisations import add_member, create_organisation
from provider_sign_ins import says
from sign_in_forms import add_second_factor
from token_requests import Camera, get_token

pytest_plugins = ["pages", "cameras"]

REQUIRED = "/accounts/2fa/required/"


@pytest.fixture
def strict(owner):
    """An organisation that requires one, and whose owner has one."""
    organisation = create_organisation("Strict", owner)
    organisation.requires_second_factor = True
    organisation.save()
    add_second_factor(owner)
    return organisation


@pytest.fixture
def stream(strict, owner):
    return create_stream("Front door", owner=owner, organisation=strict, kind="developer").stream


PAGES = (
    "", "dashboard/", "dashboard/table.csv", "dashboard/table.parquet", "dashboard/changes.csv",
    "dashboard/changes.parquet", "dashboard/report.pdf",
    "dashboard/live/", "settings/",
    "rotate/", "remove/", "audit/", "audit/file/", "erase/", "try/", "check/", "notices/",
)  # fmt: skip


def test_a_member_without_one_is_led_from_every_page_of_a_stream(sign_in, strict, stream, viewer) -> None:
    add_member(strict, viewer, "manager")
    browser = sign_in(viewer)
    for page in PAGES:
        answer = browser.get(f"/streams/{stream.client_id}/{page}")
        assert (answer.status_code, answer.headers.get("location")) == (302, REQUIRED), page
    assert says(browser.get(REQUIRED), "Strict")
    assert browser.get(f"/organisations/{strict.pk}/").headers["location"] == REQUIRED
    assert browser.get(f"/organisations/{strict.pk}/audit/file/").headers["location"] == REQUIRED


def test_the_overview_names_the_organisation_and_nothing_of_it(sign_in, strict, stream, viewer) -> None:
    add_member(strict, viewer, "manager")
    create_stream("My own", owner=viewer, organisation=create_organisation("Own", viewer), kind="developer")
    page = sign_in(viewer).get("/streams/").content.decode()
    assert "My own" in page
    assert "Strict requires a second factor" in page
    assert "Front door" not in page
    assert str(stream.client_id) not in page
    assert "Strict" not in sign_in(viewer).get("/organisations/", follow=True).content.decode()


def test_what_they_send_changes_nothing(sign_in, strict, stream, viewer) -> None:
    add_member(strict, viewer, "owner")
    before = Stream.objects.filter(pk=stream.pk).values().get()
    browser = sign_in(viewer)
    for page in ("settings/", "rotate/", "remove/", "erase/", "notices/public/", "try/token/"):
        assert browser.post(f"/streams/{stream.client_id}/{page}", {"name": "Mine"}).status_code == 404, page
    assert browser.post(f"/organisations/{strict.pk}/settings/", {"name": "Mine"}).status_code == 404
    strict.refresh_from_db()
    assert strict.requires_second_factor
    assert Stream.objects.filter(pk=stream.pk).values().get() == before


def test_no_stream_is_created_in_it(sign_in, strict, viewer) -> None:
    add_member(strict, viewer, "owner")
    given = {"name": "Mine", "place": "shop", "preset": "counts", "time_zone": "UTC", "kind": "developer"}
    answer = sign_in(viewer).post("/streams/new/", given)
    assert says(answer, "You can't create streams here"), answer.content.decode()
    assert not Stream.objects.exists()


def test_with_one_they_see_it_all(sign_in, strict, stream, viewer) -> None:
    add_member(strict, viewer, "analyst")
    browser = sign_in(viewer)
    add_second_factor(viewer)
    assert browser.get(f"/streams/{stream.client_id}/").status_code == 200
    assert "Front door" in browser.get("/streams/").content.decode()
    assert browser.get(REQUIRED).headers["location"] == "/streams/"


def test_recovery_codes_are_none(sign_in, strict, stream, viewer) -> None:
    from allauth.mfa.models import Authenticator

    add_member(strict, viewer, "analyst")
    Authenticator.objects.create(user=viewer, type="recovery_codes", data={})
    assert sign_in(viewer).get(f"/streams/{stream.client_id}/").headers["location"] == REQUIRED


def test_others_learn_nothing(sign_in, strict, stream, stranger, viewer) -> None:
    """Neither strangers, nor viewers of another site of it."""
    there, elsewhere = (Site.objects.create(organisation=strict, name=name) for name in ("Here", "Elsewhere"))
    Stream.objects.filter(pk=stream.pk).update(site=there)
    MembershipSite.objects.create(membership=add_member(strict, viewer, "viewer"), site=elsewhere)
    for person in (stranger, viewer):
        assert sign_in(person).get(f"/streams/{stream.client_id}/").status_code == 404
    assert sign_in(stranger).get(f"/organisations/{strict.pk}/").status_code == 404
    assert "Strict" not in sign_in(stranger).get("/streams/").content.decode()


def test_an_owner_needs_one_before_requiring_it(sign_in, owner) -> None:
    organisation = create_organisation("Acme", owner)
    page = f"/organisations/{organisation.pk}/settings/"
    given = {"name": "Acme", "requires_second_factor": "on"}
    assert says(sign_in(owner).post(page, given), "Set up your own second factor first")
    add_second_factor(owner)
    assert sign_in(owner).post(page, given).status_code == 302
    organisation.refresh_from_db()
    assert organisation.requires_second_factor


def test_tokens_and_devices_are_not_affected(camera: Camera) -> None:
    """They are not people; the guide says so."""
    organisation = camera.stream.organisation
    organisation.requires_second_factor = True
    organisation.save()
    get_token(camera)
