"""Billing on other pages: whether it is on, and a panel about one stream."""

from typing import Any

from django import template

from onlooker.console.billing.configuration import is_billing_on
from onlooker.console.billing.models import Subscription
from onlooker.streams.models import Stream

register = template.Library()


@register.simple_tag
def billing_is_on() -> bool:
    return is_billing_on()


@register.inclusion_tag("billing/panel.html")
def billing_panel(stream: Stream) -> dict[str, Any]:
    """For a stream's page, shown to owners; empty if billing is off."""
    row = Subscription.objects.filter(stream=stream).first()
    return {"is_on": is_billing_on(), "stream": stream, "subscription": row}
