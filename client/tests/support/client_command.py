"""`onlooker-client` in the process of the test, which is quicker than one of its own."""

import io
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from onlooker_client.command.client import build_parser
from onlooker_client.command.program import run_command


def run_client(*words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """With these settings alone, and nobody who could be asked."""
    command = [str(word) for word in words]
    known = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")} | environment
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code = 0
    with (
        mock.patch.dict(os.environ, known, clear=True),
        mock.patch("sys.stdin", io.StringIO()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run_command(build_parser(), command)
        except SystemExit as ended:
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(command, code, *(text.buffer.getvalue().decode() for text in (out, err)))
