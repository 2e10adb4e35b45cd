"""What documents consist of: sections of items, each a sentence or a blank to fill in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperItem:
    """A sentence or a fact. Without a text it is a blank, and the remark says what belongs there."""

    text: str = ""
    label: str = ""
    remark: str = ""


@dataclass(frozen=True)
class PaperTable:
    """Rows of cells below a head; an empty cell is a blank."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PaperSection:
    """A heading with what belongs to it."""

    title: str
    items: tuple[PaperItem, ...] = ()
    tables: tuple[PaperTable, ...] = ()
    is_list: bool = False


@dataclass(frozen=True)
class Paper:
    """A document of one language."""

    title: str
    lead: str
    sections: tuple[PaperSection, ...]
    closing: str = ""

    @property
    def characters(self) -> int:
        """How much there is to read."""
        items = [item for section in self.sections for item in section.items]
        return len(self.title + self.lead + self.closing) + sum(len(item.label + item.text) for item in items)

    @property
    def blanks(self) -> tuple[str, ...]:
        """What its blanks ask for, in order."""
        return tuple(item.remark for section in self.sections for item in section.items if not item.text)


def sentences(*texts: str) -> tuple[PaperItem, ...]:
    return tuple(PaperItem(text) for text in texts)
