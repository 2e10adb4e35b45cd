"""Runs programs that need the historic Python SDK in the SDK's own environment."""

import json
import os
import subprocess
from collections.abc import Callable

from bench.conformance.row import Outcome, Place
from bench.product import ROOT

PYTHON = ROOT / ".conformance-venv" / "bin" / "python"
TIME_LIMIT_S = 240
NO_PROXY = {"NO_PROXY": "localhost,127.0.0.1"}
FOREIGN_TRUST = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""`requests` prefers these to the authority that a session was told to trust."""


def played_on_the_sdk(script: str, *arguments: str, silent: bool = False) -> Callable[[Place], Outcome]:
    """A script of this folder; `silent` has it use the stream that reads nothing of people."""

    def play(place: Place) -> Outcome:
        stream = place.silent_stream if silent else place.stream
        command = [str(PYTHON), str(ROOT / "bench" / "conformance" / script), *arguments]
        finished = subprocess.run(
            [*command, place.stack.url, *stream.auth, place.stack.ca_file, str(place.films)],
            env={name: value for name, value in os.environ.items() if name not in FOREIGN_TRUST} | NO_PROXY,
            stdout=subprocess.PIPE,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        if finished.returncode:
            return {"comes to its end": False}
        return dict(json.loads(finished.stdout))

    return play
