"""A PDF file of pages with real text, lines and areas, tagged for screen readers. Knows nothing of reports. Pure.

Lengths are points (1/72 inch) from the upper left corner. The same calls make the same bytes.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pydyf

from onlooker.console.reports.pdf.typeface import Font, Run, split_runs

WIDTH, HEIGHT = 595.28, 841.89
"""A4."""
_NAME_PREFIX = "AAAAAA+"
"""PDF's sign that a font lacks some of its letters."""
_ENCODED_AT_ONCE = 100
"""PDF's limit for a part of the table from glyphs to characters."""

Colour = str
"""`#0070b0`."""


class Element:
    """A node of the structure that screen readers follow: a heading, a table, a cell."""

    def __init__(self, kind: str, parent: "Element | None", said: str = "", heads: str = "") -> None:
        self.node = pydyf.Dictionary({"Type": "/StructElem", "S": f"/{kind}", "K": pydyf.Array()})
        if said:
            self.node["Alt"] = pydyf.String(said)
        if heads:
            self.node["A"] = pydyf.Dictionary({"O": "/Table", "Scope": f"/{heads}"})
        self.parent = parent


@dataclass
class _Page:
    node: pydyf.Dictionary
    drawing: pydyf.Stream
    marked: list[Element] = field(default_factory=list)
    """What each marked part of the drawing belongs to."""


class PdfDocument:
    """Pages are drawn one after the other; earlier ones can still be added to."""

    def __init__(self, *, title: str, language: str) -> None:
        self._pdf = pydyf.PDF()
        self._pages: list[_Page] = []
        self._fonts: dict[str, tuple[Font, set[str]]] = {}
        self._elements: list[Element] = []
        self._names = pydyf.Dictionary()
        self._title, self._language = title, language
        self.root = self.add_element("Document")

    @property
    def page_count(self) -> int:
        return len(self._pages)

    def add_element(self, kind: str, parent: Element | None = None, *, said: str = "", heads: str = "") -> Element:
        """`said`: in words, for what is a drawing. `heads`: `Row` or `Column`, of a table's heading."""
        element = Element(kind, parent or (self.root if self._elements else None), said, heads)
        self._pdf.add_object(element.node)
        self._elements.append(element)
        return element

    def add_page(self) -> None:
        drawing = pydyf.Stream(compress=True)
        self._pdf.add_object(drawing)
        box = pydyf.Array([0, 0, WIDTH, HEIGHT])
        resources = pydyf.Dictionary({"Font": self._names})
        node = pydyf.Dictionary({"Type": "/Page", "Parent": self._pdf.pages.reference, "MediaBox": box, "Tabs": "/S"})
        node |= {"Contents": drawing.reference, "Resources": resources, "StructParents": len(self._pages)}
        self._pdf.add_page(node)
        self._pages.append(_Page(node, drawing))

    @contextmanager
    def _marked(self, page: _Page, element: Element | None) -> Iterator[None]:
        """Belongs to an element, or is decoration."""
        if element is None:
            page.drawing.begin_marked_content("Artifact")
        else:
            number = len(page.marked)
            page.marked.append(element)
            kind = element.node["S"].removeprefix("/")
            page.drawing.begin_marked_content(kind, pydyf.Dictionary({"MCID": number}))
            element.node["K"].append(pydyf.Dictionary({"Type": "/MCR", "Pg": page.node.reference, "MCID": number}))
        yield
        page.drawing.end_marked_content()

    def write_text(
        self,
        text: str,
        at: tuple[float, float],
        *,
        size: float,
        bold: bool = False,
        colour: Colour = "#000000",
        element: Element | None = None,
        page: int = -1,
    ) -> None:
        """`at`: where its base line begins. Text must be tidy."""
        on = self._pages[page]
        with self._marked(on, element):
            drawing = on.drawing
            drawing.set_color_rgb(*_as_rgb(colour))
            drawing.begin_text()
            drawing.move_text_to(at[0], HEIGHT - at[1])
            for run in split_runs(text, bold=bold):
                self._show(run, size, drawing)
            drawing.end_text()

    def _show(self, run: Run, size: float, drawing: pydyf.Stream) -> None:
        known = self._fonts.setdefault(run.font.file, (run.font, set()))
        known[1].update(run.shown)
        name = f"F{list(self._fonts).index(run.font.file)}"
        drawing.set_font_size(name, size)
        glyphs = "".join(f"{run.font.glyphs[ord(letter)].number:04x}" for letter in run.shown)
        if run.text == run.shown:
            drawing.show_text(f"<{glyphs}>")
            return
        original = pydyf.Dictionary({"ActualText": pydyf.String(run.text)})
        drawing.begin_marked_content("Span", original)
        drawing.show_text(f"<{glyphs}>")
        drawing.end_marked_content()

    def fill_area(
        self, box: tuple[float, float, float, float], colour: Colour, *, element: Element | None = None, page: int = -1
    ) -> None:
        """`box`: left, top, width, height."""
        on = self._pages[page]
        with self._marked(on, element):
            on.drawing.set_color_rgb(*_as_rgb(colour))
            _outline(on.drawing, box)
            on.drawing.fill()

    def hatch_area(self, box: tuple[float, float, float, float], colour: Colour, *, every: float = 4.0) -> None:
        """With slanted lines, as charts mark a time that was not watched."""
        on = self._pages[-1]
        left, top, width, height = box
        with self._marked(on, None):
            on.drawing.push_state()
            _outline(on.drawing, box)
            on.drawing.clip()
            on.drawing.end()
            on.drawing.set_color_rgb(*_as_rgb(colour), stroke=True)
            on.drawing.set_line_width(0.7)
            bottom, start = HEIGHT - top - height, (left - height) // every * every
            for number in range(int((width + height) / every) + 3):
                x = start + number * every
                on.drawing.move_to(x, bottom)
                on.drawing.line_to(x + height, bottom + height)
            on.drawing.stroke()
            on.drawing.pop_state()

    def draw_line(self, begins: tuple[float, float], ends: tuple[float, float], colour: Colour) -> None:
        on = self._pages[-1]
        with self._marked(on, None):
            on.drawing.set_color_rgb(*_as_rgb(colour), stroke=True)
            on.drawing.set_line_width(0.6)
            on.drawing.move_to(begins[0], HEIGHT - begins[1])
            on.drawing.line_to(ends[0], HEIGHT - ends[1])
            on.drawing.stroke()

    def finish(self) -> bytes:
        """The file. Nothing can be added afterwards."""
        for number, (font, letters) in enumerate(self._fonts.values()):
            self._names[f"F{number}"] = _embed_font(self._pdf, font, sorted(letters)).reference
        self._link_structure()
        catalog = self._pdf.catalog
        catalog["Lang"] = pydyf.String(self._language)
        catalog["MarkInfo"] = pydyf.Dictionary({"Marked": "true"})
        catalog["ViewerPreferences"] = pydyf.Dictionary({"DisplayDocTitle": "true"})
        self._pdf.info["Title"] = pydyf.String(self._title)
        self._pdf.info["Creator"] = pydyf.String("Onlooker")
        file = io.BytesIO()
        self._pdf.write(file, version=b"1.7", identifier=True, compress=True)
        return file.getvalue()

    def _link_structure(self) -> None:
        tree = pydyf.Dictionary({"Type": "/StructTreeRoot", "K": self.root.node.reference})
        self._pdf.add_object(tree)
        self.root.node["P"] = tree.reference
        for element in self._elements[1:]:
            assert element.parent
            element.node["P"] = element.parent.node.reference
            element.parent.node["K"].append(element.node.reference)
        places = pydyf.Array()
        for number, page in enumerate(self._pages):
            owners = pydyf.Array([element.node.reference for element in page.marked])
            places.extend([number, owners])
        tree["ParentTree"] = pydyf.Dictionary({"Nums": places})
        self._pdf.catalog["StructTreeRoot"] = tree.reference


