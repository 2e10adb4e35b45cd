"""`onlooker up`: one command starts everything, says where it is, and leaves nothing behind."""

import os
import resource
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from testkit import Stack, free_ports


def _environment(pid: int) -> dict[str, str]:
    parts = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(part.decode().split("=", 1) for part in parts if part)


def _up(environment: dict[str, str], **changes: str) -> subprocess.CompletedProcess[str]:
    values = environment | {f"ONLOOKER_{name.upper()}": value for name, value in changes.items()}
    command = [sys.executable, "-m", "onlooker", "up"]
    return subprocess.run(command, env=values, capture_output=True, text=True, timeout=60, check=False)


def test_it_says_where_everything_is(stack: Stack) -> None:
    output = stack.output.read_text()
    for word in ("database", "bus", "gateway", "workers", "monitoring", "authority", "Ready."):
        assert word in output
    assert stack.url in output


def test_every_process_answers_live_ready_and_metrics(stack: Stack) -> None:
    for name in ("gateway", "dispatcher", "recorder", "worker-1", "worker-2"):
        for path in ("livez", "readyz"):
            with urllib.request.urlopen(f"{stack.monitoring_url(name)}/{path}", timeout=5) as answer:
                assert answer.status == 200
        assert "# HELP onlooker_" in stack.metrics(name)


def test_a_worker_holds_no_credentials_but_its_own(stack: Stack) -> None:
    for name in ("worker-1", "worker-2"):
        pid = stack.children()[name]
        environment = _environment(pid)
        ours = {key for key in environment if key.startswith("ONLOOKER_")}
        assert not ours & {"ONLOOKER_DATABASE_URL", "ONLOOKER_S3_SECRET_KEY", "ONLOOKER_S3_ACCESS_KEY"}
        assert stack.setting("database_url") not in environment.values()
        assert stack.password("gateway") not in environment.values()
        connections = {c.raddr.port for c in psutil.Process(pid).net_connections() if c.raddr}
        assert connections == {int(stack.setting("nats_url").rsplit(":", 1)[1])}


def test_no_process_leaves_a_core_dump(stack: Stack) -> None:
    for pid in stack.children().values():
        assert resource.prlimit(pid, resource.RLIMIT_CORE) == (0, 0)


def test_secrets_are_readable_by_their_owner_only(stack: Stack) -> None:
    for path in ("tls/ca.key", "tls/server.key", "nats/passwords.json", "nats/nats.conf"):
        assert (stack.home / path).stat().st_mode & 0o077 == 0


def test_a_second_one_with_the_same_home_is_refused_with_the_remedy(stack: Stack) -> None:
    refused = _up(stack.environment)
    assert refused.returncode == 2
    assert "runs already" in refused.stderr
    assert "ONLOOKER_HOME" in refused.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"https_prot": "1"}, "Did you mean ONLOOKER_HTTPS_PORT?"),
        ({"https_port": "many"}, "ONLOOKER_HTTPS_PORT has a wrong value"),
        ({"public_url": "localhost"}, "ONLOOKER_PUBLIC_URL has a wrong value"),
        ({"nats_server": "/nowhere"}, "ONLOOKER_NATS_SERVER"),
        ({"database_url": "postgresql://127.0.0.1:9/nothing"}, "ONLOOKER_DATABASE_URL"),
        ({"worker_services": "astrology"}, "astrology"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_wrong_setting_is_refused_with_the_remedy(
    stack: Stack, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    elsewhere = {"home": str(tmp_path), "nats_url": "nats://127.0.0.1:14322", "monitoring_port": "19300"}
    ports = {"https_port": "18443", "http_port": "18080"}
    refused = _up(stack.environment, **(elsewhere | ports | changes))
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_process_that_waits_for_the_bus_says_so_and_can_be_stopped(stack: Stack) -> None:
    environment = os.environ | {
        "ONLOOKER_NATS_URL": f"nats://127.0.0.1:{free_ports(1)[0]}",
        "ONLOOKER_DATABASE_URL": stack.setting("database_url"),
    }
    waiting = [
        subprocess.Popen([sys.executable, "-m", "onlooker", name], env=environment, stderr=subprocess.PIPE, text=True)
        for name in ("worker", "gateway")
    ]
    for process in waiting:
        with process:
            assert process.stderr
            assert "no bus yet" in process.stderr.readline()
            process.terminate()
            assert process.wait(5) == -signal.SIGTERM


def test_a_process_that_the_bus_refuses_says_what_to_set(stack: Stack) -> None:
    environment = os.environ | {"ONLOOKER_NATS_URL": stack.setting("nats_url"), "ONLOOKER_NATS_PASSWORD": "wrong"}
    command = [sys.executable, "-m", "onlooker", "worker"]
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20, check=False)
    assert refused.returncode == 2
    assert "ONLOOKER_NATS_USER" in refused.stderr
    assert "Traceback" not in refused.stderr
