"""What an entry of an audit log says, as a whole sentence in the reader's language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext, pgettext, pgettext_lazy

from onlooker.console.languages.hours_text import write_hours
from onlooker.console.languages.locale_text import translate, write_date, write_datetime, write_list

Details = dict[str, Any]

# Translators: {ends}, {begins} are moments, {changes} and {settings} a list such as "name from A to B".
SENTENCES: dict[str, Promise] = {
    "stream.created": _lazy("Stream created."),
    "stream.changed": _lazy("Settings changed: {settings}."),
    "password.deleted": _lazy("Password {password} deleted."),
    "organisation.created": _lazy("Organisation {name} created."),
    "organisation.changed": _lazy("Settings changed: {settings}."),
    "member.added": _lazy("{account} became a member: {role}."),
    "member.changed": _lazy("{account} is now {new_role}, no longer {old_role}."),
    "member.removed": _lazy("{account} is no longer {role}."),
    "member.sites_added": _lazy("{account} now sees {sites}."),
    "member.sites_removed": _lazy("{account} no longer sees {sites}."),
    "member.invited": _lazy("{address} invited as {role}."),
    "site.created": _lazy("Site {name} created."),
    "site.changed": _lazy("Site {name} changed: {changes}."),
    "site.removed": _lazy("Site {name} deleted."),
    "provider.added": _lazy("Sign-in with {issuer} set up."),
    "provider.changed": _lazy("Sign-in changed: {settings}."),
    "provider.secret_changed": _lazy("The client secret of the sign-in replaced."),
    "provider.removed": _lazy("Sign-in with {issuer} removed."),
    "provider.groups": _lazy("Roles by group: {groups}."),
    "domain.confirmed": _lazy("{domain} confirmed as the organisation's domain."),
    "domain.withdrawn": _lazy("{domain} no longer confirmed as the organisation's domain."),
    "invitation.ended": _lazy("The invitation for {address} ended."),
    "numbers.exported": _lazy("Numbers from {begins} to {ends} downloaded from the dashboard."),
    "device.enrolled": _lazy("Device {device} enrolled."),
    "device.revoked": _lazy("Device {device} revoked."),
    "device.configuration_refused": _lazy("Device {device} refused version {version}: {reason}"),
    "device.configuration_rolled_back": _lazy("Device {device} rolled version {version} back: {reason}"),
    "template.configured": _lazy("Template {name} for devices changed: {changes}."),
    "site.configured": _lazy("Devices of site {name} set: {changes}."),
    "replacement.created": _lazy("Enrolment code {code} created, to replace the device."),
    "code.ended": _lazy("Enrolment code {code} ended."),
    "template.created": _lazy("Template {name} for devices created."),
    "template.removed": _lazy("Template {name} for devices removed."),
    "key.sites": _lazy("Key {key} is for the sites {names}."),
    "key.streams": _lazy("Key {key} is for the streams {names}."),
    "key.revoked": _lazy("Key {key} ({name}) revoked."),
    "webhook.created": _lazy("Webhook {webhook} created."),
    "webhook.changed": _lazy("Webhook {webhook} changed: {changes}."),
    "webhook.secret_replaced": _lazy("The secret of webhook {webhook} replaced."),
    "webhook.disabled": _lazy("Webhook {webhook} disabled: {why}."),
    "webhook.enabled": _lazy("Webhook {webhook} enabled."),
    "webhook.removed": _lazy("Webhook {webhook} deleted."),
    "link.created": _lazy(
        "Shared link {link} to {shown} created, until {ends}. Password: {has_password}. Embedded by: {origins}."
    ),
    "link.revoked": _lazy("Shared link {link} revoked."),
    "link.removed": _lazy("Shared link {link} ended with what it showed."),
    "report.created": _lazy("Report {report} on {shown} created."),
    "report.changed": _lazy("Report {report} changed: {changes}."),
    "report.removed": _lazy("Report {report} deleted."),
    "report.recipient_added": _lazy("{recipient} gets report {report}."),
    "report.recipient_removed": _lazy("{recipient} no longer gets report {report}."),
    "report.unsubscribed": _lazy("{recipient} unsubscribed from report {report}."),
    "reports.outside": _lazy("Reports to addresses that are no member's: {is_allowed}."),
    "note.created": _lazy("Note {note} written."),
    "note.changed": _lazy("Note {note} changed: {note_changes}."),
    "note.removed": _lazy("Note {note} removed."),
    "visits.erased": _lazy("Visits from {begins} to {ends} erased."),
}
READ_WITH_KEY: dict[str, Promise] = {
    "page": _lazy("Numbers from {begins} to {ends} read as pages, with a key."),
    "table": _lazy("Numbers from {begins} to {ends} read as a table, with a key."),
    "comparison": _lazy("Numbers from {begins} to {ends} read for a comparison, with a key."),
}
READ_WITH_PASSWORD: dict[str, Promise] = {
    "page": _lazy("Numbers from {begins} to {ends} read as pages, with a token of Password {password}."),
    "table": _lazy("Numbers from {begins} to {ends} read as a table, with a token of Password {password}."),
    "comparison": _lazy("Numbers from {begins} to {ends} read for a comparison, with a token of Password {password}."),
}
ROLE_NAMES: dict[str, Promise] = {
    "owner": pgettext_lazy("role", "owner"),
    "manager": pgettext_lazy("role", "manager"),
    "analyst": pgettext_lazy("role", "analyst"),
    "viewer": pgettext_lazy("role", "viewer"),
}
PHRASES: dict[str, Promise] = {
    "stream": _lazy("stream {name}"),
    "site": _lazy("site {name}"),
    "tag": _lazy("tag {name}"),
}
"""What a link, a report or a note is about, in this order."""
PHRASES_WITHOUT_NAME: dict[str, Promise] = {
    "stream": pgettext_lazy("of a note", "stream"),
    "site": pgettext_lazy("of a note", "site"),
    "organisation": pgettext_lazy("of a note", "organisation"),
}
WHY_DISABLED: dict[str, Promise] = {
    "person": pgettext_lazy("webhook", "person"),
    "failed": pgettext_lazy("webhook", "failed"),
    "gone": pgettext_lazy("webhook", "gone"),
}
SETTING_NAMES: dict[str, Promise] = {
    "address": pgettext_lazy("setting", "address"),
    "audit_days": pgettext_lazy("setting", "audit days"),
    "blind_alert_minutes": pgettext_lazy("setting", "blind alert minutes"),
    "client_id": pgettext_lazy("setting", "client id"),
    "compute": pgettext_lazy("setting", "compute"),
    "default_role": pgettext_lazy("setting", "default role"),
    "enabled": pgettext_lazy("setting", "enabled"),
    "events": pgettext_lazy("setting", "events"),
    "first_day": pgettext_lazy("setting", "first day"),
    "fps": pgettext_lazy("setting", "fps"),
    "further_hosts": pgettext_lazy("setting", "further hosts"),
    "grid": pgettext_lazy("setting", "grid"),
    "groups_claim": pgettext_lazy("setting", "groups claim"),
    "groups_of": pgettext_lazy("setting", "groups of"),
    "height": pgettext_lazy("setting", "height"),
    "host": pgettext_lazy("setting", "host"),
    "hour": pgettext_lazy("setting", "hour"),
    "hours": pgettext_lazy("setting", "hours"),
    "idle_fps": pgettext_lazy("setting", "idle fps"),
    "is_on": pgettext_lazy("setting", "is on"),
    "issuer": pgettext_lazy("setting", "issuer"),
    "kind": pgettext_lazy("setting", "kind"),
    "last_day": pgettext_lazy("setting", "last day"),
    "log_level": pgettext_lazy("setting", "log level"),
    "max_kbytes": pgettext_lazy("setting", "max kbytes"),
    "name": pgettext_lazy("setting", "name"),
    "organisation_id": pgettext_lazy("setting", "organisation id"),
    "period": pgettext_lazy("setting", "period"),
    "place": pgettext_lazy("setting", "place"),
    "quality": pgettext_lazy("setting", "quality"),
    "reads_age": pgettext_lazy("setting", "reads age"),
    "reads_expression": pgettext_lazy("setting", "reads expression"),
    "reads_faces": pgettext_lazy("setting", "reads faces"),
    "reads_gender": pgettext_lazy("setting", "reads gender"),
    "requires_second_factor": pgettext_lazy("setting", "requires second factor"),
    "retention_days": pgettext_lazy("setting", "retention days"),
    "scopes": pgettext_lazy("setting", "scopes"),
    "silence_alert_minutes": pgettext_lazy("setting", "silence alert minutes"),
    "site_id": pgettext_lazy("setting", "site id"),
    "source": pgettext_lazy("setting", "source"),
    "time_zone": pgettext_lazy("setting", "time zone"),
    "unusual_alert": pgettext_lazy("setting", "unusual alert"),
    "weekday": pgettext_lazy("setting", "weekday"),
    "width": pgettext_lazy("setting", "width"),
}
"""Names of columns; of one that a later release adds, its own is shown."""


@dataclass(frozen=True)
class EntryWords:
    """The values of an entry's sentence, by their names in it; those that need no words are as they were logged."""

    details: Details
    name_account: Callable[[object], str]
    zone: ZoneInfo

    def __getitem__(self, name: str) -> object:
        write = _WRITERS.get(name)
        return write(self) if write else self.details[name]

    def account(self) -> str:
        return self.name_account(self.details["account"])

    def recipient(self) -> str:
        return self.account() if "account" in self.details else str(self.details["address"])

    def moment(self, name: str) -> str:
        return write_datetime(datetime.fromisoformat(self.details[name]).astimezone(self.zone))

    def device(self) -> str:
        number, name = self.details["device"], self.details["name"]
        return f"{number} ({name})" if name else str(number)

    def note(self) -> str:
        """Without its text, which may be removed; an entry stays."""
        number, first, last = self.details["note"], *(_write_day(self.details[name]) for name in ("from", "to"))
        # Translators: the number of a note, its days, and what it is about, such as: 7 for 9 November 2026 (site Lyon)
        text = _("{note} for {first} ({about})") if first == last else _("{note} for {first} to {last} ({about})")
        return text.format(note=number, first=first, last=last, about=self.about())

    def about(self) -> str:
        """What a note is of; a stream or a site that is gone has no name."""
        named, name = str(self.details["about"]), self.details["name"]
        phrases = PHRASES if name else PHRASES_WITHOUT_NAME
        return str(phrases.get(named, named)).format(name=name)

    def note_changes(self) -> str:
        parts = [write_changes(self.details["changes"])] if self.details["changes"] else []
        return ", ".join([*parts, _("another text")] if self.details["new_text"] else parts)

    def shown(self) -> str:
        """Of which streams a link or a report is."""
        found = [str(text).format(name=self.details[kind]) for kind, text in PHRASES.items() if self.details[kind]]
        return write_list(found) or _("all streams")

    def groups(self) -> str:
        found = [f"{group} = {name_role(role)}" for group, role in self.details["groups"].items()]
        return ", ".join(found) or pgettext("groups", "none")


