"""The pages of mailed reports: creating, changing and deleting one, addresses outside, the log."""

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client

from memberships import organisation_with, share_stream, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.reports import mailed_reports
from onlooker.console.reports.mailed_reports import set_outside, unsubscribe
from onlooker.console.reports.models import MailedReport, ReportPolicy, ReportRecipient
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
OUTSIDE = "landlord@example.com"


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream


def form(*members: Account, **changes: str) -> dict[str, object]:
    given = {"name": "Weekly", "day": "0", "hour": "7", "period": "last-week", "language": "en-gb"} | changes
    return {**given, "members": [str(one.pk) for one in members]}


def new_address(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/reports/new/"


def list_address(stream: Stream) -> str:
    return f"/organisations/{stream.organisation_id}/reports/"


def trouble(browser: Client, path: str, data: dict[str, object]) -> str:
    page = browser.post(path, data).content.decode()
    found = re.findall(r'<ul class="errorlist[^>]*>\s*<li>([^<]*)', page)
    assert found, page
    return html.unescape(" ".join(found))


def test_a_report_is_created_changed_and_deleted(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    page = browser.get(new_address(stream)).content.decode()
    assert 'value="Front door"' in page
    assert "By the clock there: Europe/Paris." in page
    assert browser.post(new_address(stream), form(owner)).status_code == 302
    report = MailedReport.objects.get()
    assert (report.weekday, report.hour, report.stream, report.created_by) == (0, 7, stream, owner)
    assert report.due_at.weekday() == 0
    shown = browser.get(list_address(stream)).content.decode()
    for words in ("Weekly", "Every Monday", "Last week", owner.email, "Europe/Paris"):
        assert words in shown
    one = f"{list_address(stream)}{report.pk}/"
    assert 'value="0" selected' in browser.get(one).content.decode()
    browser.post(one, form(owner, day="monthly", period="last-month", hour="0"))
    report.refresh_from_db()
    assert (report.weekday, report.hour, report.period, report.due_at.day) in [
        (None, 0, "last-month", day) for day in (28, 29, 30, 31)
    ]
    browser.post(f"{one}remove/")
    assert not MailedReport.objects.exists()


def test_its_language_is_that_of_the_person_who_plans_it_unless_chosen(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    Account.objects.filter(pk=owner.pk).update(language="fr")
    browser = sign_in(owner)
    assert '<option value="fr" selected>' in browser.get(new_address(stream)).content.decode()
    browser.post(new_address(stream), form(owner, language="de"))
    report = MailedReport.objects.get()
    assert report.language == "de"
    assert '<option value="de" selected>' in browser.get(f"{list_address(stream)}{report.pk}/").content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "required"),
        ({"language": "xx"}, "valid choice"),
        ({"day": "7"}, "valid choice"),
        ({"hour": "24"}, "valid choice"),
        ({"period": "today"}, "valid choice"),
        ({"members": []}, "at least one"),
        ({"members": ["999999"]}, "valid choice"),
        ({"outside": "nobody"}, "not an e-mail address"),
        ({"outside": "\n".join(f"a{n}@example.com" for n in range(21))}, "at most 20"),
    ],
)
def test_what_can_not_be_is_refused_with_the_remedy(
    sign_in: SignIn, owner: Account, stream: Stream, changes: dict[str, object], said: str
) -> None:
    set_outside(organisation_with(stream), is_allowed=True)
    assert said in trouble(sign_in(owner), new_address(stream), form(owner) | changes)
    assert not MailedReport.objects.exists()


