"""The page of a stream's audit log, the log as a file, and what entries say."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render

from onlooker.audit.entries import check_log, kept_days, list_entries
from onlooker.audit.export import csv_lines, json_lines
from onlooker.audit.models import AuditEntry, OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.streams.access import managed_stream

ROWS = 50
KINDS = {"page": "as pages", "table": "as a table", "comparison": "for a comparison"}
Details = dict[str, Any]
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
        "entries": describe_entries(found[:ROWS], stream.time_zone),
        "next": found[ROWS - 1].number if len(found) > ROWS else None,
        "is_newest": not before,
        "days": kept_days(stream.pk),
        "checked": check_log(stream.pk) if "check" in request.GET else None,
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


def describe_entries(rows: Iterable[Entry], time_zone: str) -> list[ShownEntry]:
    """In sentences; people by their present addresses."""
    found = [(row, json.loads(row.detail)) for row in rows]
    people = _Addresses(found)
    zone = ZoneInfo(time_zone)
    return [
        ShownEntry(row.number, row.at, people.actor(row.actor), _Sentence(details, people, zone).of(row.action))
        for row, details in found
    ]


def name_actors(actors: Iterable[str]) -> dict[str, str]:
    """Who they are, as the log says it."""
    named = list(actors)
    people = _Addresses([(AuditEntry(actor=actor), {}) for actor in named])
    return {actor: people.actor(actor) for actor in named}


class _Addresses:
    """Of the accounts that entries name; of one that was deleted, its number is left."""

    def __init__(self, found: list[tuple[Entry, Details]]) -> None:
        actors = [row.actor.partition(":")[2] for row, _ in found if row.actor.startswith(("account:", "staff:"))]
        named = [str(details["account"]) for _, details in found if "account" in details]
        numbers = {int(number) for number in (*actors, *named) if number.isdecimal()}
        self._known = dict(Account.objects.filter(pk__in=numbers).values_list("pk", "email"))

    def account(self, number: object) -> str:
        known = self._known.get(int(str(number))) if str(number).isdecimal() else None
        return known or f"account {number} (deleted)"

    def actor(self, actor: str) -> str:
        kind, _, name = actor.partition(":")
        if kind == "account":
            return self.account(name)
        if kind == "staff":
            return f"{self.account(name)}, as staff"
        named = {
            "command": f"{name or 'somebody'}, at the command line",
            "device": f"Device {name}",
            "code": f"A device with enrolment code {name}",
            "key": f"A program with key {name}",
            "billing": "Billing",
            "chore": "The server itself",
            "recipient": "The recipient",
        }
        return named.get(kind, f"Database role {name}")


@dataclass(frozen=True)
class _Sentence:
    """What an entry says, as a whole sentence."""

    details: Details
    people: _Addresses
    zone: ZoneInfo

    def of(self, action: str) -> str:
        tell: Callable[[], str] | None = {
            "stream.created": lambda: "Stream created.",
            "stream.changed": self._changes,
            "password.created": self._new_password,
            "password.changed": lambda: f"Password {self.details['password']} ends on {self._moment('ends')}.",
            "password.deleted": lambda: f"Password {self.details['password']} deleted.",
            "organisation.created": lambda: f"Organisation {self.details['name']} created.",
            "organisation.changed": self._changes,
            "member.added": lambda: f"{self._account()} became a member: {self.details.get('role', 'viewer')}.",
            "member.changed": lambda: (
                f"{self._account()} is now {self.details['role'][1]}, no longer {self.details['role'][0]}."
            ),
            "member.removed": lambda: f"{self._account()} is no longer {self.details.get('role', 'viewer')}.",
            "member.sites_added": lambda: f"{self._account()} now sees {', '.join(self.details['sites'])}.",
            "member.sites_removed": lambda: f"{self._account()} no longer sees {', '.join(self.details['sites'])}.",
            "member.invited": lambda: f"{self.details['address']} invited as {self.details.get('role', 'viewer')}.",
            "site.created": lambda: f"Site {self.details['name']} created.",
            "site.changed": lambda: f"Site {self.details['name']} changed: {self._listed(self.details['changes'])}.",
            "site.removed": lambda: f"Site {self.details['name']} deleted.",
            "provider.added": lambda: f"Sign-in with {self.details['issuer']} set up.",
            "provider.changed": lambda: f"Sign-in changed: {self._listed(self.details)}.",
            "provider.secret_changed": lambda: "The client secret of the sign-in replaced.",
            "provider.removed": lambda: f"Sign-in with {self.details['issuer']} removed.",
            "provider.groups": lambda: f"Roles by group: {self._groups()}.",
            "domain.confirmed": lambda: f"{self.details['domain']} confirmed as the organisation's domain.",
            "domain.withdrawn": lambda: f"{self.details['domain']} no longer confirmed as the organisation's domain.",
            "invitation.ended": lambda: f"The invitation for {self.details['address']} ended.",
            "account.changed": self._account_state,
            "numbers.read": self._reading,
            "numbers.exported": lambda: f"Numbers {self._range()} downloaded from the dashboard.",
            "device.enrolled": lambda: f"Device {self._device()} enrolled.",
            "device.revoked": lambda: f"Device {self._device()} revoked.",
            "device.configured": self._device_settings,
            "device.configuration_refused": lambda: (
                f"Device {self._device()} refused version {self.details['version']}: {self.details['reason']}"
            ),
            "device.configuration_rolled_back": lambda: (
                f"Device {self._device()} rolled version {self.details['version']} back: {self.details['reason']}"
            ),
            "template.configured": lambda: (
                f"Template {self.details['name']} for devices changed: {self._listed(self.details['changes'])}."
            ),
            "site.configured": lambda: (
                f"Devices of site {self.details['name']} set: {self._listed(self.details['changes'])}."
            ),
            "replacement.created": lambda: f"Enrolment code {self.details['code']} created, to replace the device.",
            "code.created": self._new_code,
            "code.ended": lambda: f"Enrolment code {self.details['code']} ended.",
            "template.created": lambda: f"Template {self.details['name']} for devices created.",
            "template.removed": lambda: f"Template {self.details['name']} for devices removed.",
            "key.created": self._new_key,
            "key.sites": lambda: f"Key {self.details['key']} is for the sites {', '.join(self.details['names'])}.",
            "key.streams": lambda: f"Key {self.details['key']} is for the streams {', '.join(self.details['names'])}.",
            "key.revoked": lambda: f"Key {self.details['key']} ({self.details['name']}) revoked.",
            "webhook.created": lambda: f"Webhook {self._webhook()} created.",
            "webhook.changed": lambda: f"Webhook {self._webhook()} changed: {self._listed(self.details['changes'])}.",
            "webhook.secret_replaced": lambda: f"The secret of webhook {self._webhook()} replaced.",
            "webhook.disabled": lambda: f"Webhook {self._webhook()} disabled: {self.details['reason']}.",
            "webhook.enabled": lambda: f"Webhook {self._webhook()} enabled.",
            "webhook.removed": lambda: f"Webhook {self._webhook()} deleted.",
            "link.created": self._new_link,
            "link.revoked": lambda: f"Shared link {self._link()} revoked.",
            "link.removed": lambda: f"Shared link {self._link()} ended with what it showed.",
            "report.created": self._new_report,
            "report.changed": lambda: f"Report {self._report()} changed: {self._listed(self.details['changes'])}.",
            "report.removed": lambda: f"Report {self._report()} deleted.",
            "report.recipient_added": lambda: f"{self._recipient()} gets report {self._report()}.",
            "report.recipient_removed": lambda: f"{self._recipient()} no longer gets report {self._report()}.",
            "report.unsubscribed": lambda: f"{self._recipient()} unsubscribed from report {self._report()}.",
            "reports.outside": lambda: f"Reports to addresses that are no member's: {_value(self.details['allowed'])}.",
            "note.created": lambda: f"Note {self._note()} written.",
            "note.changed": lambda: f"Note {self._note()} changed: {self._note_changes()}.",
            "note.removed": lambda: f"Note {self._note()} removed.",
            "stream.tagged": self._tags,
            "visits.erased": lambda: f"Visits {self._range()} erased.",
        }.get(action)
        return tell() if tell else action

    def _changes(self) -> str:
        return f"Settings changed: {self._listed(self.details)}."

    def _listed(self, changes: Details) -> str:
        return ", ".join(
            f"{name.replace('_', ' ')} from {_value(old)} to {_value(new)}" for name, (old, new) in changes.items()
        )

    def _tags(self) -> str:
        added, removed = (", ".join(self.details[name]) for name in ("added", "removed"))
        parts = [f"{verb} {names}" for verb, names in (("added", added), ("removed", removed)) if names]
        return f"Tags {' and '.join(parts)}."

    def _groups(self) -> str:
        return ", ".join(f"{group} = {role}" for group, role in self.details["groups"].items()) or "none"

    def _new_password(self) -> str:
        number = self.details["password"]
        return f"Password {number} created for Try it." if self.details["trial"] else f"Password {number} created."

    def _account_state(self) -> str:
        return f"{self._account()}: account {'enabled' if self.details['is_active'][1] else 'disabled'}."

    def _reading(self) -> str:
        kind = KINDS.get(self.details["kind"], self.details["kind"])
        if "password" not in self.details:
            return f"Numbers {self._range()} read {kind}, with a key."
        return f"Numbers {self._range()} read {kind}, with a token of Password {self.details['password']}."

    def _device(self) -> str:
        number, name = self.details["device"], self.details["name"]
        return f"{number} ({name})" if name else str(number)

    def _device_settings(self) -> str:
        if self.details["changes"]:
            return f"Device {self._device()} set: {self._listed(self.details['changes'])}."
        return f"Device {self._device()} has the settings of template {_value(self.details['template'])}."

    def _webhook(self) -> str:
        return f"{self.details['webhook']} ({self.details['host']})"

    def _link(self) -> str:
        return f"{self.details['link']} ({self.details['label']})"

    def _new_link(self) -> str:
        told = self.details
        shown = " and ".join(f"{kind} {told[kind]}" for kind in ("stream", "site", "tag") if told[kind])
        return (
            f"Shared link {self._link()} to {shown or 'all streams'} created, until {self._moment('ends')}. "
            f"Password: {_value(told['password'])}. Embedded by: {', '.join(told['origins']) or 'nobody'}."
        )

    def _report(self) -> str:
        return f"{self.details['report']} ({self.details['name']})"

    def _new_report(self) -> str:
        shown = " and ".join(f"{kind} {self.details[kind]}" for kind in ("stream", "site", "tag") if self.details[kind])
        return f"Report {self._report()} on {shown or 'all streams'} created."

    def _recipient(self) -> str:
        return self._account() if "account" in self.details else str(self.details["address"])

    def _note(self) -> str:
        """Without its text, which may be removed; an entry stays."""
        days = dict.fromkeys((self.details["from"], self.details["to"]))
        about, name = self.details["about"], self.details["name"]
        return f"{self.details['note']} for {' to '.join(days)} ({f'{about} {name}' if name else about})"

    def _note_changes(self) -> str:
        parts = [self._listed(self.details["changes"])] if self.details["changes"] else []
        return ", ".join([*parts, "another text"] if self.details["new_text"] else parts)

    def _new_code(self) -> str:
        number, devices = self.details["code"], self.details["devices"]
        return f"Enrolment code {number} created for {devices} device{'s' if devices > 1 else ''}."

    def _new_key(self) -> str:
        told = self.details
        words = [f"for {', '.join(told['scopes'])}", f"as {told['role']}"]
        words += ["of all streams"] if told["all"] else []
        return f"Key {told['key']} ({told['name']}) created {' '.join(words)}, until {self._moment('ends')}."

    def _account(self) -> str:
        return self.people.account(self.details["account"])

    def _range(self) -> str:
        return f"from {self._moment('from')} to {self._moment('to')}"

    def _moment(self, name: str) -> str:
        if self.details[name] is None:
            return "no date"
        return datetime.fromisoformat(self.details[name]).astimezone(self.zone).strftime("%Y-%m-%d %H:%M")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "nothing" if value is None or value == "" else str(value)
