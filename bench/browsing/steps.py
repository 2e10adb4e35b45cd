"""The steps of a journey, one after the other; the first that fails ends it and says why."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.browsing.browser import Browser
from bench.browsing.failure import Failure, keep_failure

Step = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Travelled:
    """How far a journey came."""

    taken: list[str]
    """Names of the steps that were taken to their end."""
    failure: Failure | None


def travel(steps: Sequence[Step], *, browsers: Mapping[str, Browser], folder: Path) -> Travelled:
    """Pictures of a failure go into the folder. A journey that is told to stop has failed too."""
    taken: list[str] = []
    for name, step in steps:
        started = time.monotonic()
        try:
            step()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the edge of this process: told at its end)
            return Travelled(taken, keep_failure(name, error, browsers=browsers, folder=folder))
        taken.append(name)
        print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return Travelled(taken, None)
