"""The product as the commands here run it, and how they end."""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

from testkit import Launch, Stack, fresh_database, running_stack

ROOT = Path(__file__).parents[2]
EXTRA_SERVICES = ROOT / "tests" / "support"


@contextmanager
def running_product(launch: Launch | None = None, /, **settings: object) -> Iterator[Stack]:
    """`onlooker up` with services that only tests host, on a database of its own."""
    product = {"extra_services": "extra.measure"} | settings
    os.environ["PYTHONPATH"] = str(EXTRA_SERVICES)
    with fresh_database() as url, running_stack(url, launch or Launch(), **product) as stack:
        yield stack


def say(text: str) -> None:
    """Progress, for the person watching."""
    print(text, file=sys.stderr, flush=True)


def conclude(figures: dict[str, Any], *, verdict: bool = True) -> NoReturn:
    """Print the one JSON object that a command ends with; a run that is a verdict fails unless its `ok` is true."""
    print(json.dumps(figures), flush=True)
    sys.exit(0 if figures["ok"] is True or not verdict else 1)


def concluding(main: Callable[[], None]) -> Callable[[], None]:
    """A command that also ends with its JSON object, and the reason in it, when it breaks or is told to stop."""

    @wraps(main)
    def run() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stop)
        try:
            main()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the edge of this process)
            traceback.print_exc(file=sys.stderr)
            conclude({"ok": False, "reason": f"{type(error).__name__}: {error}"})

    return run


def _stop(number: int, _: object) -> NoReturn:
    """What was started is still stopped."""
    raise KeyboardInterrupt(f"told to stop by {signal.Signals(number).name}")
