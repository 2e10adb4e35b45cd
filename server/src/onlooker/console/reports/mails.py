"""A chore: sends the reports that are due, each once to each recipient.

The mails of an occurrence are written down first, in the transaction that sets when the report is due next. So a
process that dies loses none. One that dies after the mail server took a mail sends it again, with the same Message-ID.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language

from onlooker.console.alerts.owner_mails import SERVER_DOWN_PAUSE
from onlooker.console.dashboard.period import format_range
from onlooker.console.languages.choice import write_to
from onlooker.console.languages.locale_text import write_count
from onlooker.console.reports.contents import present_group, present_stream, read_group_numbers, read_stream_report
from onlooker.console.reports.mailed_reports import find_address, set_next_due, unsubscribe_token
from onlooker.console.reports.models import MailedReport, ReportMail, ReportRecipient
from onlooker.console.reports.pdf.contents import Bar, describe_bars
from onlooker.console.reports.pdf.file import PdfFile, make_group_pdf, make_stream_pdf
from onlooker.console.reports.pdf.pages import MEDIA_TYPE
from onlooker.console.reports.saved_views import DAY, Subject, group_period, is_open, stream_period, subject_of
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, deliver_mail, is_mail_on, write_mail
from onlooker.logs import fields

log = logging.getLogger(__name__)

LATE_AT_MOST = timedelta(days=1)
"""One that was missed for longer is left out: the next one comes."""
REPORTS_AT_ONCE = 50
MAILS_AT_ONCE = 20
ROUND_LIMIT_S = 20.0
LEASE = timedelta(minutes=10)
"""How long a mail is being sent before another try; longer than any mail server is waited for."""
KEPT = timedelta(days=30)
LONGEST_BAR_PX = 140
"""Beside its day and its number on a telephone: where there is no room, all long bars would be alike."""

Contents = dict[str, Any]


def send_due_reports(now: datetime | None = None) -> int:
    """Returns how many mails were sent."""
    if not is_mail_on():
        return 0
    moment = now or timezone.now()
    claim_due_reports(moment)
    ReportMail.objects.filter(due_at__lt=moment - KEPT).delete()
    return _MailRound(moment).send()


def claim_due_reports(now: datetime) -> None:
    """Write down the mails of each occurrence, once."""
    with transaction.atomic():
        rows = MailedReport.objects.select_for_update(skip_locked=True, of=("self",)).filter(due_at__lte=now)
        rows = rows.select_related("organisation", "stream", "site", "tag").order_by("due_at")
        for report in rows[:REPORTS_AT_ONCE]:
            if report.due_at <= now - LATE_AT_MOST:
                set_next_due(report, after=now - LATE_AT_MOST)
            if report.due_at <= now:
                if is_open(subject_of(report)):
                    _write_mails(report, now)
                set_next_due(report, after=now)


def _write_mails(report: MailedReport, now: datetime) -> None:
    recipients = ReportRecipient.objects.filter(report=report, stopped_at=None)
    mails = [ReportMail(recipient=one, due_at=report.due_at, try_at=now) for one in recipients]
    ReportMail.objects.bulk_create(mails, ignore_conflicts=True)


@dataclass
class _MailRound:
    """The mails that are sent at once; contents are read once for all recipients of a report with the same language."""

    now: datetime
    contents: dict[tuple[int, datetime, str | None], Contents] = field(default_factory=dict)

    def send(self) -> int:
        sent, give_up_at = 0, time.monotonic() + ROUND_LIMIT_S
        for _ in range(MAILS_AT_ONCE):
            mail = self._take() if time.monotonic() < give_up_at else None
            if mail is None:
                break
            try:
                sent += self._send(mail)
            except SINGLE_MAIL_ERRORS as error:
                log.warning(
                    "a mail was refused", extra=fields(report=mail.recipient.report_id, error=type(error).__name__)
                )
            except OSError:  # the mail server is down: try no other mail in this round, and count no failed try
                again = {"tries": 0, "try_at": self.now + SERVER_DOWN_PAUSE}
                ReportMail.objects.filter(pk=mail.pk).update(**again)
                raise
        return sent

    def _take(self) -> ReportMail | None:
        """Committed before it is sent. A mail that keeps failing is tried less and less often, for a day."""
        with transaction.atomic():
            rows = ReportMail.objects.select_for_update(skip_locked=True, of=("self",)).order_by("try_at", "pk")
            due = rows.filter(sent_at=None, try_at__lte=self.now, due_at__gt=self.now - LATE_AT_MOST)
            parts = ("organisation", "stream", "site", "tag")
            mail = due.select_related(*(f"recipient__report__{part}" for part in parts)).first()
            if mail:
                pause = LEASE * 2 ** min(mail.tries, 4)
                ReportMail.objects.filter(pk=mail.pk).update(tries=F("tries") + 1, try_at=self.now + pause)
            return mail

    def _send(self, mail: ReportMail) -> bool:
        report = mail.recipient.report
        subject = subject_of(report)
        address = find_address(mail.recipient, subject) if is_open(subject) else ""
        if address:
            with write_to(address, otherwise=report.language):
                context = self._read(report, subject, mail.due_at) | _about(mail)
                written = write_mail("reports/mails/report", to=address, context=context, headers=_head(mail))
                pdf: PdfFile = context["pdf"]
                written.attach(pdf.name, pdf.content, MEDIA_TYPE)
            deliver_mail(written, kind="report")
        ReportMail.objects.filter(pk=mail.pk).update(sent_at=timezone.now())
        return bool(address)

    def _read(self, report: MailedReport, subject: Subject, due_at: datetime) -> Contents:
        key = (report.pk, due_at, get_language())
        if key not in self.contents:
            self.contents[key] = read_contents(report, subject, due_at)
        return self.contents[key]


def read_contents(report: MailedReport, subject: Subject, due_at: datetime) -> Contents:
    """Of the period as it was when the report was due, however late it is read; in the active language."""
    request, now = HttpRequest(), timezone.now()
    shown: Contents = {"report_name": report.name, "subject": subject}
    if subject.stream:
        period = stream_period(subject, report.period, now=due_at)
        read = read_stream_report(request, subject.stream, period, now=max(now, due_at))
        shown |= present_stream(read, subject.stream, now=due_at)
        first, last = (at.astimezone(period.zone).date() for at in (period.from_at, period.to_at - DAY / 2))
        dashboard = settings.ONLOOKER.console_url + reverse("dashboard", args=[subject.stream.client_id])
        shown["dashboard_url"] = f"{dashboard}?from={first}&to={last}"
        shown["range"] = format_range(period.from_at, period.to_at, period.zone)
        shown["watched_words"] = shown["explanation"].zero or shown["explanation"].watched
        shown["pdf"] = make_stream_pdf(shown, subject.title)
    else:
        numbers = read_group_numbers(request, subject, group_period(subject, report.period, now=due_at))
        shown |= present_group(numbers)
        shown["watched_words"] = shown["coverage"]
        shown["pdf"] = make_group_pdf(shown, subject.title)
    shown["mail_days"] = draw_days(describe_bars(shown))
    return shown


def draw_days(bars: Sequence[Bar]) -> list[tuple[str, int, str]]:
    """Each day, how long its bar is, and its number or why there is none; also for programs that block pictures."""
    most = max((bar.passing_by or 0 for bar in bars), default=0) or 1
    return [
        (bar.label, round(LONGEST_BAR_PX * (bar.passing_by or 0) / most), bar.words or write_count(bar.passing_by or 0))
        for bar in bars
    ]


def _about(mail: ReportMail) -> Contents:
    """Members are led to the console, others out."""
    is_outside = mail.recipient.account_id is None
    return {
        "organisation": mail.recipient.report.organisation,
        "is_outside": is_outside,
        "unsubscribe_url": unsubscribe_url(mail.recipient) if is_outside else "",
    }


def _head(mail: ReportMail) -> dict[str, str]:
    host = urlsplit(settings.ONLOOKER.console_url).hostname
    head = {"Message-ID": f"<report-{mail.recipient_id}-{mail.due_at:%Y%m%dT%H%M%S}@{host}>"}
    if mail.recipient.account_id is None:
        head["List-Unsubscribe"] = f"<{unsubscribe_url(mail.recipient)}>"
        head["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return head


def unsubscribe_url(recipient: ReportRecipient) -> str:
    return str(settings.ONLOOKER.console_url + reverse("unsubscribe", args=[unsubscribe_token(recipient)]))
