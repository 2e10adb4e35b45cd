"""What people fill in about their streams."""

import uuid
from typing import Any

from django import forms
from django.conf import settings

from onlooker.console.accounts.models import Account
from onlooker.console.streams.enterprise import may_choose_kind, way_of
from onlooker.streams.administration import LONGEST_GRACE
from onlooker.streams.choices import LONGEST_NAME, READING_NOTICE, check_name, is_same_name, time_zones_by_area
from onlooker.streams.kinds import Way, describe_kinds
from onlooker.streams.models import LONGEST_RETENTION_DAYS, LONGEST_SILENCE_MINUTES, Stream

_LONGEST_GRACE_HOURS = LONGEST_GRACE.total_seconds() / 3600
_TIME_ZONE_HELP = "Days and hours of its numbers begin by this clock."


class NameField(forms.CharField):
    """A stream's name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_NAME, help_text="Such as where its camera hangs.", **options)

    def clean(self, value: Any) -> str:
        try:
            return check_name(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


class TimeZoneField(forms.ChoiceField):
    """A place's clock; the one that is set already is offered, whatever it is."""

    def __init__(self, *, current: str = "", **options: Any) -> None:
        choices: list[Any] = [(area, [(name, name) for name in names]) for area, names in time_zones_by_area().items()]
        if current and not any(current in names for names in time_zones_by_area().values()):
            choices.insert(0, (current, current))
        super().__init__(choices=choices, help_text=_TIME_ZONE_HELP, **options)


class KindField(forms.ChoiceField):
    """Developer or enterprise, with a sentence each."""

    def __init__(self, **options: Any) -> None:
        choices = list(describe_kinds(settings.ONLOOKER).items())
        super().__init__(widget=forms.RadioSelect, choices=choices, **options)


class PlainForm(forms.Form):
    """Labels without a colon."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named | {"label_suffix": ""})


class NewStreamForm(PlainForm):
    """Name and time zone, the kind where its owner may choose it, and whether expression is read."""

    name = NameField()
    time_zone = TimeZoneField(initial="UTC")
    reads_expression = forms.BooleanField(required=False, label="Read expression", help_text=READING_NOTICE)
    form_key = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    """Tells a second click from a second stream."""

    field_order = ("name", "kind")

    def __init__(self, owner: Account, data: Any = None) -> None:
        super().__init__(data)
        self.way = way_of(owner)
        self.fields["time_zone"].widget.attrs["data-browser-time-zone"] = ""
        if self.way is not Way.STAFF:
            usual = Stream.Kind.ENTERPRISE if self.way is Way.CHOICE else Stream.Kind.DEVELOPER
            self.fields["kind"] = KindField(initial=usual)
            self.order_fields(self.field_order)

    @property
    def kind(self) -> str:
        """As which it begins: with billing, as a developer stream until there is a card."""
        is_chosen = self.way is Way.CHOICE and self.cleaned_data["kind"] == Stream.Kind.ENTERPRISE
        return Stream.Kind.ENTERPRISE if is_chosen else Stream.Kind.DEVELOPER

    @property
    def needs_card(self) -> bool:
        return self.way is Way.CARD and bool(self.cleaned_data["kind"] == Stream.Kind.ENTERPRISE)


class SettingsForm(PlainForm):
    """All that an owner may change of a stream; the kind only where nobody pays for it."""

    name = NameField()
    enabled = forms.BooleanField(
        required=False, help_text="While it is off, its frames are refused and nothing is counted."
    )
    reads_age = forms.BooleanField(required=False, label="Age")
    reads_gender = forms.BooleanField(required=False, label="Gender")
    reads_expression = forms.BooleanField(required=False, label="Expression")
    retention_days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_RETENTION_DAYS,
        label="Keep visits for, in days",
        help_text="Older ones are deleted.",
    )
    confirmed_days = forms.IntegerField(required=False, widget=forms.HiddenInput)
    time_zone = TimeZoneField()
    silence_alert_minutes = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_SILENCE_MINUTES,
        label="E-mail me after silence, in minutes",
        help_text="0: never.",
    )

    def __init__(self, stream: Stream, data: Any = None) -> None:
        names = [name for name in self.base_fields if name != "confirmed_days"]
        super().__init__(data, initial={name: getattr(stream, name) for name in (*names, "kind")})
        self._stream = stream
        self.reading_notice = READING_NOTICE
        if may_choose_kind(stream):
            self.fields["kind"] = KindField(required=False)
            names.append("kind")
        self.asked_days: int | None = None
        """Where visits would be deleted that the owner has not agreed to: how many days would be kept."""
        self.fields["time_zone"] = TimeZoneField(current=stream.time_zone)
        for name in names:  # what the page showed comes back with it: an old tab changes only what was touched in it
            self.fields[name].show_hidden_initial = data is None or self.add_initial_prefix(name) in data

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        days = given.get("retention_days")
        is_fewer = "retention_days" in self.changed_data and days and days < self._stream.retention_days
        if is_fewer and given.get("confirmed_days") != days:
            self.asked_days = days
            self.add_error(None, "Nothing is saved yet. Confirm below that older visits are deleted.")
        return given

    @property
    def changes(self) -> dict[str, object]:
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name != "confirmed_days"}
        return {name: value for name, value in changed.items() if name != "kind" or value}  # a form without a choice


class RotationForm(PlainForm):
    """How long the old Password goes on working."""

    grace = forms.ChoiceField(
        widget=forms.RadioSelect,
        initial="1",
        label="The old Password works on for",
        choices=[
            ("0", "No time: it ends now"),
            ("1", "1 hour"),
            ("4", "4 hours"),
            ("24", "24 hours"),
            ("other", "Another time"),
        ],
    )
    other_hours = forms.FloatField(
        required=False,
        min_value=0,
        max_value=_LONGEST_GRACE_HOURS,
        label="Another time, in hours",
        help_text=f"0 to {_LONGEST_GRACE_HOURS:g}.",
    )

    def clean(self) -> dict[str, Any]:
        is_unsaid = self.cleaned_data.get("grace") == "other" and self.cleaned_data.get("other_hours") is None
        if is_unsaid and "other_hours" not in self.errors:
            self.add_error("other_hours", "Say how many hours.")
        return self.cleaned_data

    @property
    def hours(self) -> float:
        grace: str = self.cleaned_data["grace"]
        return float(self.cleaned_data["other_hours"] if grace == "other" else grace)


class RemovalForm(PlainForm):
    """The stream's name, typed."""

    name = forms.CharField(label="Its name", widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, stream: Stream, data: Any = None) -> None:
        super().__init__(data)
        self._stream = stream

    def clean_name(self) -> str:
        typed: str = self.cleaned_data["name"]
        if not is_same_name(typed, self._stream.name):
            raise forms.ValidationError("This is not its name. Nothing was removed.")
        return typed
