"""The pages of an organisation's mailed reports: the list, a new one, changing and deleting one, addresses outside."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate, write_short_date
from onlooker.console.reports.mailed_reports import (
    REPORT_PERIODS,
    allows_outside,
    change_report,
    create_report,
    find_address,
    reports_of,
    set_outside,
)
from onlooker.console.reports.models import MailedReport, ReportRecipient
from onlooker.console.reports.report_forms import DAYS, MONTHLY, ReportForm
from onlooker.console.reports.saved_views import Subject, find_group, subject_of
from onlooker.console.streams.access import managed_stream, own_membership
from onlooker.console.web.mail import is_mail_on
from onlooker.streams.models import MemberRole, Membership
from onlooker.streams.organisations import MANAGERS, RefusedError

LARGEST_NUMBER = 2**63 - 1


@dataclass(frozen=True)
class ListedRecipient:
    """Somebody who is to get a report, and whether it comes."""

    address: str
    trouble: str


@dataclass(frozen=True)
class ListedReport:
    """A report as the list shows it."""

    report: MailedReport
    subject: Subject
    period: str
    when: str
    due: str
    """By the clock of what it shows."""
    recipients: list[ListedRecipient]


def _own(request: PersonRequest, organisation_id: int, *roles: MemberRole) -> Membership:
    return own_membership(request.user, min(organisation_id, LARGEST_NUMBER), *roles)


def _report(request: PersonRequest, organisation_id: int, report_id: int) -> MailedReport:
    organisation = _own(request, organisation_id, *MANAGERS).organisation
    rows = MailedReport.objects.select_related("organisation", "stream", "site", "tag")
    return get_object_or_404(rows, organisation=organisation, pk=min(report_id, LARGEST_NUMBER))


@signed_in("GET", "HEAD")
def list_reports(request: PersonRequest, organisation_id: int) -> HttpResponse:
    own = _own(request, organisation_id, *MANAGERS)
    context = {
        "organisation": own.organisation,
        "is_owner": own.role == MemberRole.OWNER,
        "allows_outside": allows_outside(own.organisation),
        "is_mail_on": is_mail_on(),
        "reports": [_describe(report) for report in reports_of(own.organisation)],
    }
    return render(request, "reports/reports.html", context)


def _describe(report: MailedReport) -> ListedReport:
    subject = subject_of(report)
    due_at = report.due_at.astimezone(subject.zone)
    return ListedReport(
        report,
        subject,
        str(REPORT_PERIODS[report.period]),
        str(DAYS[MONTHLY if report.weekday is None else str(report.weekday)]),
        f"{write_short_date(due_at)}, {date_format(due_at, 'TIME_FORMAT')}",
        [_describe_recipient(one, subject) for one in report.recipients.all()],
    )


def _describe_recipient(recipient: ReportRecipient, subject: Subject) -> ListedRecipient:
    address = recipient.account.email if recipient.account else recipient.email
    if find_address(recipient, subject):
        return ListedRecipient(address, "")
    if recipient.stopped_at:
        return ListedRecipient(address, _("unsubscribed"))
    return ListedRecipient(address, _("sees not all of it") if recipient.account else _("not allowed"))


@signed_in("GET", "HEAD", "POST")
def create_stream_report(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    if stream.organisation is None:
        raise Http404
    return _edit(request, Subject(stream.organisation, stream=stream))


@signed_in("GET", "HEAD", "POST")
def create_group_report(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """Of all streams of the organisation, or those of the site and the tag that the address names."""
    organisation = _own(request, organisation_id, *MANAGERS).organisation
    return _edit(request, find_group(organisation, request.GET))


@signed_in("GET", "HEAD", "POST")
def change_mailed_report(request: PersonRequest, organisation_id: int, report_id: int) -> HttpResponse:
    report = _report(request, organisation_id, report_id)
    return _edit(request, subject_of(report), report)


def _edit(request: PersonRequest, subject: Subject, report: MailedReport | None = None) -> HttpResponse:
    form = ReportForm(subject, report=report, account_id=request.user.pk, data=request.POST or None)
    if form.is_valid():
        try:
            with acting_as(account_actor(request.user.pk)):
                if report:
                    change_report(report, form.choices)
                else:
                    create_report(subject, form.choices, by=request.user)
        except RefusedError as error:
            form.add_error(None, translate(error))
        else:
            messages.success(request, _("Report saved."))
            return redirect("mailed-reports", subject.organisation.pk)
    context = {"organisation": subject.organisation, "subject": subject, "report": report, "form": form}
    return render(request, "reports/report_form.html", context)


@signed_in("POST")
def remove_report(request: PersonRequest, organisation_id: int, report_id: int) -> HttpResponse:
    report = _report(request, organisation_id, report_id)
    with acting_as(account_actor(request.user.pk)):
        report.delete()
    messages.success(request, _("Report {name} deleted.").format(name=report.name))
    return redirect("mailed-reports", organisation_id)


@signed_in("POST")
def allow_outside(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """For owners: whether reports go to addresses that are no member's."""
    organisation = _own(request, organisation_id, MemberRole.OWNER).organisation
    is_allowed = request.POST.get("allowed") == "yes"
    with acting_as(account_actor(request.user.pk)):
        set_outside(organisation, is_allowed=is_allowed)
    allowed, forbidden = _("Reports may go to other addresses."), _("Reports go to members alone from now on.")
    messages.success(request, allowed if is_allowed else forbidden)
    return redirect("mailed-reports", organisation_id)
