"""Makes the installed historic client importable: its parameter `async` became a keyword in Python 3.7."""

import importlib.util
import io
import sys
import tokenize
from pathlib import Path

OLD, NEW = "async", "async_"


def rename_identifier(source: str) -> str:
    """The same source with each NAME token `async` spelled `async_`; strings and comments stay."""
    lines = source.splitlines(keepends=True)
    names = [
        token.start
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.NAME and token.string == OLD
    ]
    for row, column in reversed(names):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + NEW + line[column + len(OLD) :]
    return "".join(lines)


def rename_in(path: Path) -> None:
    """Put a new file in the old one's place: the old one may be a hard link into a package cache."""
    source = path.read_text(encoding="utf-8")
    renamed = rename_identifier(source)
    if renamed != source:
        beside = path.with_suffix(".renamed")
        beside.write_text(renamed, encoding="utf-8")
        beside.replace(path)


def main() -> None:
    found = importlib.util.find_spec("angus")
    if found is None or not found.submodule_search_locations:
        sys.exit("angus-sdk-python is not installed in this environment. Run: just conformance")
    for folder in found.submodule_search_locations:
        for path in Path(folder).rglob("*.py"):
            rename_in(path)


if __name__ == "__main__":
    main()
