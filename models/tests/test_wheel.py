"""The wheel holds everything, states its licences, and has the same bytes every time."""

import email
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

import onlooker_models
from building.checksums import read_checksums
from building.pins import sha256_of
from building.wheel import WheelError, build_wheel, check_wheel

PROJECT = Path(__file__).resolve().parent.parent
BUILT = PROJECT / "build" / "first" / "wheel"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in onlooker_models.FILES:
        (folder / name).write_bytes(name.encode())
    return folder


def test_two_wheels_of_the_same_files_have_the_same_bytes(data: Path, tmp_path: Path) -> None:
    first = build_wheel(PROJECT, data, tmp_path / "first")
    for file in data.iterdir():
        os.utime(file, (1, 1))
    second = build_wheel(PROJECT, data, tmp_path / "elsewhere" / "second")
    assert sha256_of(first) == sha256_of(second)
    check_wheel(first, data, PROJECT)


def test_the_wheel_states_its_licences_and_needs_nothing(data: Path, tmp_path: Path) -> None:
    wheel = build_wheel(PROJECT, data, tmp_path / "wheel")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = email.message_from_bytes(packed.read(next(name for name in names if name.endswith("/METADATA"))))
    assert metadata["License-Expression"] == "Apache-2.0 AND MIT AND CC0-1.0"
    assert metadata["Requires-Dist"] is None
    licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
    assert licences == {file.name for file in (PROJECT / "licences").glob("*.txt")}


def test_a_wheel_with_other_bytes_is_refused(data: Path, tmp_path: Path) -> None:
    wheel = build_wheel(PROJECT, data, tmp_path / "wheel")
    (data / "age.onnx").write_bytes(b"other")
    with pytest.raises(WheelError, match=r"other bytes for data/age\.onnx"):
        check_wheel(wheel, data, PROJECT)


def test_the_built_wheel_holds_the_reviewed_bytes() -> None:
    wheels = list(BUILT.glob("*.whl"))
    if not wheels:
        pytest.skip("the wheel has not been built; run `just models`")
    with zipfile.ZipFile(wheels[0]) as packed:
        held = {
            name: hashlib.sha256(packed.read(f"onlooker_models/data/{name}")).hexdigest()
            for name in onlooker_models.FILES
        }
        sums = packed.read("onlooker_models/SHA256SUMS").decode()
    assert held == read_checksums(PROJECT / "SHA256SUMS")
    assert sums == (PROJECT / "SHA256SUMS").read_text(encoding="utf-8")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"no model file is named 'faces\.onnx'; there are: age\.onnx"):
        onlooker_models.path("faces.onnx")


def test_a_source_tree_without_weights_says_which_command_to_run() -> None:
    with pytest.raises(FileNotFoundError, match="run `just models`"):
        onlooker_models.path("age.onnx")
