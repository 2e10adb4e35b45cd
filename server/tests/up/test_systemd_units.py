"""The units for systemd: valid, tight, and not too tight for the product."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from clients import client_of
from testkit import Launch, migrated_database, running_stack

UNITS = Path(__file__).parents[3] / "deploy" / "systemd"
NAMES = sorted(path.name for path in UNITS.glob("*.service"))
EXPOSURE_LIMIT = 15
"""Of 100, as systemd-analyze counts: below 20 it calls a service OK, and a usual one has 90."""

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")

CONFINED_UP = """
import ctypes, errno, os, socket, sys
import pyseccomp

calls, families = sys.argv[1].split(","), sys.argv[2].split(",")
rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
for name in calls:
    if name == "socket":
        for family in families:
            rules.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(0, pyseccomp.EQ, int(getattr(socket, family))))
        continue
    try:
        rules.add_rule(pyseccomp.ALLOW, name)
    except (OSError, ValueError):
        pass  # of another architecture
rules.load()
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "onlooker", "up"])
"""
"""What systemd does with SystemCallFilter, RestrictAddressFamilies and MemoryDenyWriteExecute (Linux 6.3 or later)."""


def settings_of(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", (UNITS / unit).read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def calls_in(group: str) -> set[str]:
    """The system calls of a group such as @system-service, by systemd's own list."""
    if not group.startswith("@"):
        return {group}
    told = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    members = [line.strip() for line in told.stdout.splitlines()[1:]]
    return {call for member in members if member and not member.startswith("#") for call in calls_in(member)}


def allowed_calls(unit: str) -> set[str]:
    allowed: set[str] = set()
    for value in settings_of(unit)["SystemCallFilter"]:
        named = {call for group in value.removeprefix("~").split() for call in calls_in(group)}
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Units that start a program that is there."""
    for name in NAMES:
        text = (UNITS / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/onlooker/.venv/bin", str(Path(sys.executable).parent)))
    return tmp_path


def test_there_is_a_unit_for_everything() -> None:
    processes = ["console", "data", "dispatcher", "gateway", "recorder", "worker@"]
    assert sorted([*(f"onlooker-{process}.service" for process in processes), "onlooker.service"]) == NAMES


@needs_systemd
@pytest.mark.parametrize("name", NAMES)
def test_a_unit_is_valid(installed: Path, name: str) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(installed / name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("name", NAMES)
def test_a_unit_exposes_little(installed: Path, name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_LIMIT}", str(installed / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Overall exposure level" in done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_no_unit_has_a_secret_that_is_another_processes(name: str) -> None:
    process = name.removeprefix("onlooker-").removesuffix(".service")
    told = " ".join(settings_of(name).get("LoadCredential", []))
    assert ("secret-key" in told) == (process == "console")
    assert ("tls-key" in told) == (process in ("gateway", "console", "data"))
    assert ("nats-password" in told) == (process in ("gateway", "dispatcher", "recorder", "worker@"))
    assert set(re.findall(r"/database/(\w+)", told)) == ({process} - {"worker@", "onlooker"})


@needs_systemd
@pytest.mark.slow
def test_the_product_runs_within_the_unit(tmp_path: Path) -> None:
    """With the calls, the kinds of sockets and the memory that the unit for `up` leaves it."""
    unit = settings_of("onlooker.service")
    program = tmp_path / "up.py"
    program.write_text(CONFINED_UP)
    calls, families = ",".join(sorted(allowed_calls("onlooker.service"))), unit["RestrictAddressFamilies"][0].split()
    command = (sys.executable, str(program), calls, ",".join(families))
    with migrated_database() as url, running_stack(url, Launch(command)) as stack:
        with client_of(stack, stack.create_stream()) as client:
            answer = client.post("/services/dummy/1/jobs", json={"async": False})
            assert answer.status_code == 201, answer.text
            accepted = client.post("/services/dummy/1/jobs", json={"async": True})
            assert accepted.status_code == 202, accepted.text
        assert "onlooker_worker_confined 1.0" in stack.metrics("worker-1")
        status = Path(f"/proc/{stack.children()['gateway']}/status").read_text()
        assert re.search(r"^Seccomp:\t2$", status, re.MULTILINE)


def worker_port(number: int, first: str) -> int:
    """Its monitoring port, by the unit's own command."""
    (line,) = settings_of("onlooker-worker@.service")["ExecStart"]
    line = line.replace("/opt/onlooker/.venv/bin/onlooker worker", "printenv ONLOOKER_MONITORING_PORT")
    command = shlex.split(line.replace("%i", str(number)).replace("$$", "$"))
    variables = {"PATH": os.environ["PATH"], "FIRST_WORKER_PORT": first}
    return int(subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(
    ("unit", "targets"),
    [("onlooker-worker@.service", "targets/onlooker.yml"), ("cell/worker.conf", "targets-cell/cell.yml")],
)
def test_workers_serve_metrics_where_prometheus_looks_for_them(unit: str, targets: str) -> None:
    (first,) = re.findall(r"FIRST_WORKER_PORT=(\d+)$", (UNITS / unit).read_text(), re.MULTILINE)
    groups = yaml.safe_load((UNITS.parent / "prometheus" / targets).read_text())
    (workers,) = [group["targets"] for group in groups if group["labels"]["process"] == "worker"]
    assert {int(target.rpartition(":")[2]) for target in workers} == {worker_port(1, first)}
    assert worker_port(12, first) == worker_port(1, first) + 11
