"""What `manage` prints: a table or facts for people, a JSON object a line for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from onlooker_client.terminal import Terminal

LONGEST_CELL = 40
ONCE = "Copy it now. It is not shown again."


@dataclass(frozen=True)
class Output:
    """One of the two; errors go elsewhere."""

    terminal: Terminal
    is_json: bool

    def rows(self, records: Iterable[Any], columns: Sequence[str]) -> None:
        """`columns` are fields; a record has more than a table shows."""
        if self.is_json:
            for record in records:
                self._json(record)
            return
        cells = [[cut(cell_text(getattr(record, column)), column) for column in columns] for record in records]
        if not cells:
            self.terminal.say("None.")
            return
        heads = [column.replace("_", " ") for column in columns]
        widths = [max(map(len, column)) for column in zip(heads, *cells)]
        self.terminal.say(self.terminal.paint(_line(heads, widths), "bold"))
        for row in cells:
            self.terminal.say(_line(row, widths))

    def record(self, record: Any) -> None:
        """One thing, all of it."""
        if self.is_json:
            self._json(record)
            return
        said = asdict(record)
        width = max(map(len, said))
        for name, value in said.items():
            label = self.terminal.paint(name.replace("_", " ").ljust(width), "grey")
            self.terminal.say(f"{label}  {cell_text(value)}")

    def objects(self, objects: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """What the server says without a fixed form; columns that no object has are left out."""
        said = list(objects)
        if self.is_json:
            for one in said:
                self.terminal.say(json.dumps(one))
            return
        shown = [column for column in columns if any(column in one for one in said)]
        self.rows([_Row(one) for one in said], shown)

    def created(self, record: Any, text: str, secrets: Mapping[str, str], *, once: str = ONCE) -> None:
        """What is new, with what is shown once."""
        if self.is_json:
            self._json(record)
            return
        self.terminal.good(printable(text))
        width = max(map(len, secrets))
        for name, secret in secrets.items():
            self.terminal.say(f"    {self.terminal.paint(name.ljust(width), 'grey')}  {printable(secret)}")
        if once:
            self.terminal.say(f"    {once}")

    def done(self, record: Any, text: str) -> None:
        """What was changed; None: it is gone."""
        if not self.is_json:
            self.terminal.good(printable(text))
        elif record is not None:
            self._json(record)

    def _json(self, record: Any) -> None:
        self.terminal.say(json.dumps(asdict(record), default=_json_value))


class _Row:
    """An object whose keys are read as fields."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said

    def __getattr__(self, name: str) -> Any:
        return self._said.get(name)


def cell_text(value: Any) -> str:
    """As people read it, without anything that a terminal would obey."""
    if value is None or value in ("", (), [], {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.1f}"
    return ", ".join(_parts(value)) if isinstance(value, (Mapping, list, tuple)) else printable(str(value))


def _parts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{printable(str(name))}={cell_text(part)}" for name, part in value.items()]
    return [cell_text(part) for part in value]


def cut(text: str, column: str) -> str:
    """Ids, Logins and addresses stay whole: they are copied."""
    is_copied = column.endswith("id") or column in ("stream", "url")
    return text if is_copied or len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 3] + "..."


def printable(text: str) -> str:
    """Names come from other people: an escape sequence is shown, not obeyed."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def _json_value(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
