"""What a service's `compute` function gets, and how it says that it failed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Memory:
    """What one worker keeps of a session beside its state: in memory only, never written, gone with the worker."""

    kept: Any = None
    size_bytes: int = 0

    def keep(self, what: Any, *, size_bytes: int) -> None:
        self.kept, self.size_bytes = what, size_bytes

    def clear(self) -> None:
        self.kept, self.size_bytes = None, 0


@dataclass(frozen=True)
class Call:
    """One job as a service sees it."""

    params: dict[str, Any]
    attachments: dict[str, bytes]
    in_session: bool
    memory: Memory = field(default_factory=Memory)


Compute = Callable[[Call, Any], tuple[dict[str, Any], Any]]
"""Takes a call and the session's state (None at first); returns a result and the next state."""


class ComputeError(Exception):
    """A computation that can't be done with this input; a sentence for the client and a stable code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
