"""The settings of devices as people read and enter them: names, values, and the form of a device, site or template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.html import escape

from onlooker.console.forms import PlainForm
from onlooker.devices.device_settings import SETTINGS, Level, check_settings

LABELS = {
    "source": "Camera",
    "fps": "Frames a second",
    "idle_fps": "Frames a second while nobody is there",
    "width": "Width of a frame (px)",
    "height": "Height of a frame (px)",
    "quality": "JPEG quality",
    "max_kbytes": "Kilobytes a second at most",
    "compute": "Where frames are computed",
    "hours": "Opening hours",
    "time_zone": "Time zone of the opening hours",
    "log_level": "Log level",
}
"""In the order of forms and tables."""
_HELP = {
    "source": "A number such as 0, a path such as /dev/video0, or an address without a password.",
    "fps": "0.2 to 30.",
    "idle_fps": "0.2 to 30.",
    "quality": "10 to 95.",
    "max_kbytes": "What the device may send; 0 is no limit.",
    "hours": "Such as mo-fr 09:00-18:30, sa 10:00-16:00.",
    "log_level": "What the agent writes into its log on the device.",
}
COMPUTE_NAMES = {"server": "on the server", "device": "on the device"}
LOG_LEVELS = {"debug": "all messages (debug)", "info": "usual messages (info)", "warning": "warnings alone (warning)"}
_CHOICES = {"compute": COMPUTE_NAMES, "log_level": LOG_LEVELS}
_WHOLE = ("width", "height", "quality", "max_kbytes")
_PARTS = ("fps", "idle_fps")
AGENTS_OWN = "the agent's own"
LONGEST_TEXT = 500


@dataclass(frozen=True)
class Inherited:
    """A setting that comes from elsewhere, unless a device, a site or a template has its own."""

    value: Any
    whence: str
    """Such as `the site Lyon`."""


def label_setting(name: str) -> str:
    """A newer agent's settings are called by their own names."""
    return LABELS.get(name, name)


def show_setting(name: str, value: Any) -> str:
    if value is None:
        return AGENTS_OWN
    if name == "hours" and value == "":
        return "always open"
    if name == "max_kbytes" and value == 0:
        return "no limit"
    return _CHOICES.get(name, {}).get(value) or (f"{value:g}" if isinstance(value, float) else str(value))


def settings_of(level: Level) -> list[str]:
    """Those that can be set there, in order."""
    return [name for name in LABELS if name in SETTINGS and level in SETTINGS[name].levels]


def tell_versions(changed: int) -> str:
    """After a change: how many devices it is for."""
    if not changed:
        return "No device changes by this."
    return f"{changed:,} device{' applies' if changed == 1 else 's apply'} it within a minute, if online."


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
        except ValueError as error:
            words = str(error).removeprefix(f"{name}: ")
            self.add_error(name, words[:1].upper() + words[1:])

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
            self.fields[name] = make_field(name, "Leave as it is")
        self.fields["forget"] = forms.MultipleChoiceField(
            required=False,
            widget=forms.CheckboxSelectMultiple,
            choices=[(name, LABELS[name]) for name in self.names],
            label="Take away",
            help_text="What the devices have set by themselves; what their template, site and stream say is left.",
        )

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        for name in given.get("forget", []):
            if given.get(name) not in (None, ""):
                self.add_error(name, "Either set it or take it away.")
        return given

    @property
    def settings(self) -> dict[str, Any]:
        """Those that change; None takes one away."""
        chosen = {name: value for name, value in super().settings.items() if value is not None}
        return chosen | dict.fromkeys(self.cleaned_data["forget"])


def describe_empty(name: str, inherited: Inherited | None) -> str:
    """What holds while a field is empty."""
    return f"{show_setting(name, inherited.value)}, from {inherited.whence}" if inherited else AGENTS_OWN


def make_field(name: str, empty: str) -> forms.Field:
    """Its help, or its first choice, says what it means to leave it empty."""
    options: dict[str, Any] = {"required": False, "label": LABELS[name]}
    if name in _CHOICES:
        choices = [("", f"{empty[:1].upper()}{empty[1:]}"), *_CHOICES[name].items()]
        return forms.ChoiceField(choices=choices, help_text=_HELP.get(name, ""), **options)
    help_text = f"{_HELP.get(name, '')} Empty: {empty[:1].lower()}{empty[1:]}."
    options["help_text"] = escape(help_text.strip())  # it has names of sites in it
    if name in _WHOLE:
        return forms.IntegerField(**options)
    if name in _PARTS:
        return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **options)
    return forms.CharField(max_length=LONGEST_TEXT, **options)
