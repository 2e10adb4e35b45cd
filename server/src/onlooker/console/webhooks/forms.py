"""The form of a webhook."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.console.forms import PlainForm
from onlooker.console.webhooks.endpoints import CHOSEN_EVENTS, LONGEST_NAME
from onlooker.webhooks.addresses import LONGEST_URL
from onlooker.webhooks.events import EVENTS
from onlooker.webhooks.models import Endpoint

_COLON = pgettext_lazy("after a name", ":")


class EndpointForm(PlainForm):
    """Where events are sent, and which."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label="URL",
        help_text=_lazy("HTTPS, reachable from the internet, such as https://example.com/hooks."),
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    name = forms.CharField(
        label=_lazy("Name"), required=False, max_length=LONGEST_NAME, help_text=_lazy("For example, Ticket system.")
    )
    events = forms.MultipleChoiceField(
        label=_lazy("Events"),
        required=False,
        choices=[
            (name, format_lazy("{name}{colon} {text}", name=name, colon=_COLON, text=EVENTS[name]))
            for name in CHOSEN_EVENTS
        ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_lazy("None ticked: all of them, also those of later releases."),
    )

    def __init__(self, data: Any = None, *, endpoint: Endpoint | None = None) -> None:
        names = ("url", "name", "events")
        super().__init__(data, initial={name: getattr(endpoint, name) for name in names} if endpoint else {})