def _outline(drawing: pydyf.Stream, box: tuple[float, float, float, float]) -> None:
    left, top, width, height = box
    drawing.rectangle(left, HEIGHT - top - height, width, height)


def _as_rgb(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = (round(int(colour[place : place + 2], 16) / 255, 4) for place in (1, 3, 5))
    return red, green, blue


def _embed_font(pdf: pydyf.PDF, font: Font, letters: Sequence[str]) -> pydyf.Dictionary:
    name = f"/{_NAME_PREFIX}{font.file.removesuffix('.ttf').title()}"
    data = font.read()
    file = pydyf.Stream([data], {"Length1": len(data)}, compress=True)
    box, glyphs = pydyf.Array(font.box), sorted({font.glyphs[ord(letter)] for letter in letters})
    sizes = {"Ascent": font.ascent, "Descent": font.descent, "CapHeight": font.cap_height}
    descriptor = pydyf.Dictionary(
        {"Type": "/FontDescriptor", "FontName": name, "Flags": 4, "FontBBox": box, "ItalicAngle": 0, "StemV": 80}
        | sizes
    )
    system = pydyf.Dictionary({"Registry": "(Adobe)", "Ordering": "(Identity)", "Supplement": 0})
    widths = pydyf.Array([part for glyph in glyphs for part in (glyph.number, pydyf.Array([glyph.width]))])
    described = pydyf.Dictionary({"Type": "/Font", "Subtype": "/CIDFontType2", "BaseFont": name, "W": widths})
    described |= {"CIDSystemInfo": system, "CIDToGIDMap": "/Identity"}
    mapping = pydyf.Stream([_map_to_characters(font, letters)], compress=True)
    whole = pydyf.Dictionary({"Type": "/Font", "Subtype": "/Type0", "BaseFont": name, "Encoding": "/Identity-H"})
    for part in (file, descriptor, described, mapping, whole):
        pdf.add_object(part)
    descriptor["FontFile2"] = file.reference
    described["FontDescriptor"] = descriptor.reference
    whole["DescendantFonts"] = pydyf.Array([described.reference])
    whole["ToUnicode"] = mapping.reference
    return whole


def _map_to_characters(font: Font, letters: Sequence[str]) -> str:
    """Which character a glyph is, so that text can be searched and copied."""
    codes = {font.glyphs[ord(letter)].number: letter.encode("utf-16-be").hex() for letter in letters}
    lines = [f"<{number:04x}> <{code}>" for number, code in sorted(codes.items())]
    parts = [lines[first : first + _ENCODED_AT_ONCE] for first in range(0, len(lines), _ENCODED_AT_ONCE)]
    mapped = "\n".join("\n".join((f"{len(part)} beginbfchar", *part, "endbfchar")) for part in parts)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{mapped}\n"
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )
