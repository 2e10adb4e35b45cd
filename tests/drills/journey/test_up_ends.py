"""`onlooker up` that is stopped or killed leaves nothing behind.

Others are in test_two_gateways.py (stopped while cameras send on) and test_worker_death.py (killed without its bus).
"""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psutil

from onlooker.up.certificates import ensure_certificate
from testkit import migrated_database, running_stack
from wire import assert_problem, wait_for


def test_what_takes_longer_than_the_grace_when_it_stops_is_to_be_sent_again(tmp_path: Path) -> None:
    """503 `overloaded` with `Retry-After`, and nothing in the log that looks like a fault. With a given certificate."""
    chain, key = ensure_certificate(tmp_path, ["localhost", "127.0.0.1"])
    services = {"extra_services": "extra.trouble", "worker_services": "trouble"}
    with (
        migrated_database() as url,
        running_stack(url, tls_certificate_file=chain, tls_key_file=key, **services) as stack,
    ):
        assert not (stack.home / "tls").exists()
        command = ["curl", "-sS", "--cacert", str(tmp_path / "ca.pem"), f"{stack.url}/livez"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == '{"live":true}'
        stream = stack.create_stream()
        client = httpx2.Client(base_url=stack.plain_url, auth=stream.auth, timeout=30)
        with client, ThreadPoolExecutor(1) as cameras:
            fields = {"sleep_s": 20, "async": False}
            sending = cameras.submit(client.post, "/services/trouble/1/jobs", json=fields)
            time.sleep(1)
            pids = stack.children()
            stack.stop()
            answer = sending.result(timeout=10)
        output = stack.output.read_text()
    assert_problem(answer, 503, "overloaded")
    assert int(answer.headers["retry-after"]) >= 1
    assert stack.process.returncode == 0
    assert "Stopped." in output
    assert "Traceback" not in output
    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_when_it_is_killed_its_processes_end_too() -> None:
    with migrated_database() as url, running_stack(url, worker_services="dummy") as stack:
        pids = stack.children()
        stack.process.kill()
        wait_for(lambda: [pid for pid in pids.values() if psutil.pid_exists(pid)], lambda left: not left, limit_s=20)
