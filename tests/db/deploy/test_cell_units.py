"""The units of a cell's hosts, as deploy/cell/units installs them: valid, tight, each with its own secrets."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[3] / "deploy"
DEBIAN_UNITS = Path("/lib/systemd/system")
OF_DEBIAN = ["etcd", "haproxy", "pgbouncer"]
PROCESSES = ["console", "data", "dispatcher", "gateway", "recorder", "worker@"]
OWN = [*(f"onlooker-{process}" for process in PROCESSES), "onlooker-blobs", "onlooker-nats", "patroni"]
EXPOSURE_LIMIT = 15
"""Of 100, as systemd-analyze counts."""

pytestmark = [
    pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed"),
    pytest.mark.skipif(not shutil.which("envsubst"), reason="envsubst is not installed"),
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host that runs everything. Its folder `units` is what /etc/systemd/system would get."""
    folder = tmp_path_factory.mktemp("cell")
    text = (DEPLOY / "cell" / "cell.env").read_text(encoding="utf-8")
    text = re.sub(r"^(CELL_(?:BLOBS|CONSOLES))=.*$", r'\1="h1"', text, flags=re.MULTILINE)
    text = re.sub(r"^CELL_PROGRAMS=.*$", f"CELL_PROGRAMS={Path(sys.executable).parent}", text, flags=re.MULTILINE)
    text = re.sub(r"^CELL_PATRONI_PROGRAMS=.*$", f"CELL_PATRONI_PROGRAMS={folder}", text, flags=re.MULTILINE)
    shutil.copy("/bin/true", folder / "patroni")  # it is not installed here; systemd wants to see a program
    (folder / "cell.env").write_text(text, encoding="utf-8")
    for name in ("secrets", "cell"):
        (folder / name).mkdir()
    for name in ("etcd.yml", "haproxy.cfg", "nats.conf"):
        (folder / "cell" / name).write_text(f"{folder}/secrets/h1.pem {folder}/var/nats {folder}/var/etcd\n")
    (folder / "cell" / "onlooker.env").write_text(
        f"ONLOOKER_HTTP_PORT=0\nONLOOKER_NATS_KEY_FILE={folder}/secrets/h1.key\n"
    )
    folders = [str(folder / name) for name in ("secrets", "cell", "var", "units")]
    command = [str(DEPLOY / "cell" / "units"), str(folder / "cell.env"), "h1", *folders]
    subprocess.run(command, check=True, capture_output=True)
    for name in OF_DEBIAN:
        if (DEBIAN_UNITS / f"{name}.service").exists():
            shutil.copy(DEBIAN_UNITS / f"{name}.service", folder / "units")
    return folder


def unit_of(host: Path, name: str) -> Path:
    unit = host / "units" / f"{name}.service"
    if not unit.exists():
        pytest.skip(f"Debian's package with {name}.service is not installed")
    return unit


@pytest.mark.parametrize("name", [*OWN, *OF_DEBIAN])
def test_a_unit_of_a_cell_is_valid(host: Path, name: str) -> None:
    command = ["systemd-analyze", "verify", "--man=no", str(unit_of(host, name))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", [*OWN, *OF_DEBIAN])
def test_a_unit_of_a_cell_exposes_little(host: Path, name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_LIMIT}"]
    done = subprocess.run([*command, str(unit_of(host, name))], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Overall exposure level" in done.stdout


def test_every_name_is_filled_in(host: Path) -> None:
    written = [path for path in (host / "units").rglob("*") if path.is_file()]
    assert len(written) >= len(OWN)
    assert [path.name for path in written if "${" in path.read_text(encoding="utf-8")] == []


def test_services_read_secrets_where_systemd_hands_them_over(host: Path) -> None:
    units = host / "cell" / "units"
    assert (units / "nats.conf").read_text().split() == [
        "/run/credentials/onlooker-nats.service/h1.pem",
        "/var/lib/onlooker-nats",
        "/var/lib/onlooker-etcd",
    ]
    assert (units / "haproxy.cfg").read_text().startswith("/run/credentials/haproxy.service/h1.pem ")
    assert (units / "onlooker.env").read_text() == "ONLOOKER_HTTP_PORT=0\n"
    assert all(path.stat().st_mode & 0o077 == 0 for path in units.iterdir())


@pytest.mark.parametrize("process", PROCESSES)
def test_no_process_of_a_cell_has_a_secret_that_is_another_ones(host: Path, process: str) -> None:
    name = process.removesuffix("@")
    text = (host / "units" / f"onlooker-{process}.service.d" / f"{name}.conf").read_text()
    loaded = {Path(source) for source in re.findall(r"^LoadCredential=[\w-]+:(.*)$", text, re.MULTILINE)}
    secrets = {str(path.relative_to(host / "secrets")) for path in loaded}
    has_database = process != "worker@"
    assert {one for one in secrets if one.startswith("passwords/")} <= {f"passwords/{name}"}
    assert {one for one in secrets if one.startswith("database/")} <= {
        f"database/{name}{way}" for way in ("", "-direct", "-read")
    }
    assert (f"database/{name}" in secrets) == has_database
    assert ("secret-key" in secrets) == (process == "console")
    assert ("s3-secret-key" in secrets) == (process in ("gateway", "dispatcher"))
