"""`{% segment_link part "heat" label=part.name %}`: a part of a chart in its table, which leads to the people in it.

A section has some 250 of them; as a template that each one includes they would take half of its time.
"""

from typing import Protocol

from django import template
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import pgettext

register = template.Library()
_CHOSEN = mark_safe(' aria-current="true"')


class LinkedPart(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def is_chosen(self) -> bool: ...


@register.simple_tag
def segment_link(part: LinkedPart, chart: str, *, label: str | int, whose: str = "") -> SafeString:
    """`whose`: what the label is of, for those who don't see its row and column."""
    shown = localize(label)
    colon = pgettext("after a name", ":")
    return format_html(
        '<a id="{}-{}" data-segment="{}" href="?{}"{}{}>{}</a>',
        chart,
        part.key,
        part.key,
        part.address,
        _CHOSEN if part.is_chosen else "",
        format_html(' aria-label="{}{} {}"', whose, colon, shown) if whose else "",
        shown,
    )
