"""The forms of a stream: creation, settings, Password rotation, removal."""

import uuid
from typing import Any

from django import forms
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.audit.entries import kept_days
from onlooker.audit.models import LONGEST_KEPT_DAYS
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import may_have_own_organisation
from onlooker.console.forms import PlainForm
from onlooker.console.languages.hours_text import read_hours, write_hours
from onlooker.console.languages.locale_text import translate, translate_lazily
from onlooker.console.streams.access import find_way, managed_organisations, may_choose_kind
from onlooker.streams.administration import AUDIT_DAYS, LONGEST_GRACE
from onlooker.streams.business_hours import check_hours
from onlooker.streams.choices import StreamChoice, find_change_refusals
from onlooker.streams.models import LONGEST_RETENTION_DAYS, LONGEST_SILENCE_MINUTES, Organisation, Site, Stream
from onlooker.streams.options import (
    LARGEST_GROUPS,
    LONGEST_NAME,
    READING_NOTICE,
    EnterpriseAccess,
    check_name,
    describe_kinds,
    is_same_name,
    time_zones_by_area,
)
from onlooker.streams.presets import (
    NOTICE_SENTENCE,
    NOTICE_TICK,
    PRESETS,
    USUAL,
    CameraPlace,
    Preset,
)

_LONGEST_GRACE_HOURS = LONGEST_GRACE.total_seconds() / 3600
_TIME_ZONE_HELP = _lazy("Days and hours in its numbers follow this time zone.")
_HOURS_HELP = _lazy(
    "On the clock of this time zone, such as mo-fr 09:00-18:30, sa 10:00-16:00. Outside them nothing is computed. "
    "Empty: always open."
)
PLACE_TEXTS = {
    "public": _lazy("In a public place, such as a shop, a station or a fair"),
    "workplace": _lazy("In a workplace"),
    "school": _lazy("In a school, a university or another place of education"),
}
COMPUTE_TEXTS = {
    "server": _lazy("On the server: the camera sends frames"),
    "device": _lazy("On the device: no frame leaves it, only visits do. Needs an agent with the device extra"),
}
NO_SITE = _lazy("No site")
NOT_CHOSEN = ("kind", "compute", "place", "groups_of", AUDIT_DAYS)
"""Empty, these change nothing."""


def choice_of(given: dict[str, Any]) -> StreamChoice:
    """What was said so far; a field with an error of its own counts as not said."""
    return StreamChoice(
        place=CameraPlace(given.get("place", "")),
        preset=Preset(given.get("preset", Preset.OWN)) if "place" in given else Preset.OWN,
        is_notice_given=given.get("notice_given", False),
        time_zone=given.get("time_zone", "UTC"),
        hours=given.get("hours", ""),
    )


