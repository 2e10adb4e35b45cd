"""What the clients bring is refused unless it is what was pinned; every refusal names the remedy."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from building.fetching import FetchError, fetch_sources
from building.pins import Package, Source

CONTENT = b"weights"
FILE = "onlooker_test_weights-1.0-py3-none-any.whl"


def write_wheel(folder: Path) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / FILE, "w") as packed:
        packed.writestr("weights.bin", CONTENT)
        info = "onlooker_test_weights-1.0.dist-info"
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: onlooker-test-weights\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return folder / FILE


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A package that pip finds in a folder, and nowhere else."""
    wheel = write_wheel(tmp_path / "registry")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    source = Source("part.bin", "weights.bin", hashlib.sha256(CONTENT[2:5]).hexdigest(), "MIT", (2, 5))
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Package("onlooker-test-weights", "pypi", "1.0", FILE, sha256, "MIT", (source,))


def test_a_pinned_package_is_fetched_once_and_its_sources_taken(package: Package, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert fetch_sources([package], cache)["part.bin"].read_bytes() == CONTENT[2:5]
    (tmp_path / "registry" / FILE).unlink()
    assert fetch_sources([package], cache)["part.bin"].read_bytes() == CONTENT[2:5]


def test_a_damaged_cache_is_mended(package: Package, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    found = fetch_sources([package], cache)["part.bin"]
    found.write_bytes(b"other")
    (cache / "packages" / FILE).write_bytes(b"half a download")
    assert fetch_sources([package], cache)["part.bin"].read_bytes() == CONTENT[2:5]


def test_a_package_with_another_hash_is_refused_and_deleted(package: Package, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="refused and deleted") as refusal:
        fetch_sources([replace(package, sha256="0" * 64)], tmp_path / "cache")
    assert "do not use them" in str(refusal.value)
    assert list((tmp_path / "cache" / "packages").iterdir()) == []


def test_a_source_with_another_hash_is_refused(package: Package, tmp_path: Path) -> None:
    wrong = replace(package, sources=(replace(package.sources[0], sha256="0" * 64),))
    with pytest.raises(FetchError, match=r"part\.bin in .* refused"):
        fetch_sources([wrong], tmp_path / "cache")
    assert list((tmp_path / "cache" / "sources").iterdir()) == []


def test_a_member_that_is_not_there_is_named(package: Package, tmp_path: Path) -> None:
    wrong = replace(package, sources=(replace(package.sources[0], member="other.bin"),))
    with pytest.raises(FetchError, match=r"holds no other\.bin"):
        fetch_sources([wrong], tmp_path / "cache")


def test_a_package_that_cannot_be_had_names_network_and_configuration(package: Package, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="Is there a network"):
        fetch_sources([replace(package, version="2.0")], tmp_path / "cache")


def test_without_npm_the_message_says_what_to_install(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match="apt install npm"):
        fetch_sources([replace(package, registry="npm")], tmp_path / "cache")
