"""The agent as a process: a driver that is stuck, health, a clean end."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from testkit import Stack, TestStream
from testkit.ports import free_ports
from testkit.stopwatch import Stopwatch

from onlooker_client.command import exit_codes

AGENT = str(Path(sys.executable).with_name("onlooker-agent"))


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a few pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    drawing = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=1", str(folder / "%d.jpg")]
    subprocess.run(["ffmpeg", "-loglevel", "error", *drawing], check=True)
    return str(folder)


@contextmanager
def started(product: Stack, stream: TestStream, *options: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """`onlooker-agent run` with these options, over in any case."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")} | {
        "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"],
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        **more.get("environment", {}),
    }
    command = more.get("command", [AGENT, "run"])
    process = subprocess.Popen(
        [*command, *options],
        env=environment,
        stdin=more.get("stdin"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_health(port: int) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def is_running(port: int) -> bool:
    try:
        return read_health(port)[1]["state"] == "running"
    except OSError:
        return False


HANGING = """
import sys
from onlooker_client.command.agent import main
from onlooker_client.sources.reconnection import ReconnectingSource
ReconnectingSource.stuck_s = property(lambda self: 61.0)
sys.argv = ["onlooker-agent", "run", *sys.argv[1:]]
main()
"""


def test_a_stuck_driver_restarts_it_once_and_its_health_is_there_to_see_until_sigterm(
    product: Stack, stream: TestStream, pictures: str, tmp_path: Path
) -> None:
    """No driver hangs on demand, so what the source tells of it is replaced; the rest is real."""
    (port,) = free_ports(1)
    file = tmp_path / "health.json"
    options = [pictures, "--loop", "--json", "--health-port", str(port), "--health-file", str(file)]
    with started(product, stream, *options, command=[sys.executable, "-c", HANGING]) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while sum('"camera_opened"' in line for line in lines) < 2:
            lines.append(process.stdout.readline())
        await_true(lambda: is_running(port), 20, "it runs")
        status, health = read_health(port)
        assert status == 200
        assert health["counts"]["adds_up"]
        assert health["camera"]["size_px"] == [320, 240]
        await_true(lambda: json.loads(file.read_text())["state"] == "running", 10, "the file says it too")
        assert process.poll() is None  # under the same process id
        process.send_signal(signal.SIGTERM)
        watch = Stopwatch()
        output, _ = process.communicate(timeout=10)
    assert watch.elapsed_s < 5
    assert process.returncode == exit_codes.OK
    output = "".join(lines) + output
    events = [json.loads(line)["event"] for line in output.splitlines()]
    assert (events.count("stuck"), events[-1]) == (1, "stop")
    last = json.loads(output.splitlines()[-1])
    assert last["counts"]["adds_up"]
    assert last["counts"]["answered"] > 0
    assert stream.access_token not in output
    assert json.loads(file.read_text())["state"] == "stopped"
