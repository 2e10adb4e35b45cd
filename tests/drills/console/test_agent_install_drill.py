"""What devices install the agent from: the script, the pins, the index and its files, to anyone and nothing else."""

import hashlib
import io
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["consoles", "pages"]
NUMPY = "numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl"


def wheel() -> bytes:
    """As much of one as pip looks at before it downloads."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("numpy-2.4.6.dist-info/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 2.4.6\n")
        archive.writestr("numpy-2.4.6.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_28_x86_64\n")
        archive.writestr("numpy/data", bytes(400_000))
    return packed.getvalue()


WHEEL = wheel()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def console_settings_of_module(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A folder of the operator's, beside files that are nobody's business."""
    above = tmp_path_factory.mktemp("site")
    folder = above / "packages"
    folder.mkdir()
    (above / NUMPY).write_bytes(b"not in the folder")
    (folder / ".hidden-1-py3-none-any.whl").write_text("hidden")
    (folder / "notes.txt").write_text("not for devices")
    (folder / NUMPY).write_bytes(WHEEL)
    return {"agent_packages": folder}


def test_pip_installs_from_the_index_what_its_checksum_names_and_nothing_else(console: Any, tmp_path: Path) -> None:
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "venv"], check=True, timeout=120)
    pip = [tmp_path / "venv" / "bin" / "pip", "download", "--disable-pip-version-check", "--no-deps", "--isolated"]
    pip += ["--index-url", f"{console.url}/agent/simple/", "--require-hashes", "--dest", tmp_path, "-r"]
    pins = tmp_path / "pins.txt"
    for content, code in ((b"numpy", 1), (WHEEL, 0)):
        pins.write_text(f"numpy==2.4.6 --hash=sha256:{sha256(content)}\n")
        ended = subprocess.run([*pip, pins], capture_output=True, text=True, timeout=120, check=False)
        assert ended.returncode == code, ended.stdout + ended.stderr
    assert (tmp_path / NUMPY).read_bytes() == WHEEL
