"""The drawings of a PDF: people over time, who they were, and the hours of the week. Pure."""

import math
from collections.abc import Sequence

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from onlooker.console.dashboard.presentation import Breakdown
from onlooker.console.languages.locale_text import write_count
from onlooker.console.reports.pdf.contents import BarChart, WeekTable
from onlooker.console.reports.pdf.document import Colour, Element
from onlooker.console.reports.pdf.sheet import INK, INNER, LEFT, MUTED, RIGHT, RULE, Sheet, Text
from onlooker.console.reports.pdf.typeface import measure, shorten, tidy, wrap

# As in light mode: server/style/_charts.scss.
PASSING_BY, INTERESTED, HATCH, AXIS = "#0070b0", "#ffbc66", "#b4bcca", "#8a93a3"
HEAT = ("#f3f5f9", "#c9dff2", "#97c3e6", "#5aa2d6", "#1b74b3", "#063f6b")
LIGHT_INK_FROM = 4
"""The first of these that is dark."""
_PART_COLOURS = {"female": "#d68000", "male": "#00609c", "young_female": "#d68000", "young_male": "#2079b9"}
_PART_COLOURS |= {"senior_female": "#8a4200", "senior_male": "#00324f", "?": "#b4bcca"}

PLOT, GUTTER, STRIP = 130.0, 34.0, 5.0
"""The height of a chart, the room for the numbers beside it, and the height of the strips at its foot."""
LABEL, NUMBER = Text(size=7.5, colour=MUTED), Text(size=7, colour=INK)
HEADROOM = 1.07
"""For the number above the highest bar."""
STEPS = (1, 2, 2.5, 5, 10)
ROW = 13.5
"""Of a breakdown."""


def draw_bars(sheet: Sheet, chart: BarChart) -> None:
    """People as bars, one number inside the other; what was not watched is hatched."""
    sheet.need(PLOT + 70)
    sheet.add_heading(chart.title, keep=PLOT + 50)
    figure = sheet.document.add_element("Figure", said=tidy(chart.said))
    _draw_legend(sheet, chart, figure)
    sheet.y += 12
    floor = sheet.y + PLOT
    highest = max((bar.passing_by or 0 for bar in chart.bars), default=0)
    top = _draw_axis(sheet, highest, figure)
    slot = (INNER - GUTTER) / max(len(chart.bars), 1)
    has_numbers = all(measure(write_count(bar.passing_by or 0), NUMBER.size) < slot - 1 for bar in chart.bars)
    for number, bar in enumerate(chart.bars):
        x = LEFT + GUTTER + number * slot
        if bar.passing_by is None:
            if bar.missing:
                sheet.document.hatch_area((x, floor - PLOT, slot, PLOT), HATCH)
            continue
        height = PLOT * bar.passing_by / top
        _fill_bar(sheet, (x, floor, slot * 0.72, height), slot, PASSING_BY)
        _fill_bar(sheet, (x, floor, slot * 0.4, PLOT * (bar.interested or 0) / top), slot, INTERESTED)
        if has_numbers:
            _write_number(sheet, write_count(bar.passing_by), (x + slot / 2, floor - height - 3), figure)
        if bar.missing:
            _draw_strip(sheet, x, floor, slot, bar.missing)
    sheet.document.draw_line((LEFT + GUTTER, floor), (RIGHT, floor), AXIS)
    _draw_labels(sheet, chart, floor, figure)
    sheet.y = floor + STRIP + 26


def _fill_bar(sheet: Sheet, box: tuple[float, float, float, float], slot: float, colour: Colour) -> None:
    """`box`: where its slot begins, its foot, its width and height."""
    left, floor, width, height = box
    if height:
        sheet.document.fill_area((left + (slot - width) / 2, floor - height, width, height), colour)


def _write_number(sheet: Sheet, number: str, at: tuple[float, float], figure: Element) -> None:
    """Above its bar; no line of the axis crosses it."""
    width = measure(number, NUMBER.size) + 2
    sheet.document.fill_area((at[0] - width / 2, at[1] - NUMBER.size + 1, width, NUMBER.size), "#ffffff")
    sheet.write_centred(number, *at, NUMBER, figure)


