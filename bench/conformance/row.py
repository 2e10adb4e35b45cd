"""A row of the table of historic programs: its name, and the checks that play it."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.product import say
from onlooker.testing import Stack, TestStream


@dataclass(frozen=True)
class Place:
    """The running product, and what is sent to it."""

    stack: Stack
    stream: TestStream
    """Reads everything."""
    silent_stream: TestStream
    """Reads neither age nor gender nor expression."""
    films: Path

    @property
    def picture(self) -> bytes:
        """In which one face is seen well."""
        return sorted((self.films / "passing").iterdir())[45].read_bytes()


Check = Callable[[Place], None]
Outcome = dict[str, bool]


@dataclass(frozen=True)
class Row:
    """One historic program, by its name in docs/guides/historic.md."""

    program: str
    play: Callable[[Place], Outcome]


def played_here(checks: Sequence[Check]) -> Callable[[Place], Outcome]:
    """Checks of this process, all of them, whatever becomes of one."""

    def play(place: Place) -> Outcome:
        passed: Outcome = {}
        for check in checks:
            try:
                check(place)
            except Exception:  # noqa: BLE001  a program may fail in any way, and the other checks go on
                traceback.print_exc(limit=-4, chain=False)
                passed[check.__name__] = False
            else:
                passed[check.__name__] = True
            say(f"  {check.__name__}: {'passed' if passed[check.__name__] else 'FAILED'}")
        return passed

    return play
