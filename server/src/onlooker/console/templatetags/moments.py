"""`{% moment status.since stream.time_zone %}`, or `… as since %}` for a sentence: a moment on a stream's clock."""

from datetime import UTC, datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from onlooker.streams.business_hours import zone_of

register = template.Library()


@register.simple_tag
def moment(at: datetime, time_zone: str) -> SafeString:
    """To the second, as the reader's language writes it."""
    local = at.astimezone(zone_of(time_zone))
    shown = f"{date_format(local, 'SHORT_DATE_FORMAT')}, {local:%H:%M:%S}"
    return format_html('<time datetime="{}">{}</time>', at.astimezone(UTC).isoformat(), shown)
