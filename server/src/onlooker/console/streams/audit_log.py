"""The page of a stream's audit log, and the log as a file."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.audit.chain import CheckedChain
from onlooker.audit.entries import check_log, kept_days, list_entries
from onlooker.audit.export import csv_lines, json_lines
from onlooker.audit.models import AuditEntry, OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.streams.access import managed_stream
from onlooker.console.streams.audit_sentences import Details, EntryWords, write_sentence
from onlooker.streams.business_hours import zone_of

ROWS = 50
ACTORS = {
    "command": _lazy("{name}, at the command line"),
    "device": _lazy("Device {name}"),
    "code": _lazy("A device with enrolment code {name}"),
    "key": _lazy("A program with key {name}"),
    "billing": _lazy("Billing"),
    "chore": _lazy("The server itself"),
    "recipient": _lazy("The recipient"),
}
Entry = AuditEntry | OrganisationEntry


@dataclass(frozen=True)
class ShownEntry:
    """One row of the page."""

    number: int
    at: datetime
    who: str
    what: str


@signed_in("GET", "HEAD")
def show_audit_log(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    rows = AuditEntry.objects.filter(stream=stream).order_by("-number")
    before = request.GET.get("before", "")
    if before.isascii() and before.isdecimal() and len(before) < 19:
        rows = rows.filter(number__lt=int(before))
    found = list(rows[: ROWS + 1])
    context = {
        "stream": stream,
        "entries": describe_entries(found[:ROWS], zone_of(stream.time_zone)),
        "next": found[ROWS - 1].number if len(found) > ROWS else None,
        "is_newest": not before,
        "days": kept_days(stream.pk),
        "checked": say_fault(check_log(stream.pk)) if "check" in request.GET else None,
    }
    return render(request, "streams/audit_log.html", context)


@signed_in("GET", "HEAD")
def download_audit_log(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """JSON lines, which `onlooker audit check` reads; or CSV."""
    stream = managed_stream(request.user, client_id)
    is_csv = request.GET.get("form") == "csv"
    write, kind, ending = (csv_lines, "text/csv", "csv") if is_csv else (json_lines, "application/jsonl", "jsonl")
    answer = HttpResponse("".join(write(list_entries(stream.pk))), content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="audit-{stream.client_id}.{ending}"'
    return answer


def describe_entries(rows: Iterable[Entry], zone: ZoneInfo) -> list[ShownEntry]:
    """In sentences; people by their present addresses."""
    found = [(row, json.loads(row.detail)) for row in rows]
    people = _Addresses(found)
    return [
        ShownEntry(
            number=row.number,
            at=row.at,
            who=people.actor(row.actor),
            what=write_sentence(row.action, EntryWords(details, people.account, zone)),
        )
        for row, details in found
    ]


def say_fault(checked: CheckedChain) -> CheckedChain:
    """In the reader's language."""
    return replace(checked, fault=translate(checked.fault))


def name_actors(actors: Iterable[str]) -> dict[str, str]:
    """Who they are, as the log says it."""
    named = list(actors)
    people = _Addresses([(AuditEntry(actor=actor), {}) for actor in named])
    return {actor: people.actor(actor) for actor in named}


class _Addresses:
    """Of the accounts that entries name; of one that was deleted, its number is left."""

    def __init__(self, found: list[tuple[Entry, Details]]) -> None:
        actors = [row.actor.partition(":")[2] for row, details in found if row.actor.startswith(("account:", "staff:"))]
        named = [str(details["account"]) for _, details in found if "account" in details]
        numbers = {int(number) for number in (*actors, *named) if number.isdecimal()}
        self._known = dict(Account.objects.filter(pk__in=numbers).values_list("pk", "email"))

    def account(self, number: object) -> str:
        known = self._known.get(int(str(number))) if str(number).isdecimal() else None
        return known or _("account {number} (deleted)").format(number=number)

    def actor(self, actor: str) -> str:
        kind, name = actor.partition(":")[::2]
        if kind == "account":
            return self.account(name)
        if kind == "staff":
            return _("{person}, as staff").format(person=self.account(name))
        if kind == "command" and not name:
            return _("somebody, at the command line")
        return str(ACTORS.get(kind, _("Database role {name}"))).format(name=name)