_WRITERS: dict[str, Callable[[EntryWords], str]] = {
    "account": EntryWords.account,
    "recipient": EntryWords.recipient,
    "begins": lambda words: words.moment("from"),
    "ends": lambda words: words.moment("ends" if "ends" in words.details else "to"),
    "device": EntryWords.device,
    "webhook": lambda words: f"{words.details['webhook']} ({words.details['host']})",
    "link": lambda words: f"{words.details['link']} ({words.details['label']})",
    "report": lambda words: f"{words.details['report']} ({words.details['name']})",
    "note": EntryWords.note,
    "note_changes": EntryWords.note_changes,
    "shown": EntryWords.shown,
    "groups": EntryWords.groups,
    "settings": lambda words: write_changes(words.details),
    "changes": lambda words: write_changes(words.details["changes"]),
    "role": lambda words: name_role(words.details.get("role", "viewer")),
    "old_role": lambda words: name_role(words.details["role"][0]),
    "new_role": lambda words: name_role(words.details["role"][1]),
    "sites": lambda words: ", ".join(words.details["sites"]),
    "names": lambda words: ", ".join(words.details["names"]),
    "scopes": lambda words: ", ".join(words.details["scopes"]),
    "added": lambda words: ", ".join(words.details["added"]),
    "removed": lambda words: ", ".join(words.details["removed"]),
    "template": lambda words: write_value(words.details["template"]),
    "has_password": lambda words: write_value(words.details["password"]),
    "is_allowed": lambda words: write_value(words.details["allowed"]),
    "origins": lambda words: ", ".join(words.details["origins"]) or _("nobody"),
    "why": lambda words: str(WHY_DISABLED.get(words.details["reason"], words.details["reason"])),
}
"""How values are written that are not shown as they were logged."""


