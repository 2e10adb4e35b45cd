"""Tables of the staff's pages, as all tables of the console: on a telephone each cell says what it is."""

from collections.abc import Iterable, Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def label_cells(cells: Iterable[SafeString], headers: Iterable[Mapping[str, str]]) -> list[SafeString]:
    """Cells as Django's admin writes them, each with its column's name."""
    return [_label(cell, str(header["text"])) for cell, header in zip(cells, headers, strict=True)]


def _label(cell: SafeString, name: str) -> SafeString:
    opening = format_html('<td data-label="{}" ', name[:1].upper() + name[1:])
    return mark_safe(cell.replace("<td ", opening, 1))  # noqa: S308 (both parts are escaped)
