"""A row of the table of historic programs: its name, and the checks that play it."""

import json
import os
import subprocess
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT, say
from testkit import Stack, TestStream


@dataclass(frozen=True)
class Installation:
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


Check = Callable[[Installation], None]
Outcome = dict[str, bool]


@dataclass(frozen=True)
class Row:
    """One historic program, by its name in docs/guides/historic.md."""

    program: str
    play: Callable[[Installation], Outcome]


def played_here(checks: Sequence[Check]) -> Callable[[Installation], Outcome]:
    """Checks of this process, all of them, whatever becomes of one."""

    def play(place: Installation) -> Outcome:
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


PYTHON = ROOT / ".conformance-venv" / "bin" / "python"
TIME_LIMIT_S = 240
NO_PROXY = {"NO_PROXY": "localhost,127.0.0.1"}
FOREIGN_TRUST = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""`requests` prefers these to the authority that a session was told to trust."""


def played_on_the_sdk(module: str, *arguments: str, silent: bool = False) -> Callable[[Installation], Outcome]:
    """A module of this folder in the SDK's environment; `silent` takes the stream that reads nothing of people."""

    def play(place: Installation) -> Outcome:
        stream = place.silent_stream if silent else place.stream
        command = [str(PYTHON), "-m", f"bench.conformance.{module}", *arguments]
        finished = subprocess.run(
            [*command, place.stack.url, *stream.auth, place.stack.ca_file, str(place.films)],
            env={name: value for name, value in os.environ.items() if name not in FOREIGN_TRUST} | NO_PROXY,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        if finished.returncode:
            return {"comes to its end": False}
        return dict(json.loads(finished.stdout))

    return play
