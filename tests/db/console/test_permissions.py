"""Every route of the console against everybody who may come: who is let in, and what the others are told."""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from http.cookies import SimpleCookie
from typing import Any

import msgspec
import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from console_people import make_account, open_browser
from enrolments import code_of
from memberships import invite_to, organisation_with, share_stream, site_of
from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation
from onlooker.console.reports.links import LinkChoices, create_link
from onlooker.console.reports.mailed_reports import ReportChoices, create_report
from onlooker.console.reports.models import MailedReport, SharedLink
from onlooker.console.reports.saved_views import Subject
from onlooker.console.webhooks.endpoints import create_endpoint, send_test
from onlooker.devices.models import Device, EnrolmentCode
from onlooker.keys.keys import create_key
from onlooker.keys.models import OrganisationKey
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Membership, Note, Site, Stream
from onlooker.streams.notes import create_note
from onlooker.webhooks.models import Delivery

pytest_plugins = ["pages"]
LEADS_TO_LOGIN = {"accounts/logout/", "accounts/2fa/webauthn/login/"}
"""After signing out, or without having been signed in."""
NOT_THERE_FOR_SOME = {
    "accounts/2fa/totp/deactivate/",
    "accounts/2fa/webauthn/keys/<int:pk>/edit/",
    "accounts/2fa/webauthn/keys/<int:pk>/remove/",
    "accounts/2fa/recovery-codes/",
    "accounts/2fa/recovery-codes/download/",
    "accounts/sessions/<int:number>/end/",
    "accounts/^confirm-email/(?P<key>[-:\\w]+)/$",
    "docs/",
    "docs/<path:page>",
    "agent/install.sh",
    "agent/requirements.txt",
    "agent/install-device.sh",
    "agent/requirements-device.txt",
    "agent/simple/<slug:project>/",
    "authority.pem",
    "invitations/<uuid:invitation_id>/",
    "notice/<slug:key>/",
    "shared/<slug:token>/",
    "unsubscribe/<str:token>/",
    "sign-in/<slug:address>/",
    "sign-in/<slug:address>/return/",
}
"""There may be none, or the key may be wrong: 404 for some who are let in."""
pytestmark = pytest.mark.usefixtures("sign_in")

ROLES = (
    *("anonymous", "stranger", "removed", "other owner", "elsewhere", "viewer", "analyst", "staff"),
    *("manager", "owner"),
)
"""A stranger is in no organisation; `removed` was a manager of this one; `other owner` has another organisation, in
which the viewer is a member too; `elsewhere` is a viewer of another site. Those who may change come last."""
IN, LOGIN, MISSING = "let in", "sent to the login", "not found"
OPEN = (IN,) * len(ROLES)
SIGNED_IN = (LOGIN, *(IN,) * 9)
OWNER = (LOGIN, *(MISSING,) * 8, IN)
MANAGER = (LOGIN, *(MISSING,) * 7, IN, IN)
MEMBER = (LOGIN, MISSING, MISSING, MISSING, MISSING, IN, IN, MISSING, IN, IN)
"""Who sees the stream."""
WRITER = (LOGIN, *(MISSING,) * 5, IN, MISSING, IN, IN)
"""Who may write notes."""
ANY_MEMBER = (LOGIN, MISSING, MISSING, MISSING, IN, IN, IN, MISSING, IN, IN)
"""Who is in the organisation."""
DEVICE_MANAGER = (LOGIN, IN, IN, IN, MISSING, IN, MISSING, IN, IN, IN)
"""Who manages any organisation, or is in none; the viewer of this one is a manager of another."""

