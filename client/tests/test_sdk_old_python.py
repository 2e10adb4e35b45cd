"""The built wheel on every Python that it promises and this machine has, without NumPy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from testkit import Stack, TestStream
from testkit.interpreters import find_interpreter

CLIENT = Path(__file__).parents[1]
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


def install(python: Path, folder: Path) -> Path:
    """The wheel in an environment of its own; no index is asked, so it can have no dependencies."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CLIENT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    programs = folder / "venv" / "bin"
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, capture_output=True, timeout=120)
    installing = [programs / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-cache-dir", wheel]
    subprocess.run(installing, check=True, capture_output=True, timeout=120)
    return programs


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
def test_the_wheel_runs_on_other_pythons_without_numpy(
    version: str, product: Stack, stream: TestStream, tmp_path: Path
) -> None:
    python = find_interpreter(version)
    if python is None:
        pytest.skip(f"there is no python{version} here")
    programs = install(python, tmp_path)
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_USERNAME": "owner@example.org",
    }

    def run(program: str, *arguments: str) -> str:
        command = [str(programs / program), *arguments]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = run("python", "-W", "error", "-c", PROGRAM)
    assert said.split() == ["hello", "later", "bytes", "ready", "96", version, "False"]
    assert "The stream is ready" in run("onlooker-client", "check")
    run("python", "-m", "compileall", "-q", "-f", str(programs.parent / "lib" / f"python{version}" / "site-packages"))
    for program in ("onlooker-client", "onlooker-agent"):
        assert "usage" in run(program, "--help")