def write_sentence(action: str, words: EntryWords) -> str:
    """The action itself, where only a later release has a sentence for it."""
    choose = _CHOICES.get(action)
    found = choose(words.details) if choose else SENTENCES.get(action)
    return str(found).format_map(words) if found else action


def _choose_new_password(told: Details) -> str:
    return _("Password {password} created for Try it.") if told["trial"] else _("Password {password} created.")


def _choose_password_end(told: Details) -> str:
    return _("Password {password} ends on {ends}.") if told["ends"] else _("Password {password} has no end.")


def _choose_account_state(told: Details) -> str:
    return _("{account}: account enabled.") if told["is_active"][1] else _("{account}: account disabled.")


def _choose_reading(told: Details) -> Promise | None:
    return (READ_WITH_PASSWORD if "password" in told else READ_WITH_KEY).get(told["kind"])


def _choose_device_settings(told: Details) -> str:
    if told["changes"]:
        return _("Device {device} set: {changes}.")
    return _("Device {device} has the settings of template {template}.")


def _choose_tags(told: Details) -> str:
    if told["added"] and told["removed"]:
        return _("Tags added {added} and removed {removed}.")
    return _("Tags added {added}.") if told["added"] else _("Tags removed {removed}.")


def _choose_new_code(told: Details) -> str:
    return ngettext(
        "Enrolment code {code} created for {devices} device.",
        "Enrolment code {code} created for {devices} devices.",
        told["devices"],
    )