class NameField(forms.CharField):
    """A stream's name."""

    def __init__(self, **options: Any) -> None:
        named = {"label": _lazy("Name"), "help_text": _lazy("For example, where the camera is.")}
        super().__init__(max_length=LONGEST_NAME, **named | options)

    def clean(self, value: Any) -> str:
        try:
            return check_name(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None


class TimeZoneField(forms.ChoiceField):
    """A time zone; the current one is always offered, whatever it is."""

    def __init__(self, *, current: str = "", **options: Any) -> None:
        choices: list[Any] = [
            (translate_lazily(area), [(name, name) for name in names]) for area, names in time_zones_by_area().items()
        ]
        if current and not any(current in names for names in time_zones_by_area().values()):
            choices.insert(0, (current, current))
        super().__init__(choices=choices, label=_lazy("Time zone"), help_text=_TIME_ZONE_HELP, **options)


class KindField(forms.ChoiceField):
    """Developer or enterprise, with a sentence each."""

    def __init__(self, **options: Any) -> None:
        choices = [(kind, translate(told)) for kind, told in describe_kinds(settings.ONLOOKER).items()]
        super().__init__(
            widget=forms.RadioSelect, choices=choices, label=pgettext_lazy("of a stream", "Kind"), **options
        )


class ComputeField(forms.ChoiceField):
    """Where frames become visits, with a sentence each."""

    def __init__(self, **options: Any) -> None:
        choices = list(COMPUTE_TEXTS.items())
        super().__init__(widget=forms.RadioSelect, choices=choices, label=_lazy("Where frames are computed"), **options)


class PlaceField(forms.ChoiceField):
    """Where the camera is, as far as the law asks."""

    def __init__(self, **options: Any) -> None:
        choices = list(PLACE_TEXTS.items())
        super().__init__(widget=forms.RadioSelect, choices=choices, label=_lazy("Where is the camera?"), **options)


class PresetField(forms.ChoiceField):
    """What is computed of people, with a sentence each."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            widget=forms.RadioSelect,
            choices=_list_presets,
            initial=USUAL.value,
            label=_lazy("What is computed?"),
            **options,
        )


def _list_presets() -> list[tuple[str, SafeString]]:
    return [
        (preset.value, format_html("<strong>{}:</strong> {}", translate(choice.title), translate(choice.meaning)))
        for preset, choice in PRESETS.items()
    ]


class HoursField(forms.CharField):
    """Opening hours, as text with the weekdays of the reader's language."""

    def __init__(self, **options: Any) -> None:
        usual = {"required": False, "label": _lazy("Opening hours"), "help_text": _HOURS_HELP}
        super().__init__(**{**usual, **options})

    def prepare_value(self, value: Any) -> Any:
        return write_hours(value) if isinstance(value, str) else value

    def to_python(self, value: Any) -> str:
        return read_hours(super().to_python(value) or "")

    def clean(self, value: Any) -> str:
        try:
            return check_hours(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None


NOT_HERE = _lazy("You can't create streams here. Ask an owner of the organisation for the role of a manager.")


class BelongsField(forms.ChoiceField):
    """An organisation, or one of its sites: `12` or `12-34`."""

    def __init__(self, organisations: list[Organisation], **options: Any) -> None:
        self._organisations = {str(one.pk): one for one in organisations}
        sites = Site.objects.filter(organisation__in=organisations).order_by("name", "id")
        self._sites = {f"{site.organisation_id}-{site.pk}": site for site in sites}
        groups = [(one.name, self._choices_of(one)) for one in organisations]
        super().__init__(choices=groups, required=False, label=_lazy("Organisation and site"), **options)

    def _choices_of(self, organisation: Organisation) -> list[tuple[str, str]]:
        sites = [(key, site.name) for key, site in self._sites.items() if site.organisation_id == organisation.pk]
        return [(str(organisation.pk), str(NO_SITE)), *sites]

    def organisation_in(self, value: str) -> Organisation | None:
        return self._organisations.get(value.partition("-")[0])

    def site_in(self, value: str) -> Site | None:
        return self._sites.get(value)


class NewStreamForm(PlainForm):
    """Name, place, preset, time zone and opening hours, and the kind where its owner may choose it.

    Where there is a choice, also the organisation and the site, whose opening hours it takes if none are given.
    """

    name = NameField()
    place = PlaceField()
    preset = PresetField()
    notice_given = forms.BooleanField(
        required=False, label=translate_lazily(NOTICE_TICK), help_text=translate_lazily(NOTICE_SENTENCE)
    )
    time_zone = TimeZoneField(initial="UTC")
    hours = HoursField()
    form_key = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    """Tells a second click from a second stream."""

    field_order = ("name", "kind")

    def __init__(self, owner: Account, data: Any = None) -> None:
        super().__init__(data)
        self.way = find_way(owner)
        self._managed = managed = list(managed_organisations(owner))
        self._is_elsewhere = not managed and not may_have_own_organisation(owner)
        self._belongs = BelongsField(managed)
        if len(managed) > 1 or Site.objects.filter(organisation__in=managed).exists():
            self.fields["belongs_to"] = self._belongs
        self.fields["time_zone"].widget.attrs["data-browser-time-zone"] = ""
        if self.way is not EnterpriseAccess.STAFF:
            usual = Stream.Kind.ENTERPRISE if self.way is EnterpriseAccess.CHOICE else Stream.Kind.DEVELOPER
            self.fields["kind"] = KindField(initial=usual)
            self.order_fields(self.field_order)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if self._is_elsewhere:
            self.add_error(None, NOT_HERE)
        for name, refusal in choice_of(given).find_refusals().items():
            self.add_error(name, translate(refusal))
        return given

    @property
    def chosen(self) -> dict[str, Any]:
        """The stream's settings, by its preset and what else was asked."""
        return choice_of(self.cleaned_data).stream_settings(
            self._belongs.site_in(self.cleaned_data.get("belongs_to", ""))
        )

    @property
    def organisation(self) -> Organisation | None:
        """None: the account's own, which may have to be created."""
        if len(self._managed) == 1:
            return self._managed[0]
        return self._belongs.organisation_in(self.cleaned_data.get("belongs_to", ""))

    @property
    def kind(self) -> str:
        """The kind it starts with: with billing, developer until there is a payment card."""
        is_chosen = self.way is EnterpriseAccess.CHOICE and self.cleaned_data["kind"] == Stream.Kind.ENTERPRISE
        return Stream.Kind.ENTERPRISE if is_chosen else Stream.Kind.DEVELOPER

    @property
    def needs_card(self) -> bool:
        return self.way is EnterpriseAccess.CARD and bool(self.cleaned_data["kind"] == Stream.Kind.ENTERPRISE)


class SettingsForm(PlainForm):
    """Everything those who manage a stream may change; the kind only where it is not paid for."""

    name = NameField()
    enabled = forms.BooleanField(
        required=False,
        label=_lazy("Enabled"),
        help_text=_lazy("While this is off, frames are refused and nothing is counted."),
    )
    place = PlaceField(required=False)
    reads_faces = forms.BooleanField(
        required=False,
        label=_lazy("Look for faces"),
        help_text=_lazy("While this is off, people are only counted: no face net runs, and nobody is interested."),
    )
    reads_age = forms.BooleanField(required=False, label=_lazy("Age"))
    reads_gender = forms.BooleanField(required=False, label=_lazy("Gender"))
    reads_expression = forms.BooleanField(required=False, label=_lazy("Expression"))
    compute = ComputeField(required=False)
    retention_days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_RETENTION_DAYS,
        label=_lazy("Keep visits for (days)"),
        help_text=_lazy("Older visits are deleted."),
    )
    confirmed_days = forms.IntegerField(required=False, widget=forms.HiddenInput)
    audit_days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LONGEST_KEPT_DAYS,
        label=_lazy("Keep the audit log for (days)"),
        help_text=_lazy("Older entries are deleted."),
    )
    time_zone = TimeZoneField()
    hours = HoursField()
    groups_of = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_GROUPS,
        label=_lazy("Tell about people in groups of at least"),
        help_text=_lazy(
            "Age, gender, expression and times are told of so many interested people together, never of fewer. 1 "
            "means off. Raising it from 1 permanently erases what was kept of each quarter of an hour."
        ),
    )
    grid = forms.BooleanField(
        required=False,
        label=_lazy("Round ranges to quarters of an hour"),
        help_text=_lazy("Nobody is told who is in view now, and numbers change once a minute."),
    )
    silence_alert_minutes = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_SILENCE_MINUTES,
        label=_lazy("E-mail owners and managers when the camera is silent for (minutes)"),
        help_text=_lazy("0 means never."),
    )
    blind_alert_minutes = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_SILENCE_MINUTES,
        label=_lazy("E-mail owners and managers when the camera sees nothing for (minutes)"),
        help_text=_lazy("It is covered, in the dark, out of focus, frozen or lost. 0 means never."),
    )
    unusual_alert = forms.BooleanField(
        required=False,
        label=_lazy("E-mail owners and managers when far fewer or far more people come than usual"),
        help_text=_lazy("Judged every hour, once six weeks are known. At most one e-mail a day."),
    )

    def __init__(self, account: Account, stream: Stream, data: Any = None) -> None:
        names = [name for name in self.base_fields if name != "confirmed_days"]
        own = {name: getattr(stream, name) for name in (*names, "kind") if name != AUDIT_DAYS}
        super().__init__(data, initial=own | {AUDIT_DAYS: kept_days(stream.pk)})
        self._stream = stream
        self.reading_notice = translate(READING_NOTICE)
        sites = Site.objects.filter(organisation=stream.organisation_id).order_by("name", "id")
        if sites:
            self.fields["site"] = forms.ModelChoiceField(
                sites, required=False, label=_lazy("Site"), empty_label=str(NO_SITE)
            )
            self.initial["site"] = stream.site_id
            names.append("site")
        if may_choose_kind(account, stream):
            self.fields["kind"] = KindField(required=False)
            names.append("kind")
        self.asked_days: int | None = None
        """The new number of days where somebody must first confirm that older visits are deleted."""
        self.fields["time_zone"] = TimeZoneField(current=stream.time_zone)
        for name in names:  # sent back with the form, so that an old tab changes only what was edited in it
            self.fields[name].show_hidden_initial = data is None or self.add_initial_prefix(name) in data

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        days = given.get("retention_days")
        is_fewer = "retention_days" in self.changed_data and days and days < self._stream.retention_days
        if is_fewer and given.get("confirmed_days") != days:
            self.asked_days = days
            self.add_error(None, _("Nothing has been saved yet. Confirm below that older visits will be deleted."))
        changed = {name: given[name] for name in self.changed_data if name in given}
        for name, refusal in find_change_refusals(self._stream, changed).items():
            self.add_error(name, translate(refusal))
        return given

    @property
    def changes(self) -> dict[str, object]:
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name != "confirmed_days"}
        return {name: value for name, value in changed.items() if value or name not in NOT_CHOSEN}


