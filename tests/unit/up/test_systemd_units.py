"""The units for systemd: valid and tight. `just cell-units` runs the product under them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

UNITS = Path(__file__).parents[3] / "deploy" / "systemd"
NAMES = sorted(path.name for path in UNITS.glob("*.service"))
EXPOSURE_LIMIT = 15
"""Of 100, as systemd-analyze counts: below 20 it calls a service OK, and a usual one has 90."""

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def settings_of(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", (UNITS / unit).read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


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
