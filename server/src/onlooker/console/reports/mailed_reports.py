"""Mailed reports: creating, changing and removing them, and who gets them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from onlooker.console.accounts.models import Account
from onlooker.console.reports.models import LONGEST_LABEL, MailedReport, ReportPolicy, ReportRecipient
from onlooker.console.reports.saved_views import Subject, check_subject, subject_of
from onlooker.console.reports.schedule import next_due
from onlooker.console.streams.access import visible_streams
from onlooker.streams.models import Membership, Organisation
from onlooker.streams.organisations import RefusedError

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

REPORTS_AT_MOST = 50
"""Of an organisation."""
RECIPIENTS_AT_MOST = 20
"""Of a report."""
REPORT_PERIODS = {"last-week": gettext_lazy("Last week"), "last-month": gettext_lazy("Last month")}
"""Those that are over: the same numbers however late the mail is."""
_SALT = "onlooker.unsubscribe"


@dataclass(frozen=True)
class ReportChoices:
    """How a report is called, when it is sent, over which time, and to whom."""

    name: str
    weekday: int | None
    hour: int
    period: str
    members: Sequence[int]
    """Numbers of accounts."""
    outside: Sequence[str] = ()
    """Addresses."""
    language: str = settings.LANGUAGE_CODE
    """Of the mails to those who have chosen none."""


def allows_outside(organisation: Organisation) -> bool:
    return ReportPolicy.objects.filter(organisation=organisation, allows_outside=True).exists()


def set_outside(organisation: Organisation, *, is_allowed: bool) -> None:
    """Forbidden again, addresses outside get nothing at once."""
    ReportPolicy.objects.update_or_create(organisation=organisation, defaults={"allows_outside": is_allowed})


@transaction.atomic
def create_report(subject: Subject, chosen: ReportChoices, *, by: "AbstractBaseUser | None" = None) -> MailedReport:
    """Raises RefusedError."""
    check_subject(subject)
    organisation = Organisation.objects.select_for_update(no_key=True).get(pk=subject.organisation.pk)
    if MailedReport.objects.filter(organisation=organisation).count() >= REPORTS_AT_MOST:
        said = ngettext(
            "An organisation has at most {count} report. Delete one that nobody reads.",
            "An organisation has at most {count} reports. Delete one that nobody reads.",
            REPORTS_AT_MOST,
        )
        raise RefusedError(said.format(count=REPORTS_AT_MOST))
    report = MailedReport(
        organisation=organisation,
        stream=subject.stream,
        site=subject.site,
        tag=subject.tag,
        created_by_id=by.pk if by else None,
    )
    return _save(report, chosen)


@transaction.atomic
def change_report(report: MailedReport, chosen: ReportChoices) -> MailedReport:
    """Raises RefusedError."""
    Organisation.objects.select_for_update(no_key=True).get(pk=report.organisation_id)
    return _save(MailedReport.objects.get(pk=report.pk), chosen)


def _save(report: MailedReport, chosen: ReportChoices) -> MailedReport:
    _check_choices(report.organisation, chosen)
    timing = (report.weekday, report.hour) if report.pk else None
    report.name, report.period = chosen.name, chosen.period
    report.weekday, report.hour = chosen.weekday, chosen.hour
    report.language = chosen.language
    if timing != (chosen.weekday, chosen.hour):  # else one that is due would be skipped
        zone = subject_of(report).zone
        report.due_at = next_due(report.weekday, report.hour, zone, after=timezone.now())
    report.save()
    _set_recipients(report, chosen)
    return report


def _check_choices(organisation: Organisation, chosen: ReportChoices) -> None:
    if not 1 <= len(chosen.name.strip()) <= LONGEST_LABEL or any(sign in chosen.name for sign in "\0\r\n"):
        raise RefusedError(_("A report needs a name of 1 to {longest} characters.").format(longest=LONGEST_LABEL))
    if chosen.period not in REPORT_PERIODS:
        raise RefusedError(_("Unknown period. Choose one of {names}.").format(names=", ".join(REPORT_PERIODS)))
    if chosen.language not in dict(settings.LANGUAGES):
        raise RefusedError(_("Unknown language."))
    if not 0 <= chosen.hour <= 23 or chosen.weekday not in (None, *range(7)):
        raise RefusedError(_("Choose a day and an hour."))
    if not 1 <= len(chosen.members) + len(chosen.outside) <= RECIPIENTS_AT_MOST:
        said = _("A report goes to at least one and at most {count} addresses.")
        raise RefusedError(said.format(count=RECIPIENTS_AT_MOST))
    known = Membership.objects.filter(organisation=organisation, account__in=chosen.members).count()
    if known < len(set(chosen.members)):
        raise RefusedError(_("One of these is no longer a member. Reload the page."))
    for address in chosen.outside:
        check_address(address)


def check_address(address: str) -> None:
    """Raises RefusedError."""
    try:
        validate_email(address)
    except ValidationError:
        raise RefusedError(_("{address} is not an e-mail address.").format(address=repr(address[:60]))) from None


def _set_recipients(report: MailedReport, chosen: ReportChoices) -> None:
    known, outside = report.recipients.all(), {address.lower() for address in chosen.outside}
    stopped = set(known.exclude(stopped_at=None).values_list("email", flat=True))
    if again := sorted(outside & stopped):
        said = _("{address} unsubscribed from this report, and can't be added to it again.")
        raise RefusedError(said.format(address=again[0]))
    present = known.filter(stopped_at=None)
    added = outside - set(present.values_list("email", flat=True))
    if added and not allows_outside(report.organisation):
        raise RefusedError(_("Only members may get reports. An owner of the organisation can allow other addresses."))
    present.filter(account=None).exclude(email__in=outside).delete()
    present.exclude(account=None).exclude(account__in=chosen.members).delete()
    members = set(chosen.members) - set(present.exclude(account=None).values_list("account_id", flat=True))
    rows = [ReportRecipient(report=report, account_id=number) for number in sorted(members)]
    rows += [ReportRecipient(report=report, email=address) for address in sorted(added)]
    ReportRecipient.objects.bulk_create(rows)


def find_address(recipient: ReportRecipient, subject: Subject) -> str:
    """Where a mail goes now; empty: nowhere. Members get what pages would show them."""
    if recipient.stopped_at is not None:
        return ""
    if recipient.account_id is None:
        return recipient.email if allows_outside(subject.organisation) else ""
    account = Account.objects.filter(pk=recipient.account_id, is_active=True).first()
    if account is None or not sees_all(account, subject):
        return ""
    own = EmailAddress.objects.filter(user=account, verified=True).order_by("-primary", "pk").first()
    return str(own.email) if own else ""


def sees_all(account: Account, subject: Subject) -> bool:
    """Whether the account sees each of the streams."""
    if not Membership.objects.filter(account=account, organisation=subject.organisation).exists():
        return False
    return not subject.streams().exclude(pk__in=visible_streams(account).values("pk")).exists()


def unsubscribe_token(recipient: ReportRecipient) -> str:
    return signing.Signer(salt=_SALT).sign(str(recipient.pk)).replace(":", "~")


def find_recipient(token: str) -> ReportRecipient | None:
    """An address outside, also one that is unsubscribed already."""
    try:
        number = signing.Signer(salt=_SALT).unsign(token.replace("~", ":"))
    except signing.BadSignature:
        return None
    return ReportRecipient.objects.filter(pk=int(number), account=None).select_related("report__organisation").first()


def unsubscribe(recipient: ReportRecipient) -> None:
    ReportRecipient.objects.filter(pk=recipient.pk, stopped_at=None).update(stopped_at=timezone.now())


def reports_of(organisation: Organisation) -> QuerySet[MailedReport]:
    rows = MailedReport.objects.filter(organisation=organisation).order_by("name", "pk")
    return rows.select_related("organisation", "stream", "site", "tag").prefetch_related("recipients__account")


def set_next_due(report: MailedReport, *, after: datetime) -> None:
    """Once an occurrence is claimed."""
    zone = subject_of(report).zone
    report.due_at = next_due(report.weekday, report.hour, zone, after=after)
    report.save(update_fields=["due_at"])
