"""`onlooker up`: one command starts everything, says where it is, and leaves nothing behind."""

import os
import resource
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from clients import client_of
from onlooker.up.certificates import ensure_certificate
from testkit import Stack, TestStream, free_ports, fresh_database, migrated_database, running_stack
from wire import assert_problem


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


def test_a_given_certificate_is_used(tmp_path: Path) -> None:
    chain, key = ensure_certificate(tmp_path, ["localhost", "127.0.0.1"])
    with fresh_database() as url, running_stack(url, tls_certificate_file=chain, tls_key_file=key) as stack:
        assert not (stack.home / "tls").exists()
        command = ["curl", "-sS", "--cacert", str(tmp_path / "ca.pem"), f"{stack.url}/livez"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == '{"live":true}'


def test_stopping_is_clean_and_leaves_nothing() -> None:
    with migrated_database() as url, running_stack(url) as stack:
        pids = stack.children()
        stack.stop()
        output = stack.output.read_text()
    assert stack.process.returncode == 0
    assert "Stopped." in output
    assert "Traceback" not in output
    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_what_is_under_way_when_it_stops_is_still_computed() -> None:
    """A camera sends on while it is stopped: its frames are answered, then nobody listens any more."""
    statuses: Counter[int] = Counter()

    def send_on(stack: Stack, stream: TestStream) -> None:
        with client_of(stack, stream) as client, suppress(httpx2.TransportError):
            while True:
                statuses[client.post("/services/dummy/1/jobs", json={"async": False}).status_code] += 1

    with (
        migrated_database() as url,
        running_stack(url, worker_services="dummy") as stack,
        ThreadPoolExecutor(2) as cameras,
    ):
        sending = [cameras.submit(send_on, stack, stack.create_stream()) for _ in range(2)]
        time.sleep(0.5)
        began = time.monotonic()
        stack.stop()
        took_s = time.monotonic() - began
        for one in sending:
            one.result(timeout=10)
        output = stack.output.read_text()
    assert statuses[201] > 0
    assert set(statuses) <= {201, 429}
    assert took_s < 10
    assert "Traceback" not in output


def test_what_takes_longer_than_the_grace_when_it_stops_is_to_be_sent_again() -> None:
    """503 `overloaded` with `Retry-After`, and nothing in the log that looks like a fault."""
    services = {"extra_services": "extra.trouble", "worker_services": "trouble"}
    with migrated_database() as url, running_stack(url, **services) as stack:
        with client_of(stack, stack.create_stream()) as client, ThreadPoolExecutor(1) as cameras:
            fields = {"sleep_s": 20, "async": False}
            sending = cameras.submit(client.post, "/services/trouble/1/jobs", json=fields)
            time.sleep(1)
            stack.stop()
            answer = sending.result(timeout=10)
        output = stack.output.read_text()
    assert_problem(answer, 503, "overloaded")
    assert int(answer.headers["retry-after"]) >= 1
    assert "Traceback" not in output


@pytest.mark.parametrize("before", [(), ("nats",)])
def test_when_it_is_killed_its_processes_end_too(before: tuple[str, ...]) -> None:
    """Also where the bus is gone before the others have left it."""
    with migrated_database() as url, running_stack(url, worker_services="dummy") as stack:
        pids = stack.children()
        for pid in (*(pids[name] for name in before), stack.process.pid):
            os.kill(pid, signal.SIGKILL)
        give_up_at = time.monotonic() + 20
        while any(psutil.pid_exists(pid) for pid in pids.values()):
            assert time.monotonic() < give_up_at, "processes were left behind"
            time.sleep(0.1)


def test_a_process_that_waits_for_the_bus_says_so_and_can_be_stopped(stack: Stack) -> None:
    environment = os.environ | {
        "ONLOOKER_NATS_URL": f"nats://127.0.0.1:{free_ports(1)[0]}",
        "ONLOOKER_DATABASE_URL": stack.setting("database_url"),
    }
    for name in ("worker", "recorder", "dispatcher", "gateway"):
        command = [sys.executable, "-m", "onlooker", name]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
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
