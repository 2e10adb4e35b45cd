"""The forms of devices: an enrolment code, and a template of what a device begins with."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.models import Account
from onlooker.console.devices.access import managed_organisations
from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate, translate_lazily
from onlooker.console.streams.forms import (
    COMPUTE_TEXTS,
    ComputeField,
    HoursField,
    NameField,
    PlaceField,
    PresetField,
    TimeZoneField,
    choice_of,
)
from onlooker.devices.enrolment_codes import check_source, check_template_name
from onlooker.devices.models import MOST_DEVICES, DeviceTemplate
from onlooker.streams.models import Organisation, Site
from onlooker.streams.organisations import organisation_of
from onlooker.streams.presets import NOTICE_SENTENCE, NOTICE_TICK

LIVES = {"1": _lazy("1 day"), "7": _lazy("7 days"), "30": _lazy("30 days"), "90": _lazy("90 days")}


class OwnedChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic for mypy alone
    """One of the account's sites or templates; with its organisation, where there are several of these."""

    def __init__(self, *, shows_organisation: bool, **options: Any) -> None:
        self._shows_organisation = shows_organisation
        super().__init__(**options)

    def label_from_instance(self, row: Any) -> str:
        return f"{row.name} ({row.organisation})" if self._shows_organisation else str(row.name)


class CodeForm(PlainForm):
    """For how many devices, where, how long, and what they begin with."""

    devices = forms.IntegerField(
        min_value=1,
        max_value=MOST_DEVICES,
        initial=1,
        label=_lazy("How many devices"),
        help_text=_lazy("Each gets its own stream."),
    )
    days = forms.ChoiceField(
        widget=forms.RadioSelect, choices=list(LIVES.items()), initial="7", label=_lazy("The code works for")
    )

    field_order = ("template", "site", "devices", "days")

    def __init__(self, account: Account, data: Any = None, *, template: str = "") -> None:
        super().__init__(data, initial={"template": template})
        organisations = list(managed_organisations(account))
        shown = len(organisations) > 1
        templates = DeviceTemplate.objects.filter(organisation__in=organisations).select_related("organisation")
        sites = Site.objects.filter(organisation__in=organisations).select_related("organisation")
        self.fields["template"] = OwnedChoice(
            queryset=templates.order_by("name"),
            shows_organisation=shown,
            empty_label=None,
            label=_("Template"),
            help_text=_("The settings that each stream starts with."),
        )
        self.fields["site"] = OwnedChoice(
            queryset=sites.order_by("name"),
            shows_organisation=shown,
            required=False,
            empty_label=_("No site"),
            label=_("Site"),
            help_text=_("Streams are named after it (Lyon 1, Lyon 2) and get its time zone."),
        )
        self.order_fields(self.field_order)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        template, site = given.get("template"), given.get("site")
        if template and site and template.organisation_id != site.organisation_id:
            self.add_error("site", _("The template belongs to another organisation. Choose a site of the same one."))
        return given

    @property
    def life(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["days"]))


class TemplateForm(PlainForm):
    """As a new stream is asked for, without a name of its own, and with the camera of the device."""

    name = NameField(label=_lazy("Name of the template"))
    place = PlaceField()
    preset = PresetField()
    notice_given = forms.BooleanField(
        required=False, label=translate_lazily(NOTICE_TICK), help_text=translate_lazily(NOTICE_SENTENCE)
    )
    compute = ComputeField(initial=next(iter(COMPUTE_TEXTS)))
    time_zone = TimeZoneField(initial="UTC")
    hours = HoursField()
    source = forms.CharField(
        required=False,
        initial="0",
        max_length=200,
        label=_lazy("Camera"),
        help_text=_lazy(
            "0 is the first camera of a device. Or an address without a password, such as rtsp://192.0.2.7/low."
        ),
    )

    field_order = ("organisation", "name")

    def __init__(self, account: Account, data: Any = None) -> None:
        super().__init__(data)
        self._account = account
        self._organisations = list(managed_organisations(account))
        self.fields["place"].label = _("Where are the cameras?")
        self.fields["time_zone"].help_text = _("For streams without a site. A site has its own.")
        self.fields["time_zone"].widget.attrs["data-browser-time-zone"] = ""
        self.fields["name"].help_text = _("For example, Shop window or Checkout.")
        if len(self._organisations) > 1:
            choices = [(str(one.pk), one.name) for one in self._organisations]
            self.fields["organisation"] = forms.ChoiceField(label=_("Organisation"), choices=choices)
            self.order_fields(self.field_order)

    def clean_name(self) -> str:
        try:
            return check_template_name(self.cleaned_data["name"])
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None

    def clean_source(self) -> str:
        try:
            return check_source(self.cleaned_data["source"])
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        for name, refusal in choice_of(given).find_preset_refusals().items():
            self.add_error(name, translate(refusal))
        return given

    @property
    def organisation(self) -> Organisation:
        """The account's own is created, where it has none."""
        if not self._organisations:
            return organisation_of(self._account)
        chosen = self.cleaned_data.get("organisation")
        return next(one for one in self._organisations if chosen in (None, str(one.pk)))

    @property
    def chosen(self) -> dict[str, Any]:
        """The streams' settings."""
        return choice_of(self.cleaned_data).template_settings() | {"compute": self.cleaned_data["compute"]}
