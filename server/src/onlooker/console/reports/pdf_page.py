"""A stream's report as a PDF to download: the period that its dashboard shows."""

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_export
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.period import PeriodError, parse_period
from onlooker.console.reports.contents import present_stream, read_stream_report
from onlooker.console.reports.pdf.file import make_stream_pdf
from onlooker.console.reports.pdf.pages import MEDIA_TYPE
from onlooker.console.streams.access import visible_stream
from onlooker.console.time_chart.choice import parse_hours


@signed_in("GET", "HEAD")
def show_pdf(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """What is no period is answered with what is wrong."""
    stream, now = visible_stream(request.user, client_id), datetime.now(UTC)
    try:
        period = parse_period(request.GET.dict(), zone=ZoneInfo(stream.time_zone), now=now)
        in_hours = parse_hours(request.GET.dict())
    except PeriodError as error:
        return HttpResponse(f"{error}\n", status=400, content_type="text/plain; charset=utf-8")
    append_export(stream.pk, actor=account_actor(request.user.pk), from_at=period.from_at, to_at=period.to_at)
    report = read_stream_report(request, stream, period, now=now, in_hours=in_hours)
    file = make_stream_pdf(present_stream(report, stream, now=now), stream.name)
    response = HttpResponse(file.content, content_type=MEDIA_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return response