MATRIX = {
    "": OPEN,  # leads to the streams
    "streams/": SIGNED_IN,
    "streams/numbers/": SIGNED_IN,  # of visible streams alone: test_group_page
    "streams/numbers.json": SIGNED_IN,
    "streams/numbers/days.csv": SIGNED_IN,  # the same: test_group_table
    "streams/numbers/days.parquet": SIGNED_IN,
    "streams/numbers/totals.csv": SIGNED_IN,
    "streams/numbers/totals.parquet": SIGNED_IN,
    "streams/numbers/changes.csv": SIGNED_IN,
    "streams/numbers/changes.parquet": SIGNED_IN,
    "streams/compare/": SIGNED_IN,  # of visible streams alone: test_comparison_pages
    "streams/compare/comparison.csv": SIGNED_IN,
    "streams/compare/comparison.parquet": SIGNED_IN,
    "streams/compare/before-after/": MEMBER,
    "streams/compare/before-after.csv": MEMBER,
    "streams/compare/before-after.parquet": MEMBER,
    "streams/change/": SIGNED_IN,  # of managed streams alone: test_bulk_changes
    "streams/new/": SIGNED_IN,
    "streams/<uuid:client_id>/": MEMBER,
    "streams/<uuid:client_id>/dashboard/": MEMBER,
    "streams/<uuid:client_id>/dashboard/table.csv": MEMBER,
    "streams/<uuid:client_id>/dashboard/table.parquet": MEMBER,
    "streams/<uuid:client_id>/dashboard/report.pdf": MEMBER,
    "streams/<uuid:client_id>/dashboard/changes.csv": MEMBER,
    "streams/<uuid:client_id>/dashboard/changes.parquet": MEMBER,
    "streams/<uuid:client_id>/dashboard/breakdowns/": MEMBER,
    "streams/<uuid:client_id>/dashboard/live/": MEMBER,
    "streams/<uuid:client_id>/notes/new/": WRITER,
    "streams/<uuid:client_id>/try/": MANAGER,
    "streams/<uuid:client_id>/try/token/": MANAGER,
    "streams/<uuid:client_id>/check/": MANAGER,
    "streams/<uuid:client_id>/check/begin/": MANAGER,
    "streams/<uuid:client_id>/check/<int:check_id>/end/": MANAGER,
    "streams/<uuid:client_id>/notices/": MANAGER,
    "streams/<uuid:client_id>/notices/details/": MANAGER,
    "streams/<uuid:client_id>/notices/public/": MANAGER,
    "streams/<uuid:client_id>/notices/sign/": MANAGER,
    "streams/<uuid:client_id>/notices/record/": MANAGER,
    "streams/<uuid:client_id>/notices/assessment/": MANAGER,
    "streams/<uuid:client_id>/notices/models/": MANAGER,
    "notice/<slug:key>/": OPEN,  # who has the link may see it; test_public_page: only while it is on
    "streams/<uuid:client_id>/links/new/": MANAGER,
    "organisations/<int:organisation_id>/links/": MANAGER,
    "organisations/<int:organisation_id>/links/new/": MANAGER,
    "organisations/<int:organisation_id>/links/<int:link_id>/revoke/": MANAGER,
    "streams/<uuid:client_id>/reports/new/": MANAGER,
    "organisations/<int:organisation_id>/reports/": MANAGER,
    "organisations/<int:organisation_id>/reports/new/": MANAGER,
    "organisations/<int:organisation_id>/reports/outside/": OWNER,
    "organisations/<int:organisation_id>/reports/<int:report_id>/": MANAGER,
    "organisations/<int:organisation_id>/reports/<int:report_id>/remove/": MANAGER,
    "unsubscribe/<str:token>/": OPEN,  # with the link of a mail; test_unsubscription
    "shared/<slug:token>/": OPEN,  # who has the link may see it; test_shared_page: only while it lives
    "streams/<uuid:client_id>/settings/": MANAGER,
    "streams/<uuid:client_id>/rotate/": MANAGER,
    "streams/<uuid:client_id>/remove/": MANAGER,
    "streams/<uuid:client_id>/audit/": MANAGER,
    "streams/<uuid:client_id>/audit/file/": MANAGER,
    "streams/<uuid:client_id>/erase/": MANAGER,
    "organisations/": SIGNED_IN,
    "organisations/<int:organisation_id>/": ANY_MEMBER,
    "organisations/<int:organisation_id>/settings/": OWNER,
    "organisations/<int:organisation_id>/remove/": OWNER,
    "organisations/<int:organisation_id>/sign-in/": OWNER,
    "sign-in/<slug:address>/": OPEN,  # test_provider_admission: who gets in
    "sign-in/<slug:address>/return/": OPEN,
    "organisations/<int:organisation_id>/leave/": ANY_MEMBER,
    "organisations/<int:organisation_id>/audit/": MANAGER,
    "organisations/<int:organisation_id>/audit/file/": MANAGER,
    "organisations/<int:organisation_id>/keys/": MANAGER,
    "organisations/<int:organisation_id>/keys/new/": MANAGER,
    "organisations/<int:organisation_id>/keys/<int:key_id>/revoke/": MANAGER,  # owners' keys: test_key_pages
    "organisations/<int:organisation_id>/members/<int:membership_id>/": MANAGER,
    "organisations/<int:organisation_id>/members/<int:membership_id>/remove/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/new/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/test/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/secret/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/switch/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/remove/": MANAGER,
    "organisations/<int:organisation_id>/webhooks/<int:endpoint_id>/deliveries/<int:delivery_id>/replay/": MANAGER,
    "organisations/<int:organisation_id>/sites/new/": MANAGER,
    "organisations/<int:organisation_id>/sites/<int:site_id>/": MANAGER,
    "organisations/<int:organisation_id>/sites/<int:site_id>/devices/": MANAGER,
    "organisations/<int:organisation_id>/sites/<int:site_id>/remove/": MANAGER,
    "organisations/<int:organisation_id>/sites/<int:site_id>/notes/new/": WRITER,
    "organisations/<int:organisation_id>/notes/": WRITER,
    "organisations/<int:organisation_id>/notes/new/": WRITER,
    "organisations/<int:organisation_id>/notes/<int:note_id>/": WRITER,
    "organisations/<int:organisation_id>/notes/<int:note_id>/remove/": WRITER,
    "organisations/<int:organisation_id>/invite/": MANAGER,
    "organisations/<int:organisation_id>/invitations/<uuid:invitation_id>/revoke/": MANAGER,
    "invitations/<uuid:invitation_id>/": OPEN,  # who has the link may see it; test_members_invitation: who may accept
    "api-token-authstream/": OPEN,
    "api-token-authstream": OPEN,
    ".well-known/jwks.json": OPEN,
    "openapi.json": OPEN,
    "api/v1/": OPEN,
    "api/v1/openapi.json": OPEN,
    "devices/": SIGNED_IN,  # each sees those of the organisations that they manage; test_device_pages
    "devices/fleet/": SIGNED_IN,  # of managed devices alone: test_device_fleet_page
    "devices/change/": SIGNED_IN,  # the same
    "devices/codes/new/": DEVICE_MANAGER,
    "devices/codes/<int:code_id>/end/": MANAGER,
    "devices/templates/new/": DEVICE_MANAGER,
    "devices/templates/<int:template_id>/": MANAGER,
    "devices/templates/<int:template_id>/remove/": MANAGER,
    "devices/<uuid:device_id>/": MANAGER,
    "devices/<uuid:device_id>/settings/": MANAGER,
    "devices/<uuid:device_id>/again/": MANAGER,
    "devices/<uuid:device_id>/revoke/": MANAGER,
    "devices/<uuid:device_id>/replace/": MANAGER,
    "devices/enrol/": OPEN,  # with a code; test_enrolment
    "devices/credential/": OPEN,  # with a device's key
    "devices/configuration/": OPEN,  # with a device's key; test_health: revoked, unknown and other devices
    "devices/health/": OPEN,  # with a device's key
    "billing/": SIGNED_IN,
    "billing/card/": SIGNED_IN,
    "billing/done/": SIGNED_IN,
    "billing/webhook/": OPEN,
    "billing/<uuid:client_id>/upgrade/": OWNER,
    "billing/<uuid:client_id>/cancel/": OWNER,
    "accounts/": SIGNED_IN,
    "accounts/language/": SIGNED_IN,
    "accounts/delete/": SIGNED_IN,
    "accounts/sessions/": SIGNED_IN,
    "accounts/sessions/<int:number>/end/": SIGNED_IN,
    "accounts/closed/": SIGNED_IN,
    "accounts/events/": SIGNED_IN,
    "accounts/email/": SIGNED_IN,
    "accounts/reauthenticate/": SIGNED_IN,
    "accounts/password/change/": SIGNED_IN,
    "accounts/password/set/": SIGNED_IN,
    "accounts/password/reset/": OPEN,
    "accounts/password/reset/done/": OPEN,
    "accounts/password/reset/key/done/": OPEN,
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": OPEN,
    "accounts/login/": OPEN,
    "accounts/login/code/confirm/": SIGNED_IN,  # codes by mail are not offered
    "accounts/logout/": OPEN,
    "accounts/inactive/": OPEN,
    "accounts/signup/": OPEN,
    "accounts/confirm-email/": OPEN,
    "accounts/^confirm-email/(?P<key>[-:\\w]+)/$": OPEN,
    "accounts/2fa/": SIGNED_IN,
    "accounts/2fa/authenticate/": SIGNED_IN,
    "accounts/2fa/required/": SIGNED_IN,
    "accounts/2fa/reauthenticate/": SIGNED_IN,
    "accounts/2fa/totp/activate/": SIGNED_IN,
    "accounts/2fa/totp/deactivate/": SIGNED_IN,
    "accounts/2fa/webauthn/": SIGNED_IN,
    "accounts/2fa/webauthn/add/": SIGNED_IN,
    "accounts/2fa/webauthn/keys/<int:pk>/edit/": SIGNED_IN,
    "accounts/2fa/webauthn/keys/<int:pk>/remove/": SIGNED_IN,
    "accounts/2fa/webauthn/login/": OPEN,  # leads to the login, which leads on who is signed in
    "accounts/2fa/webauthn/reauthenticate/": SIGNED_IN,
    "accounts/2fa/recovery-codes/": SIGNED_IN,
    "accounts/2fa/recovery-codes/generate/": SIGNED_IN,
    "accounts/2fa/recovery-codes/download/": SIGNED_IN,
    "docs/": OPEN,  # without a built site: 404, with the command
    "docs/<path:page>": OPEN,
    "agent/install.sh": OPEN,
    "agent/requirements.txt": OPEN,
    "agent/install-device.sh": OPEN,
    "agent/requirements-device.txt": OPEN,
    "agent/simple/": OPEN,
    "agent/simple/<slug:project>/": OPEN,
    "words/<slug:language>.js": OPEN,
    "authority.pem": OPEN,
    "livez": OPEN,
    "readyz": OPEN,
}


def routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern)


ROUTES = sorted(set(routes(get_resolver().url_patterns)))
API_PAGES = ("api/v1/", "api/v1/openapi.json")
"""The other routes of the management interface know keys alone: test_api_permissions."""
PAGES = [
    route
    for route in ROUTES
    if not route.startswith("staff/") and (route in API_PAGES or not route.startswith("api/v1/"))
]
STAFF_PAGES = [route for route in ROUTES if route.startswith("staff/")]


@dataclass(frozen=True)
class World:
    """A stream at a site with people of every role and an open invitation, and others."""

    stream: Stream
    member: Membership
    site: Site
    invitation: Invitation
    device: Device
    code: EnrolmentCode
    key: OrganisationKey
    delivery: Delivery
    note: Note
    link: SharedLink
    report: MailedReport
    cookies: dict[str, SimpleCookie]
    """Of a browser in which one of each role is signed in."""

    def browser(self, role: str) -> Client:
        browser = open_browser(None)
        browser.cookies = deepcopy(self.cookies[role])
        return browser

    def path(self, route: str) -> str:
        values = {
            "client_id": str(self.stream.client_id),
            "organisation_id": str(self.stream.organisation_id),
            "membership_id": str(self.member.pk),
            "site_id": str(self.site.pk),
            "invitation_id": str(self.invitation.pk),
            "device_id": str(self.device.device_id),
            "code_id": str(self.code.pk),
            "template_id": str(self.code.template_id),
            "key_id": str(self.key.pk),
            "endpoint_id": str(self.delivery.endpoint_id),
            "delivery_id": str(self.delivery.pk),
            "note_id": str(self.note.pk),
            "link_id": str(self.link.pk),
            "report_id": str(self.report.pk),
            "language": "fr",
        }
        route = re.sub(r"\^|\$", "", route)
        route = route.replace("(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)", "1-key").replace("(?P<key>[-:\\w]+)", "key")
        asked = f"?row=stream:{self.stream.client_id}" if "/before-after" in route else ""
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values.get(found[1], "1"), route) + asked


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Made once: what a test changes is undone after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def payments(settings: Any) -> None:
    """Are set up, with nobody at the other end."""
    settings.ONLOOKER = msgspec.structs.replace(
        settings.ONLOOKER,
        stripe_secret_key="sk_test_1",
        stripe_webhook_secret="whsec_1",
        stripe_price="price_1",
        stripe_api_url="http://127.0.0.1:9",
    )


