"""Sentences for people in modules that do not load Django: English, which the console can say in other languages."""

from collections.abc import Mapping
from typing import Self


class Sentence(str):
    """A sentence with its values filled in, which remembers both: `Sentence("At most {most} tags.", most=8)`.

    It is the English sentence itself, so logs, the command line and the API use it as it is. `just translations`
    collects the first argument; `translate` of `console/languages/locale_text.py` says it in the reader's language.
    """

    template: str
    values: Mapping[str, object]

    __slots__ = ("template", "values")

    def __new__(cls, template: str, /, **values: object) -> Self:
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template = template
        made.values = values
        return made


def gettext_noop(text: str) -> str:
    """Marks a name or a sentence without values, as Django's function of this name does."""
    return text
