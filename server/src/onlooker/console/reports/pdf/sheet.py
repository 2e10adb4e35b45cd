"""What flows over the pages of a PDF: headings, paragraphs and rows, with a new page where one is full. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from onlooker.console.reports.pdf.document import HEIGHT, WIDTH, Colour, Element, PdfDocument
from onlooker.console.reports.pdf.typeface import measure, shorten, tidy, wrap

LEFT, TOP = 48.0, 52.0
RIGHT, BOTTOM = WIDTH - LEFT, HEIGHT - 62.0
INNER = RIGHT - LEFT
PAGES_AT_MOST = 12
"""No report needs as many; whatever comes in, the file ends."""

INK, MUTED, RULE = "#1d2430", "#4a5160", "#d5dae3"
LEADING = 1.4
"""From line to line, in sizes."""


@dataclass(frozen=True)
class Text:
    """How a paragraph or a cell is set."""

    size: float = 9.5
    bold: bool = False
    colour: Colour = INK
    is_right: bool = False
    """Whether it ends at the right edge, as numbers of a column do."""

    @property
    def line_height(self) -> float:
        return self.size * LEADING


NORMAL, SMALL = Text(), Text(size=8, colour=MUTED)


class Sheet:
    """A document with the place where the next thing goes."""

    def __init__(self, document: PdfDocument) -> None:
        self.document = document
        self.y = BOTTOM
        self.need(1)

    def need(self, height: float) -> None:
        """A new page where the rest of this one has less room."""
        if (self.y + height > BOTTOM and self.y > TOP) and self.document.page_count < PAGES_AT_MOST:
            self.document.add_page()
            self.y = TOP

    def add_heading(self, text: str, *, level: int = 2, keep: float = 60.0) -> None:
        """`keep`: how much of what follows stays on its page."""
        look = Text(size={1: 20.0, 2: 12.0, 3: 10.0}[level], bold=True)
        lines = wrap(tidy(text), INNER, look.size, bold=True)
        self.need(len(lines) * look.size * 1.25 + keep)
        element = self.document.add_element(f"H{level}")
        for line in lines:
            self.y += look.size * 1.25
            self.write(line, LEFT, self.y - look.size * 0.25, look, element)
        self.y += look.size * 0.4

    def add_paragraph(self, text: str, look: Text = NORMAL, *, after: float = 4.0) -> None:
        element = self.document.add_element("P")
        for line in wrap(tidy(text), INNER, look.size, bold=look.bold):
            self.need(look.line_height)
            self.y += look.line_height
            self.write(line, LEFT, self.y - look.size * 0.3, look, element)
        self.y += after

    def write(
        self, text: str, x: float, y: float, look: Text, element: Element | None = None, *, page: int = -1
    ) -> None:
        """`x`: its left edge, or its right one."""
        left = x - measure(text, look.size, bold=look.bold) if look.is_right else x
        kept = {"size": look.size, "bold": look.bold, "colour": look.colour}
        self.document.write_text(text, (left, y), element=element, page=page, **kept)  # type: ignore[arg-type]

    def write_centred(self, text: str, x: float, y: float, look: Text, element: Element | None) -> None:
        self.write(text, x - measure(text, look.size, bold=look.bold) / 2, y, look, element)

    def write_footers(self, left: str, numbers: Sequence[str]) -> None:
        """On pages that are drawn already; screen readers leave them out."""
        for page, number in enumerate(numbers):
            y = HEIGHT - 34.0
            width = INNER - measure(number, SMALL.size) - 20
            self.write(shorten(tidy(left), width, SMALL.size), LEFT, y, SMALL, page=page)
            self.write(number, RIGHT, y, Text(size=SMALL.size, colour=MUTED, is_right=True), page=page)
