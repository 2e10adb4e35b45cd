"""What a live source reads from: a device, a connection or a pipe."""

from __future__ import annotations

from typing import Any, Protocol


class Feed(Protocol):
    """Used by one thread alone."""

    def open(self) -> None:
        """Raises SourceError where that can't be done."""

    def grab(self) -> bool:
        """Wait for the next picture; False after the last one. Raises SourceError when it broke."""

    def retrieve(self) -> Any | None:
        """The pixels of the picture that was grabbed; None where it is damaged."""

    def release(self) -> None:
        """Give back what `open` took, also where it failed."""
