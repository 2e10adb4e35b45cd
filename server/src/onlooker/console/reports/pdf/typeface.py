"""The letters of a PDF report: which font has them, and how wide they are. Pure.

`server/style/pdf_typeface.py` makes the fonts and their metrics.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import msgspec

FOLDER = Path(__file__).parent / "typeface"
EM = 1000
LACKING = "\N{REPLACEMENT CHARACTER}"
"""Stands for a letter that no font has."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}


class Glyph(NamedTuple):
    """As a font numbers it."""

    number: int
    width: int
    """In thousandths of the size."""


class Font(msgspec.Struct, frozen=True, gc=False):
    """A part of Inter, such as its Greek letters, in one weight."""

    file: str
    ascent: int
    descent: int
    cap_height: int
    box: tuple[int, int, int, int]
    glyphs: dict[int, Glyph]
    """By the code of the character."""

    def read(self) -> bytes:
        return (FOLDER / self.file).read_bytes()


@dataclass(frozen=True)
class Run:
    """Letters that one font has."""

    font: Font
    text: str
    """As it was written."""
    shown: str
    """What stands for it: the same, or marks for letters that are lacking."""

    @property
    def width(self) -> int:
        return sum(self.font.glyphs[ord(letter)].width for letter in self.shown)


@cache
def load_fonts() -> dict[str, tuple[Font, ...]]:
    """By style; the first that has a letter draws it."""
    text = (FOLDER / "metrics.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, tuple[Font, ...]], strict=False)


def tidy(text: str) -> str:
    """One line, without characters that can't be seen."""
    composed = unicodedata.normalize("NFC", text)
    seen = "".join(" " if letter in "\t\r\n" else letter for letter in composed)
    return "".join(letter for letter in seen if unicodedata.category(letter) not in _INVISIBLE)


def split_runs(text: str, *, bold: bool = False) -> list[Run]:
    """Of text that is tidy already."""
    fonts = load_fonts()["bold" if bold else "regular"]
    found = [(letter, *_find_font(letter, fonts)) for letter in text]
    groups = groupby(found, key=lambda one: (one[1].file, one[0] != one[2]))
    return [_make_run(list(group)) for _key, group in groups]


def _make_run(found: list[tuple[str, Font, str]]) -> Run:
    return Run(found[0][1], "".join(one[0] for one in found), "".join(one[2] for one in found))


def _find_font(letter: str, fonts: tuple[Font, ...]) -> tuple[Font, str]:
    for font in fonts:
        if ord(letter) in font.glyphs:
            return font, letter
    return fonts[0], " " if letter.isspace() else LACKING


def has_all(text: str) -> bool:
    """Whether there is a letter for each of its characters."""
    return all(LACKING not in run.shown for run in split_runs(tidy(text)))


def measure(text: str, size: float, *, bold: bool = False) -> float:
    return sum(run.width for run in split_runs(text, bold=bold)) * size / EM


def shorten(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """With an ellipsis, where it is wider."""
    if measure(text, size, bold=bold) <= width:
        return text
    while text and measure(text + ELLIPSIS, size, bold=bold) > width:
        text = text[:-1].rstrip()
    return text + ELLIPSIS


def wrap(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Lines that are no wider. A word that alone is wider is cut."""
    lines, line = [], ""
    for word in _cut_words(text, width, size, bold=bold):
        longer = f"{line} {word}".strip()
        if line and measure(longer, size, bold=bold) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines


def _cut_words(text: str, width: float, size: float, *, bold: bool) -> Iterator[str]:
    for word in text.split(" "):
        rest = word
        while measure(rest, size, bold=bold) > width and len(rest) > 1:
            fits = next(n for n in range(len(rest) - 1, 0, -1) if n == 1 or measure(rest[:n], size, bold=bold) <= width)
            yield rest[:fits]
            rest = rest[fits:]
        if rest:
            yield rest
