"""Numbers as options, within limits that are said."""

from __future__ import annotations

import argparse
from typing import Callable


def number(least: float, most: float) -> Callable[[str], float]:
    """A type of argparse: a number within limits."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"it must be between {least:g} and {most:g}")
        return value

    return read


def whole(least: int, most: int) -> Callable[[str], int]:
    """A type of argparse: a whole number within limits."""

    def read(text: str) -> int:
        value = number(least, most)(text)
        if value != int(value):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
        return int(value)

    return read