def _draw_strip(sheet: Sheet, x: float, floor: float, slot: float, missing: float) -> None:
    width = max(slot - 2, 0.5)
    sheet.document.fill_area((x + 1, floor + 2, width, STRIP), "#eef1f6")
    sheet.document.fill_area((x + 1 + width * (1 - missing), floor + 2, width * missing, STRIP), HATCH)


def _draw_axis(sheet: Sheet, highest: int, figure: Element) -> float:
    """Returns the number at its upper end."""
    step = find_step(highest)
    count = max(math.ceil(highest * HEADROOM / step), 1)
    for number in range(count + 1):
        y = sheet.y + PLOT * (1 - number / count)
        if number:
            sheet.document.draw_line((LEFT + GUTTER, y), (RIGHT, y), RULE)
        look = Text(size=LABEL.size, colour=MUTED, is_right=True)
        sheet.write(write_count(number * step), LEFT + GUTTER - 6, y + 2.6, look, figure)
    return float(step * count)


def find_step(highest: int) -> int:
    """Between the lines of an axis that has about four: 1, 2 or 5 with zeros, or 25 with them."""
    least = max(highest / 4, 1)
    power = 10 ** math.floor(math.log10(least))
    return next(int(step * power) for step in STEPS if step * power >= least and float(step * power).is_integer())


def _draw_labels(sheet: Sheet, chart: BarChart, floor: float, figure: Element) -> None:
    """Below the bars: of as many as there is room for, at even distances."""
    slot = (INNER - GUTTER) / max(len(chart.bars), 1)
    widest = max((measure(tidy(bar.label), LABEL.size) for bar in chart.bars), default=0.0)
    every = max(1, math.ceil((widest + 6) / slot))
    for number in range(0, len(chart.bars), every):
        label = tidy(chart.bars[number].label)
        half = measure(label, LABEL.size) / 2
        middle = LEFT + GUTTER + (number + 0.5) * slot
        x = min(max(middle, LEFT + half), RIGHT - half)
        sheet.write_centred(label, x, floor + STRIP + 13, LABEL, figure)


def _draw_legend(sheet: Sheet, chart: BarChart, figure: Element) -> None:
    x, y = LEFT, sheet.y + 7
    for name, colour in zip(chart.names, (PASSING_BY, INTERESTED), strict=False):
        sheet.document.fill_area((x, y - 6.5, 8, 8), colour)
        sheet.write(name, x + 12, y, LABEL, figure)
        x += 12 + measure(name, LABEL.size) + 18
    words = {1.0: _("Not watched"), 0.5: _("Partly not watched (width: share of the time)")}
    shares = {1.0 if bar.missing == 1 else 0.5 for bar in chart.bars if bar.missing}
    for kind in sorted(shares, reverse=True):
        if kind == 1:
            sheet.document.hatch_area((x, y - 6.5, 14, 8), HATCH)
        else:
            sheet.document.fill_area((x, y - 5, 14, STRIP), "#eef1f6")
            sheet.document.fill_area((x + 7, y - 5, 7, STRIP), HATCH)
        sheet.write(words[kind], x + 18, y, LABEL, figure)
        x += 18 + measure(words[kind], LABEL.size) + 18
    sheet.y += 10


def draw_breakdowns(sheet: Sheet, breakdowns: Sequence[Breakdown], seniors: str) -> None:
    """Two beside each other."""
    width = (INNER - 24) / 2
    for first in range(0, len(breakdowns), 2):
        pair = breakdowns[first : first + 2]
        rows = max(0 if one.trouble else len(one.parts) for one in pair)
        sheet.need(46 + max(rows, 1) * ROW + 12)
        top, lowest = sheet.y, sheet.y
        for place, breakdown in enumerate(pair):
            sheet.y = top
            _draw_breakdown(sheet, breakdown, (LEFT + place * (width + 24), width), seniors)
            lowest = max(lowest, sheet.y)
        sheet.y = lowest + 14