def _choose_new_key(told: Details) -> str:
    if told["ends"]:
        if told["all"]:
            return _("Key {key} ({name}) created for {scopes} as {role} of all streams, until {ends}.")
        return _("Key {key} ({name}) created for {scopes} as {role}, until {ends}.")
    if told["all"]:
        return _("Key {key} ({name}) created for {scopes} as {role} of all streams, without an end.")
    return _("Key {key} ({name}) created for {scopes} as {role}, without an end.")


_CHOICES: dict[str, Callable[[Details], str | Promise | None]] = {
    "password.created": _choose_new_password,
    "password.changed": _choose_password_end,
    "account.changed": _choose_account_state,
    "numbers.read": _choose_reading,
    "device.configured": _choose_device_settings,
    "stream.tagged": _choose_tags,
    "code.created": _choose_new_code,
    "key.created": _choose_new_key,
}
"""Where what happened decides which sentence it is."""


def write_changes(changes: Mapping[str, tuple[object, object]]) -> str:
    """`time zone from UTC to Europe/Paris, enabled from on to off`."""
    text = pgettext("audit log", "{setting} from {old} to {new}")
    return ", ".join(
        text.format(setting=SETTING_NAMES.get(name, name.replace("_", " ")), old=write(old), new=write(new))
        for name, (old, new) in changes.items()
        for write in [_SETTING_WRITERS.get(name, write_value)]
    )


def write_value(value: object) -> str:
    if isinstance(value, bool):
        return pgettext("setting", "on") if value else pgettext("setting", "off")
    return pgettext("setting", "nothing") if value is None or value == "" else str(value)


def _write_day(day: object) -> str:
    return write_date(date.fromisoformat(str(day)))


def _write_weekday(day: object) -> str:
    return translate(WEEKDAYS[day]) if isinstance(day, int) else write_value(day)


_SETTING_WRITERS: dict[str, Callable[[object], str]] = {
    "default_role": lambda value: name_role(write_value(value)),
    "hours": lambda value: write_hours(write_value(value)),
    "first_day": _write_day,
    "last_day": _write_day,
    "weekday": _write_weekday,
}


def name_role(role: str) -> str:
    return str(ROLE_NAMES.get(role, role))
