"""Tables of a PDF: rows of cells whose words wrap, with a heading that screen readers know. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from onlooker.console.reports.pdf.document import Element
from onlooker.console.reports.pdf.sheet import LEFT, MUTED, NORMAL, RIGHT, RULE, Sheet, Text
from onlooker.console.reports.pdf.typeface import tidy, wrap

GAP = 10.0
"""Between columns."""
PADDING = 3.5
"""Above and below a row's words."""


@dataclass(frozen=True)
class PdfColumn:
    """Where it stands, from the left margin."""

    heading: str
    at: float
    width: float
    look: Text = NORMAL


class PdfTable:
    """Row by row; each has a rule below it."""

    def __init__(self, sheet: Sheet, columns: Sequence[PdfColumn]) -> None:
        self._sheet, self._columns = sheet, columns
        self.element = sheet.document.add_element("Table")
        heads = [Text(8, bold=True, colour=MUTED, is_right=column.look.is_right) for column in columns]
        self._add([[column.heading] for column in columns], [[head] for head in heads], is_head=True)

    def add_row(self, cells: Sequence[Sequence[tuple[str, Text]]]) -> None:
        """Each cell has paragraphs; the first cell heads its row."""
        self._add(
            [[text for text, _look in cell] for cell in cells], [[look for _text, look in cell] for cell in cells]
        )

    def _add(self, texts: Sequence[Sequence[str]], looks: Sequence[Sequence[Text]], *, is_head: bool = False) -> None:
        sheet = self._sheet
        cells = [
            [(line, look) for text, look in zip(*cell, strict=True) for line in self._wrap(text, look, column)]
            for cell, column in zip(zip(texts, looks, strict=True), self._columns, strict=True)
        ]
        height = max((sum(look.line_height for _line, look in cell) for cell in cells), default=0.0) + 2 * PADDING
        sheet.need(height)
        row = sheet.document.add_element("TR", self.element)
        base = sheet.y + PADDING + max((cell[0][1].size for cell in cells if cell), default=0.0)
        for number, (cell, column) in enumerate(zip(cells, self._columns, strict=True)):
            heads = "Column" if is_head else "" if number else "Row"
            element = sheet.document.add_element("TH" if heads else "TD", row, heads=heads)
            self._write_cell(cell, column, base, element)
        sheet.y += height
        sheet.document.draw_line((LEFT, sheet.y), (RIGHT, sheet.y), RULE)

    def _wrap(self, text: str, look: Text, column: PdfColumn) -> list[str]:
        return wrap(tidy(text), column.width, look.size, bold=look.bold)

    def _write_cell(self, cell: Sequence[tuple[str, Text]], column: PdfColumn, base: float, element: Element) -> None:
        """`base`: the line on which the first words of the row stand, whatever their size."""
        x = LEFT + column.at + (column.width if column.look.is_right else 0.0)
        for number, (line, look) in enumerate(cell):
            base += look.line_height if number else 0.0
            self._sheet.write(line, x, base, look, element)