class RotationForm(PlainForm):
    """How long the old Password keeps working."""

    grace = forms.ChoiceField(
        widget=forms.RadioSelect,
        initial="1",
        label=_lazy("Keep the old Password working for"),
        choices=[
            ("0", _lazy("Not at all: it stops working now")),
            ("1", _lazy("1 hour")),
            ("4", _lazy("4 hours")),
            ("24", _lazy("24 hours")),
            ("other", pgettext_lazy("length of time", "Other")),
        ],
    )
    other_hours = forms.FloatField(
        required=False,
        min_value=0,
        max_value=_LONGEST_GRACE_HOURS,
        label=_lazy("Other (hours)"),
        help_text=format_lazy(_lazy("0 to {most}."), most=f"{_LONGEST_GRACE_HOURS:g}"),
    )

    def clean(self) -> dict[str, Any]:
        is_unsaid = self.cleaned_data.get("grace") == "other" and self.cleaned_data.get("other_hours") is None
        if is_unsaid and "other_hours" not in self.errors:
            self.add_error("other_hours", _("Enter the number of hours."))
        return self.cleaned_data

    @property
    def hours(self) -> float:
        grace: str = self.cleaned_data["grace"]
        return float(self.cleaned_data["other_hours"] if grace == "other" else grace)


class RemovalForm(PlainForm):
    """The stream's name, typed."""

    name = forms.CharField(label=_lazy("Stream name"), widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, stream: Stream, data: Any = None) -> None:
        super().__init__(data)
        self._stream = stream

    def clean_name(self) -> str:
        typed: str = self.cleaned_data["name"]
        if not is_same_name(typed, self._stream.name):
            raise forms.ValidationError(_("That is not the stream's name. Nothing was deleted."))
        return typed
