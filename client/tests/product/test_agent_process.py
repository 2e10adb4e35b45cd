"""The agent as a process: exit codes, signals, health, systemd, and a driver that is stuck."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from testkit import Stack, TestStream
from testkit.ports import free_ports

from onlooker_client.agent import process
from onlooker_client.agent.status.health import HealthServer, Systemd
from onlooker_client.command import exit_codes
from onlooker_client.errors import ConfigError

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


def test_missing_settings_wrong_paths_and_wrong_credentials_have_their_exit_codes(
    product: Stack, stream: TestStream, pictures: str
) -> None:
    wrong = {"ONLOOKER_ACCESS_TOKEN": "wrong" * 8}
    for options, environment, code, words in (
        ([], {}, exit_codes.CONFIG, "No camera is set."),
        ([pictures], {"ONLOOKER_URL": ""}, exit_codes.CONFIG, "onlooker-agent setup"),
        ([pictures], wrong, exit_codes.CONFIG, "does not recognise this Login"),
        (["nowhere.mp4"], {}, exit_codes.NO_INPUT, "does not exist"),
        ([pictures, "--fps", "0"], {}, exit_codes.USAGE, "between 0.1 and 60"),
    ):
        with started(product, stream, *options, environment=environment) as process:
            output, _ = process.communicate(timeout=20)
        assert (process.returncode, words in output) == (code, True), output
        assert "Traceback" not in output


def test_standard_input_without_a_picture_is_said(product: Stack, stream: TestStream) -> None:
    with started(product, stream, "-", stdin=subprocess.DEVNULL) as process:
        output, _ = process.communicate(timeout=20)
    assert process.returncode == exit_codes.NO_INPUT
    assert "No picture came from" in output
    assert "Stopped after" in output


def test_a_video_that_was_played_to_no_server_is_no_success(product: Stack, stream: TestStream, pictures: str) -> None:
    nobody = f"https://localhost:{free_ports(1)[0]}"
    with started(product, stream, pictures, environment={"ONLOOKER_URL": nobody}) as process:
        output, _ = process.communicate(timeout=20)
    assert process.returncode == exit_codes.UNAVAILABLE
    assert "10 frames, 0 answered; dropped: 10 unreachable" in output


def test_systemd_is_told_that_it_is_ready_alive_and_stopping(
    product: Stack, stream: TestStream, pictures: str, tmp_path: Path
) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address)
        listening.settimeout(15)
        with started(product, stream, pictures, "--loop", environment={"NOTIFY_SOCKET": address}) as process:
            said = [listening.recv(4096).decode()]
            while "WATCHDOG=1" not in said[-1] or "Running" not in said[-1]:
                said.append(listening.recv(4096).decode())
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == exit_codes.OK
            while "STOPPING=1" not in said[-1]:
                said.append(listening.recv(4096).decode())
    assert said[0] == "READY=1"


def test_without_systemd_nothing_is_told_and_an_abstract_address_works() -> None:
    Systemd({}).tell("READY=1")
    name = f"onlooker-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + name)
        listening.settimeout(2)
        systemd = Systemd({"NOTIFY_SOCKET": "@" + name})
        systemd.tell("READY=1", "STATUS=fine")
        assert listening.recv(100) == b"READY=1\nSTATUS=fine"
        systemd.close()


def test_a_port_that_is_taken_is_said_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="--health-port"):
        HealthServer(taken.getsockname()[1], dict)


def test_health_answers_this_machine_only_and_503_where_it_is_ill() -> None:
    server = HealthServer(0, lambda: {"state": "offline"})
    try:
        assert read_health(server.port) == (503, {"state": "offline"})
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/", timeout=2)
        rebound = urllib.request.Request(f"http://127.0.0.1:{server.port}/healthz", headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(rebound, timeout=2)
    finally:
        server.close()


def test_a_process_is_replaced_only_when_stuck_for_long_and_not_lately() -> None:
    assert not process.should_replace(59.0, {})
    assert process.should_replace(61.0, {})
    name = "ONLOOKER_AGENT_REPLACED_AT"
    assert not process.should_replace(61.0, {name: str(time.time() - 100)})
    assert process.should_replace(61.0, {name: str(time.time() - 400)})
    assert process.should_replace(61.0, {name: str(time.time() + 9999)})  # the clock was set back since
    assert process.should_replace(61.0, {name: "nonsense"})
