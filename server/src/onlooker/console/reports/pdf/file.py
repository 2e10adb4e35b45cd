"""A report's PDF with its name, for a mail or to download."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from onlooker.console.dashboard.period import SECOND
from onlooker.console.dashboard.report import Report
from onlooker.console.reports.pdf.contents import describe_group, describe_stream
from onlooker.console.reports.pdf.pages import draw_pdf
from onlooker.console.table_file import plain_name


@dataclass(frozen=True)
class PdfFile:
    """What is attached or sent."""

    name: str
    """In ASCII."""
    content: bytes


def make_stream_pdf(shown: Mapping[str, Any], title: str) -> PdfFile:
    """`shown` is what the templates of the dashboard's report get. In the active language."""
    report: Report = shown["report"]
    period = report.period
    first, last = (at.astimezone(period.zone).date() for at in (period.from_at, period.to_at - SECOND))
    name = f"{title} opening hours" if report.in_hours else title
    return PdfFile(_name_file(name, first, last), draw_pdf(describe_stream(shown, title)))


def make_group_pdf(shown: Mapping[str, Any], title: str) -> PdfFile:
    """`shown` is what the templates of several streams' numbers get. In the active language."""
    days = [day.begins_at.date() for day in shown["days"]]
    return PdfFile(_name_file(title, days[0], days[-1]), draw_pdf(describe_group(shown, title)))


def _name_file(title: str, first: date, last: date) -> str:
    """`onlooker-front-door-2026-11-02-to-2026-11-08.pdf`."""
    parts = ("onlooker", plain_name(title), f"{first}-to-{last}")
    return f"{'-'.join(filter(None, parts))}.pdf"