def make_world() -> World:
    names = ("removed", "elsewhere", "analyst", "manager", "boss", "owner", "viewer", "stranger")
    made = {name: make_account(f"{name}@example.org") for name in names}
    owner, viewer = made["owner"], made["viewer"]
    staff = make_account("staff@example.org", is_staff=True, is_superuser=True)
    TOTP.activate(staff, generate_totp_secret())
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    other_place = create_stream("Back door", owner=owner, kind="developer").stream
    share_stream(stream, viewer)
    share_stream(other_place, made["elsewhere"])
    for role in (MemberRole.ANALYST, MemberRole.MANAGER):
        share_stream(stream, made[role], role)
    share_stream(stream, made["removed"], MemberRole.MANAGER).delete()
    foreign = create_stream("Theirs", owner=made["boss"], kind="developer").stream
    share_stream(foreign, viewer, MemberRole.MANAGER)
    people: dict[str, Account | None] = {"anonymous": None, "staff": staff, "other owner": made["boss"], **made}
    member = share_stream(stream, make_account("member@example.org"))
    code = code_of(owner).code
    device = Device.objects.create(stream=stream, code=code, key_sha256=bytes(32))
    key = create_key(organisation_with(stream), "Program", ["numbers"]).key
    delivery = send_test(create_endpoint(organisation_with(stream), "https://hooks.example.org/").endpoint)
    invitation = invite_to(stream, "new@example.org")
    note = create_note(organisation_with(stream), "New window", date(2026, 11, 9), about=stream)
    subject, ends = Subject(organisation_with(stream), stream=stream), timezone.now() + timedelta(days=9)
    link = create_link(subject, LinkChoices("Landlord", "7d", ends)).link
    report = create_report(subject, ReportChoices("Weekly", 0, 7, "last-week", [owner.pk]))
    cookies = {role: open_browser(people[role]).cookies for role in ROLES}
    return World(stream, member, site_of(stream), invitation, device, code, key, delivery, note, link, report, cookies)


