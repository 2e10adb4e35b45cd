"""The settings of devices as people read and enter them: names, values, and the form of a device, site or template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.html import escape

from onlooker.console.forms import PlainForm
from onlooker.devices.device_settings import SETTINGS, check_settings

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
    "max_kbytes": "What the device may send.",
    "hours": "Such as mo-fr 09:00-18:30, sa 10:00-16:00.",
    "log_level": "What the agent writes into its log on the device.",
}
COMPUTE_NAMES = {"server": "on the server", "device": "on the device"}
LOG_LEVELS = {"debug": "everything (debug)", "info": "usual messages (info)", "warning": "warnings alone (warning)"}
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
    return _CHOICES.get(name, {}).get(value) or str(value)


def settings_of(level: str) -> list[str]:
    """Those that can be set there, in order."""
    return [name for name in LABELS if name in SETTINGS and level in SETTINGS[name].levels]


class DeviceSettingsForm(PlainForm):
    """What one level sets by itself. An empty field sets nothing there."""

    def __init__(
        self,
        level: str,
        own: Mapping[str, Any],
        inherited: Mapping[str, Inherited] | None = None,
        data: Any = None,
        **options: Any,
    ) -> None:
        names = settings_of(level)
        super().__init__(data, initial={name: own[name] for name in names if name in own}, **options)
        self.level, self.names = level, names
        for name in names:
            self.fields[name] = make_field(name, (inherited or {}).get(name))

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
            self.add_error(name, str(error))

    @property
    def settings(self) -> dict[str, Any]:
        """Each setting of the level; None where the field was left empty."""
        given = self.cleaned_data
        return {name: None if given[name] in (None, "") else given[name] for name in self.names}


def make_field(name: str, inherited: Inherited | None) -> forms.Field:
    """Its help says what holds while it is empty."""
    empty = f"{show_setting(name, inherited.value)}, from {inherited.whence}" if inherited else AGENTS_OWN
    options: dict[str, Any] = {"required": False, "label": LABELS[name]}
    if name in _CHOICES:
        choices = [("", f"Not set here: {empty}"), *_CHOICES[name].items()]
        return forms.ChoiceField(choices=choices, help_text=_HELP.get(name, ""), **options)
    options["help_text"] = escape(f"{_HELP.get(name, '')} Empty: {empty}.".strip())  # it has names of sites in it
    if name in _WHOLE:
        return forms.IntegerField(**options)
    if name in _PARTS:
        return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **options)
    return forms.CharField(max_length=LONGEST_TEXT, **options)
