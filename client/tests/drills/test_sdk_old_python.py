"""The client against the product on the oldest Python that it promises, without NumPy or any other package.

Its own tests run there with `just test-pythons`; that the wheel installs alone, `just install-release` shows.
"""

import subprocess
from pathlib import Path

import pytest
from testkit import Stack, TestStream
from testkit.interpreters import find_interpreter

VERSION = "3.9"
SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import os, sys
from onlooker_client import Client
with Client() as client:
    with client.service("dummy").session() as session:
        print(session.process(echo="hello")["echo"], session.submit(echo="later").wait()["echo"])
    blob = client.create_blob(b"bytes")
    print(blob.read().decode(), client.stream()["state"])
    print(len(client.metrics(["passing_by"], "2026-03-01", "2026-03-05").buckets))
print("%d.%d" % sys.version_info[:2], "numpy" in sys.modules)
"""


def test_the_oldest_python_needs_nothing_else(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    python = find_interpreter(VERSION)
    if python is None:
        pytest.skip(f"there is no python{VERSION} here")
    variables = {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(SOURCE),
        "PYTHONPYCACHEPREFIX": str(tmp_path),
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_USERNAME": "owner@example.org",
    }

    def run(*words: str) -> str:
        command = [str(python), "-S", *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = run("-W", "error", "-c", PROGRAM)
    assert said.split() == ["hello", "later", "bytes", "ready", "96", VERSION, "False"]
    run("-m", "compileall", "-q", str(SOURCE))
    for program in ("client", "agent"):
        assert "usage" in run("-c", f"from onlooker_client.command.{program} import main; main()", "--help")