def _draw_breakdown(sheet: Sheet, breakdown: Breakdown, place: tuple[float, float], seniors: str) -> None:
    left, width = place
    document = sheet.document
    sheet.y += 12
    sheet.write(breakdown.heading, left, sheet.y, Text(size=10.5, bold=True), document.add_element("H2"))
    whose = breakdown.trouble or breakdown.whose
    if breakdown.metric == "category" and not breakdown.trouble:
        whose = _("%(people)s; seniors from %(age)s") % {"people": whose, "age": seniors}
    note = document.add_element("P")
    sheet.y += 2
    for line in wrap(tidy(whose), width, LABEL.size):
        sheet.y += LABEL.line_height
        sheet.write(line, left, sheet.y - 2, LABEL, note)
    if breakdown.trouble:
        return
    table = document.add_element("Table")
    highest = max((part.count or 0 for part in breakdown.parts), default=0) or 1
    sheet.y += 4
    for part in sorted(breakdown.parts, key=lambda one: one.key == "?"):
        row = document.add_element("TR", table)
        sheet.y += ROW
        y, count = sheet.y - 4, part.count or 0
        name = shorten(tidy(capfirst(part.name)), 70, 8)
        sheet.write(name, left, y, Text(size=8), document.add_element("TH", row, heads="Row"))
        document.fill_area(
            (left + 74, sheet.y - ROW + 2.5, 44 * count / highest, ROW - 5), _PART_COLOURS.get(part.key, PASSING_BY)
        )
        cells = ((write_count(count), 144, True), (part.share, 176, False), (part.interval, width, False))
        for text, edge, is_bold in cells:
            look = Text(size=8, bold=is_bold, colour=INK if edge < width else MUTED, is_right=True)
            sheet.write(tidy(text), left + edge, y, look, document.add_element("TD", row))


def draw_week(sheet: Sheet, week: WeekTable) -> None:
    """A number in each hour that was watched, on a colour that is darker the larger it is."""
    cell, height, beside = (INNER - 34) / 24, 14.0, 34.0
    sheet.need(7 * height + 70)
    sheet.add_heading(_("Hours of the week"), keep=7 * height + 40)
    sheet.add_paragraph(_("People passing by per watched hour, on average."), LABEL)
    table = sheet.document.add_element("Table")
    most = max((mean for day in week.means for mean in day if mean is not None), default=0.0)
    head = sheet.document.add_element("TR", table)
    sheet.document.add_element("TD", head)
    for hour in range(24):
        element = sheet.document.add_element("TH", head, heads="Column")
        sheet.write_centred(
            str(hour), LEFT + beside + (hour + 0.5) * cell, sheet.y + 8, Text(6.5, colour=MUTED), element
        )
    sheet.y += 12
    for day, (name, means) in enumerate(zip(week.days, week.means, strict=True)):
        row = sheet.document.add_element("TR", table)
        sheet.write(name, LEFT, sheet.y + 9.5, Text(size=8), sheet.document.add_element("TH", row, heads="Row"))
        for hour, mean in enumerate(means):
            box = (LEFT + beside + hour * cell, sheet.y, cell - 0.8, height - 0.8)
            if mean is None and (day, hour) in week.asked:
                sheet.document.hatch_area(box, HATCH)
            _draw_hour(sheet, box, (mean, most, week.write(mean)), sheet.document.add_element("TD", row))
        sheet.y += height
    sheet.y += 12


def _draw_hour(
    sheet: Sheet, box: tuple[float, float, float, float], of: tuple[float | None, float, str], element: Element
) -> None:
    """`of`: the hour's mean, the highest of the week, and the mean in words."""
    mean, most, words = of
    if mean is None:
        return
    step = math.ceil((len(HEAT) - 1) * (mean / most)) if most else 0
    sheet.document.fill_area(box, HEAT[step])
    look = Text(size=6, colour="#ffffff" if step >= LIGHT_INK_FROM else INK)
    sheet.write_centred(words, box[0] + box[2] / 2, box[1] + 9, look, element)
