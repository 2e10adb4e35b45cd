"""The settings of devices as people read and enter them: names, values, and the form of a device, site or template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.html import escape
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from onlooker.console.forms import PlainForm
from onlooker.console.languages.hours_text import write_hours
from onlooker.console.languages.locale_text import translate, write_count, write_short_number
from onlooker.console.streams.forms import HoursField
from onlooker.devices.device_settings import SETTINGS, Level, SettingError, check_settings

LABELS = {
    "source": gettext_noop("Camera"),
    "fps": gettext_noop("Frames a second"),
    "idle_fps": gettext_noop("Frames a second while nobody is there"),
    "width": gettext_noop("Width of a frame (px)"),
    "height": gettext_noop("Height of a frame (px)"),
    "quality": gettext_noop("JPEG quality"),
    "max_kbytes": gettext_noop("Kilobytes a second at most"),
    "compute": gettext_noop("Where frames are computed"),
    "hours": gettext_noop("Opening hours"),
    "time_zone": gettext_noop("Time zone of the opening hours"),
    "log_level": gettext_noop("Log level"),
}
"""In the order of forms and tables."""
_HELP = {
    "source": gettext_noop("A number such as 0, a path such as /dev/video0, or an address without a password."),
    "fps": gettext_noop("0.2 to 30."),
    "idle_fps": gettext_noop("0.2 to 30."),
    "quality": gettext_noop("10 to 95."),
    "max_kbytes": gettext_noop("What the device may send; 0 is no limit."),
    "hours": gettext_noop("Such as mo-fr 09:00-18:30, sa 10:00-16:00."),
    "log_level": gettext_noop("What the agent writes into its log on the device."),
}
COMPUTE_NAMES = {"server": gettext_noop("on the server"), "device": gettext_noop("on the device")}
LOG_LEVELS = {
    "debug": gettext_noop("all messages (debug)"),
    "info": gettext_noop("usual messages (info)"),
    "warning": gettext_noop("warnings alone (warning)"),
}
_CHOICES = {"compute": COMPUTE_NAMES, "log_level": LOG_LEVELS}
_WHOLE = ("width", "height", "quality", "max_kbytes")
_PARTS = ("fps", "idle_fps")
AGENTS_OWN = gettext_noop("the agent's own")
_WHENCE = {
    Level.STREAM: gettext_noop("the stream"),
    Level.TEMPLATE: gettext_noop("template {name}"),
    Level.SITE: gettext_noop("site {name}"),
}
_VALUE_FROM = {
    Level.STREAM: gettext_noop("{value}, from the stream"),
    Level.TEMPLATE: gettext_noop("{value}, from template {name}"),
    Level.SITE: gettext_noop("{value}, from site {name}"),
}
LONGEST_TEXT = 500


@dataclass(frozen=True)
class Inherited:
    """A setting that comes from elsewhere, unless a device, a site or a template has its own."""

    value: Any
    level: Level
    """The stream's, a template's or a site's."""
    name: str = ""
    """Of the template or the site."""

    @property
    def whence(self) -> str:
        """`site Lyon`."""
        return _(_WHENCE[self.level]).format(name=self.name)


def label_setting(name: str) -> str:
    """A newer agent's settings are called by their own names."""
    return translate(LABELS.get(name, name))


def show_setting(name: str, value: Any) -> str:
    if value is None:
        return _(AGENTS_OWN)
    if name == "hours":
        return write_hours(value) or _("always open")
    if name == "max_kbytes" and value == 0:
        return _("no limit")
    if chosen := _CHOICES.get(name, {}).get(value):
        return _(chosen)
    return write_short_number(value) if isinstance(value, float) else str(value)


def settings_of(level: Level) -> list[str]:
    """Those that can be set there, in order."""
    return [name for name in LABELS if name in SETTINGS and level in SETTINGS[name].levels]


def tell_versions(changed: int) -> str:
    """After a change: how many devices it is for."""
    if not changed:
        return _("No device changes by this.")
    return ngettext(
        "{count} device applies it within a minute, if online.",
        "{count} devices apply it within a minute, if online.",
        changed,
    ).format(count=write_count(changed))


class DeviceSettingsForm(PlainForm):
    """What one level sets by itself. An empty field sets nothing there."""

    def __init__(
        self,
        level: Level,
        own: Mapping[str, Any],
        inherited: Mapping[str, Inherited] | None = None,
        data: Any = None,
        **options: Any,
    ) -> None:
        names = settings_of(level)
        super().__init__(data, initial={name: own[name] for name in names if name in own}, **options)
        self.level, self.names = level, names
        for name in names:
            self.fields[name] = make_field(name, describe_empty(name, (inherited or {}).get(name)))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        for name in self.names:
            if given.get(name) not in (None, ""):
                self._check(name, given[name])
        return given

    def _check(self, name: str, value: Any) -> None:
        try:
            self.cleaned_data[name] = check_settings(self.level, {name: value})[name]
        except SettingError as error:
            self.add_error(name, capfirst(translate(error.complaint)))

    @property
    def settings(self) -> dict[str, Any]:
        """Each setting of the level; None where the field was left empty."""
        given = self.cleaned_data
        return {name: None if given[name] in (None, "") else given[name] for name in self.names}


class BulkSettingsForm(DeviceSettingsForm):
    """The same change of many devices. An empty field leaves the setting as it is."""

    def __init__(self, data: Any = None) -> None:
        super().__init__(Level.DEVICE, {}, None, data)
        for name in self.names:
            self.fields[name] = make_field(name, _("leave as it is"))
        self.fields["forget"] = forms.MultipleChoiceField(
            required=False,
            widget=forms.CheckboxSelectMultiple,
            choices=[(name, label_setting(name)) for name in self.names],
            label=_("Take away"),
            help_text=_("What the devices have set by themselves; what their template, site and stream say is left."),
        )

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        for name in given.get("forget", []):
            if given.get(name) not in (None, ""):
                self.add_error(name, _("Either set it or take it away."))
        return given

    @property
    def settings(self) -> dict[str, Any]:
        """Those that change; None takes one away."""
        chosen = {name: value for name, value in super().settings.items() if value is not None}
        return chosen | dict.fromkeys(self.cleaned_data["forget"])


def describe_empty(name: str, inherited: Inherited | None) -> str:
    """What holds while a field is empty."""
    if not inherited:
        return _(AGENTS_OWN)
    shown = show_setting(name, inherited.value)
    return _(_VALUE_FROM[inherited.level]).format(value=shown, name=inherited.name)


def make_field(name: str, empty: str) -> forms.Field:
    """Its help, or its first choice, says what it means to leave it empty."""
    options: dict[str, Any] = {"required": False, "label": label_setting(name)}
    explanation = translate(_HELP.get(name, ""))
    if name in _CHOICES:
        choices = [("", capfirst(empty)), *((value, _(words)) for value, words in _CHOICES[name].items())]
        return forms.ChoiceField(choices=choices, help_text=explanation, **options)
    # Translators: what holds while a field is empty, such as "Empty: always open, from site Lyon."
    what_empty_means = _("Empty: {what}.").format(what=empty)
    options["help_text"] = escape(f"{explanation} {what_empty_means}".strip())  # it has names of sites in it
    if name in _WHOLE:
        return forms.IntegerField(**options)
    if name in _PARTS:
        return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **options)
    return (HoursField if name == "hours" else forms.CharField)(max_length=LONGEST_TEXT, **options)