def ask(browser: Client, method: str, path: str) -> HttpResponse:
    answer = browser.get(path) if method == "GET" else browser.post(path, {})
    assert answer.status_code < 500 or answer.status_code == 503, answer.content
    return answer


def check(answer: HttpResponse, expected: str, what: str, route: str) -> None:
    if answer.status_code == 405:
        return  # nobody has this method there
    allowed = {expected}
    if expected == IN:
        allowed |= ({MISSING} if route in NOT_THERE_FOR_SOME else set()) | (
            {LOGIN} if route in LEADS_TO_LOGIN else set()
        )
    assert verdict(answer) in allowed, f"{what}: {answer.status_code} {answer.headers.get('Location', '')}"


def expectations(route: str) -> dict[str, str]:
    """By role: all who are not let in, and of those who are, who may least and who may most."""
    expected = dict(zip(ROLES, MATRIX[route], strict=True))
    let_in = [role for role in ROLES if expected[role] == IN]
    return {role: answer for role, answer in expected.items() if answer != IN or role in (let_in[0], let_in[-1])}


def verdict(answer: HttpResponse) -> str:
    if answer.status_code == 404:
        return MISSING
    if answer.status_code in (302, 303) and answer["Location"].startswith("/accounts/login/"):
        return LOGIN
    assert answer.status_code != 403, "a refusal must not tell what is there"
    return IN


def test_every_route_is_in_the_matrix() -> None:
    assert set(PAGES) == set(MATRIX)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("route", STAFF_PAGES)
def test_the_staffs_pages_are_for_staff(world: World, route: str, method: str) -> None:
    path = "/" + re.sub(r"<[^>]+>|\(\?P<[^>]+>[^)]*\)", "1", route).replace("$", "").replace("^", "")
    for role in ROLES:
        answer = ask(world.browser(role), method, path)
        if role == "staff":
            assert "/login/" not in answer.headers.get("Location", ""), f"{role} {method} {path}"
        elif answer.status_code != 405:
            assert is_turned_away(answer), f"{role} {method} {path}: {answer.status_code}"


def is_turned_away(answer: HttpResponse) -> bool:
    """The staff's login leads strangers to the login, and is not there for others: test_staff_door."""
    if answer.status_code in (302, 303):
        return answer["Location"].startswith(("/staff/login/", "/accounts/login/")) or answer["Location"] == "/staff/"
    return answer.status_code in (403, 404)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("route", PAGES)
def test_who_is_let_in(world: World, route: str, method: str) -> None:
    for role, expected in expectations(route).items():
        with transaction.atomic():  # what is let in may change the world for those who come next
            answer = ask(world.browser(role), method, world.path(route))
            transaction.set_rollback(True)
        check(answer, expected, f"{role} {method} /{route}", route)


def test_the_owner_finds_everything_as_it_was_after_everybody_else_has_tried(world: World) -> None:
    """What strangers, analysts, viewers and staff send changes nothing of a stream or an organisation."""
    before = Stream.objects.filter(pk=world.stream.pk).values().get()
    for role in ROLES[:-2]:
        browser = world.browser(role)
        for route in PAGES:
            if MATRIX[route] in (OWNER, MANAGER) or (MATRIX[route] == WRITER and role != "analyst"):
                ask(browser, "POST", world.path(route))
    assert Stream.objects.filter(pk=world.stream.pk).values().get() == before
    assert Membership.objects.filter(pk=world.member.pk).exists()
    assert Site.objects.filter(pk=world.site.pk).exists()
    assert Invitation.objects.filter(pk=world.invitation.pk).exists()
    assert Delivery.objects.filter(pk=world.delivery.pk, endpoint__disabled_at=None).exists()
    assert Note.objects.get() == world.note
    assert SharedLink.objects.get(revoked_at=None) == world.link
    assert MailedReport.objects.get() == world.report
    assert world.stream.access_tokens.filter(expires_at=None).count() == 1
    assert OrganisationKey.objects.filter(revoked_at=None).get() == world.key
