"""The page of an organisation's audit log, and the log as a file."""

from django.http import HttpResponse
from django.shortcuts import render

from onlooker.audit.entries import check_organisation_log, list_organisation_entries
from onlooker.audit.export import csv_lines, json_lines
from onlooker.audit.models import KEPT_DAYS, OrganisationEntry
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.reports.saved_views import Subject
from onlooker.console.streams.access import own_membership
from onlooker.console.streams.audit_log import ROWS, describe_entries, say_fault
from onlooker.streams.organisations import MANAGERS


@signed_in("GET", "HEAD")
def show_organisation_log(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    rows = OrganisationEntry.objects.filter(organisation=organisation).order_by("-number")
    before = request.GET.get("before", "")
    if before.isascii() and before.isdecimal() and len(before) < 19:
        rows = rows.filter(number__lt=int(before))
    found, zone = list(rows[: ROWS + 1]), Subject(organisation).zone
    context = {
        "organisation": organisation,
        "entries": describe_entries(found[:ROWS], zone),
        "zone": zone.key,
        "next": found[ROWS - 1].number if len(found) > ROWS else None,
        "is_newest": not before,
        "days": KEPT_DAYS,
        "checked": say_fault(check_organisation_log(organisation.pk)) if "check" in request.GET else None,
    }
    return render(request, "organisations/audit_log.html", context)


@signed_in("GET", "HEAD")
def download_organisation_log(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """JSON lines, which `onlooker audit check` reads; or CSV."""
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    is_csv = request.GET.get("form") == "csv"
    write, kind, ending = (csv_lines, "text/csv", "csv") if is_csv else (json_lines, "application/jsonl", "jsonl")
    entries = list_organisation_entries(organisation.pk)
    answer = HttpResponse("".join(write(entries)), content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="audit-organisation-{organisation.pk}.{ending}"'
    return answer
