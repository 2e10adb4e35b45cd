"""Lays a report out on pages of A4. Pure: the same report makes the same file."""

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from onlooker.console.dashboard.figures import Figure
from onlooker.console.languages.locale_text import write_named
from onlooker.console.reports.pdf.charts import draw_bars, draw_breakdowns, draw_week
from onlooker.console.reports.pdf.contents import PrintedReport
from onlooker.console.reports.pdf.document import PdfDocument
from onlooker.console.reports.pdf.sheet import INNER, MUTED, NORMAL, SMALL, Sheet, Text
from onlooker.console.reports.pdf.table import PdfColumn, PdfTable
from onlooker.console.reports.pdf.typeface import LACKING, has_all

MEDIA_TYPE = "application/pdf"
_VALUE = Text(size=11, bold=True, is_right=True)
_EXPLAINED = 14.0
"""About the height of what explains a number; all stay on one page."""
_NAME = Text(size=9.5, bold=True)


def draw_pdf(report: PrintedReport) -> bytes:
    """In the active language, which is the report's."""
    document = PdfDocument(title=f"{report.title}, {report.range}", language=report.language)
    sheet = Sheet(document)
    sheet.add_heading(report.title, level=1)
    sheet.add_paragraph(report.range, Text(size=12), after=2)
    sheet.add_paragraph(" ".join(report.about), SMALL, after=10)
    _add_figures(sheet, report)
    sheet.y += 8
    for sentence in report.sentences:
        sheet.add_paragraph(sentence)
    sheet.y += 10
    if report.chart:
        draw_bars(sheet, report.chart)
    draw_breakdowns(sheet, report.breakdowns, report.seniors)
    if report.week:
        draw_week(sheet, report.week)
    _explain(sheet, report)
    count = document.page_count
    numbers = [_("Page {number} of {count}").format(number=page + 1, count=count) for page in range(count)]
    sheet.write_footers(f"{report.title}, {report.range}", numbers)
    return document.finish()


def _add_figures(sheet: Sheet, report: PrintedReport) -> None:
    columns = (
        PdfColumn(_("Number"), 0, 94),
        PdfColumn(_("Value"), 94, 54, _VALUE),
        PdfColumn(_("95 %% interval") % {}, 160, 82),
        PdfColumn(pgettext("of a number", "Change"), 246, INNER - 246),
    )
    table = PdfTable(sheet, columns)
    for figure in report.figures:
        table.add_row(_write_figure(figure))


def _write_figure(figure: Figure) -> list[list[tuple[str, Text]]]:
    small = Text(size=7.8, colour=MUTED)
    change = figure.change
    value = f"{figure.shown} {figure.unit}".strip()
    said = NORMAL if change.numbers else small
    changed = [(change.words, said), (change.chance, small)]
    interval = [(figure.interval, small)] if figure.interval else []
    return [[(figure.name, _NAME)], [(value, _VALUE)], interval, [part for part in changed if part[0]]]


def _explain(sheet: Sheet, report: PrintedReport) -> None:
    sheet.add_heading(_("What these numbers mean"), keep=_EXPLAINED * (len(report.figures) + 3))
    for figure in report.figures:
        sheet.add_paragraph(write_named(figure.name, figure.meaning), SMALL, after=2)
    how = _(
        # xgettext:no-python-format
        "A 95 % interval says between which numbers a mean, a share or a change lies, apart from chance. Where a chart "
        "is hatched, nothing was watched: nobody knows who came."
    )
    sheet.add_paragraph(how, SMALL, after=2)
    if not has_all(report.title):
        lacking = _("Letters that this file has no font for are shown as {sign}; copied text has them.")
        sheet.add_paragraph(lacking.format(sign=LACKING), SMALL)