def test_a_report_goes_outside_once_an_owner_says_so(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    share_stream(stream, viewer, "manager")
    manager, path = sign_in(viewer), f"{list_address(stream)}outside/"
    page = manager.get(new_address(stream)).content.decode()
    assert 'name="outside"' not in page
    assert f'href="{list_address(stream)}">allow other addresses</a>' in page
    manager.post(new_address(stream), form(owner, outside=OUTSIDE))
    assert not ReportRecipient.objects.exclude(email="").exists(), "a field that is not offered counts for nothing"
    assert manager.post(path, {"allowed": "yes"}).status_code == 404
    sign_in(owner).post(path, {"allowed": "yes"})
    assert "allow other addresses" not in manager.get(new_address(stream)).content.decode()
    manager.post(new_address(stream), form(outside=OUTSIDE.upper()))
    assert ReportRecipient.objects.get(account=None).email == OUTSIDE
    sign_in(owner).post(path, {"allowed": "no"})
    assert not ReportPolicy.objects.get().allows_outside
    assert "(not allowed)" in manager.get(list_address(stream)).content.decode()


def test_who_unsubscribed_is_not_added_again(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    set_outside(organisation_with(stream), is_allowed=True)
    browser = sign_in(owner)
    browser.post(new_address(stream), form(owner, outside=OUTSIDE))
    report = MailedReport.objects.get()
    unsubscribe(ReportRecipient.objects.get(email=OUTSIDE))
    one = f"{list_address(stream)}{report.pk}/"
    assert OUTSIDE not in browser.get(one).content.decode()
    assert "(unsubscribed)" in browser.get(list_address(stream)).content.decode()
    assert "unsubscribed from this report" in trouble(browser, one, form(owner, outside=OUTSIDE))
    browser.post(one, form(owner, outside="other@example.com"))
    assert ReportRecipient.objects.filter(stopped_at=None).count() == 2
    assert ReportRecipient.objects.get(email=OUTSIDE).stopped_at


def test_a_report_of_a_site_comes_from_its_numbers(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    site, browser = site_of(stream), sign_in(owner)
    page = browser.get(f"/streams/numbers/?site={site.pk}").content.decode()
    address = re.search(r'id="mail" href="([^"]+)"', page)
    assert address
    browser.post(html.unescape(address[1]), form(owner))
    report = MailedReport.objects.get()
    assert (report.site, report.stream) == (site, None)
    assert 'id="mail"' in browser.get(f"/streams/{stream.client_id}/dashboard/").content.decode()


def test_who_changes_what_is_logged_without_addresses(
    sign_in: SignIn, owner: Account, stream: Stream, settings: object
) -> None:
    browser = sign_in(owner)
    browser.post(f"{list_address(stream)}outside/", {"allowed": "yes"})
    browser.post(new_address(stream), form(owner, outside=OUTSIDE))
    report = MailedReport.objects.get()
    one = f"{list_address(stream)}{report.pk}/"
    browser.post(one, form(owner, outside=OUTSIDE, hour="9", language="fr"))
    browser.post(one, form(outside=OUTSIDE, hour="9", language="fr"))
    token = mailed_reports.unsubscribe_token(ReportRecipient.objects.get())
    sign_in(None).post(f"/unsubscribe/{token}/")
    browser.post(f"{one}remove/")
    entries = OrganisationEntry.objects.filter(action__startswith="report").order_by("number")
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("reports.outside", f"account:{owner.pk}"),
        ("report.created", f"account:{owner.pk}"),
        ("report.recipient_added", f"account:{owner.pk}"),
        ("report.recipient_added", f"account:{owner.pk}"),
        ("report.changed", f"account:{owner.pk}"),
        ("report.recipient_removed", f"account:{owner.pk}"),
        ("report.unsubscribed", "recipient"),
        ("report.removed", f"account:{owner.pk}"),
    ]
    assert OUTSIDE not in "".join(entry.detail for entry in entries)
    said = html.unescape(browser.get(f"/organisations/{stream.organisation_id}/audit/").content.decode())
    name = f"{report.pk} (Weekly)"
    for sentence in (
        "Reports to addresses that are no member's: on.",
        f"Report {name} on stream Front door created.",
        f"l...@example.com gets report {name}.",
        f"Report {name} changed: hour from 7 to 9, language from en-gb to fr.",
        f"{owner.email} no longer gets report {name}.",
        f"l...@example.com unsubscribed from report {name}.",
        f"Report {name} deleted.",
    ):
        assert sentence in said, sentence


def test_reports_of_others_are_not_there(sign_in: SignIn, owner: Account, stranger: Account, stream: Stream) -> None:
    sign_in(owner).post(new_address(stream), form(owner))
    report = MailedReport.objects.get()
    theirs = organisation_with(create_stream("Theirs", owner=stranger, kind="developer").stream)
    for path in (f"/organisations/{theirs.pk}/reports/{report.pk}/remove/", f"{list_address(stream)}{report.pk}/"):
        assert sign_in(stranger).post(path).status_code == 404
    assert MailedReport.objects.exists()


def test_an_organisation_has_so_many(
    sign_in: SignIn, owner: Account, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailed_reports, "REPORTS_AT_MOST", 1)
    browser = sign_in(owner)
    browser.post(new_address(stream), form(owner))
    assert "at most 1 report" in trouble(browser, new_address(stream), form(owner))


def test_an_account_that_is_deleted_takes_its_mails_along(owner: Account, viewer: Account, stream: Stream) -> None:
    share_stream(stream, viewer, "manager")
    choices = mailed_reports.ReportChoices("Weekly", 0, 7, "last-week", [owner.pk, viewer.pk])
    from onlooker.console.reports.saved_views import Subject

    report = mailed_reports.create_report(Subject(organisation_with(stream), stream=stream), choices, by=viewer)
    viewer.delete()
    report.refresh_from_db()
    assert report.created_by is None
    assert ReportRecipient.objects.get().account == owner
