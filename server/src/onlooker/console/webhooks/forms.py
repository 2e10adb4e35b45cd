"""The form of a webhook."""

from typing import Any

from django import forms

from onlooker.console.forms import PlainForm
from onlooker.console.webhooks.endpoints import CHOSEN_EVENTS, LONGEST_NAME
from onlooker.webhooks.addresses import LONGEST_URL
from onlooker.webhooks.events import EVENTS
from onlooker.webhooks.models import Endpoint


class EndpointForm(PlainForm):
    """Where events are sent, and which."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label="URL",
        help_text="HTTPS, reachable from the internet, such as https://example.com/hooks.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    name = forms.CharField(required=False, max_length=LONGEST_NAME, help_text="For example, Ticket system.")
    events = forms.MultipleChoiceField(
        required=False,
        choices=[(name, f"{name}: {EVENTS[name]}") for name in CHOSEN_EVENTS],
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all of them, also those of later releases.",
    )

    def __init__(self, data: Any = None, *, endpoint: Endpoint | None = None) -> None:
        names = ("url", "name", "events")
        super().__init__(data, initial={name: getattr(endpoint, name) for name in names} if endpoint else {})
