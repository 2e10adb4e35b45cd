"""What is pinned, carded and licensed fits together."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import onlooker_models
from building.assembly import CANONICAL_FACE, MODELS
from building.checksums import differing_files, read_checksums
from building.pins import Package, read_pins
from building.probes import PROBES

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = read_pins()
SECTIONS = ["Source", "Licence", "Input", "Output", "Known limits", "Error by group"]
HEX = re.compile(r"[0-9a-f]{64}")


@pytest.mark.parametrize("package", PACKAGES, ids=[package.name for package in PACKAGES])
def test_a_package_is_pinned_to_one_file(package: Package) -> None:
    assert package.registry in ("pypi", "npm")
    assert package.version in package.file
    assert package.licence
    hashes = [package.sha256, *(source.sha256 for source in package.sources)]
    assert all(HEX.fullmatch(sha256) for sha256 in hashes)
    assert package.sources


def test_no_two_sources_share_a_name() -> None:
    names = [source.name for package in PACKAGES for source in package.sources]
    assert len(names) == len(set(names))


def test_every_file_is_built_summed_and_known_at_run_time() -> None:
    built = {*MODELS, CANONICAL_FACE}
    sums = read_checksums(PROJECT / "SHA256SUMS")
    assert set(sums) == built == set(onlooker_models.FILES)
    assert all(HEX.fullmatch(sha256) for sha256 in sums.values())


def test_a_changed_or_missing_file_is_named() -> None:
    assert differing_files({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == ["b", "c"]


@pytest.mark.parametrize("name", MODELS)
def test_every_net_has_a_card_a_probe_and_a_reference(name: str) -> None:
    card = (PROJECT / "cards" / f"{Path(name).stem}.md").read_text(encoding="utf-8")
    assert card.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)$", card, re.MULTILINE) == SECTIONS
    assert card.count("<!-- measured -->") == card.count("<!-- /measured -->") == 1
    assert "| output | shape | kind | what it is |" in card
    licences = re.findall(r"licences/([\w.-]+\.txt)", card)
    assert licences
    assert all((PROJECT / "licences" / licence).is_file() for licence in licences)
    reference = json.loads((PROJECT / "references" / f"{Path(name).stem}.json").read_text(encoding="utf-8"))
    assert tuple(reference["input"]["shape"]) == PROBES[name].shape


def test_every_card_names_a_pinned_package_in_its_pinned_version() -> None:
    pinned = {package.name: package.version for package in PACKAGES}
    for card in (PROJECT / "cards").glob("*.md"):
        named = re.findall(r"^- Package: (?:PyPI|npm) `(.+?)` ([\w.]+)", card.read_text(encoding="utf-8"), re.MULTILINE)
        assert [pinned[name] for name, _ in named] == [version for _, version in named], card.name
        assert len(named) == 1, card.name


def test_the_licence_of_the_wheel_names_all_of_the_weights() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    weights = {source.licence for package in PACKAGES for source in package.sources}
    assert set(project["license"].split(" AND ")) == weights | {"Apache-2.0"}


def test_the_notice_names_every_file_and_every_licence_text() -> None:
    notice = (PROJECT / "licences" / "NOTICE.txt").read_text(encoding="utf-8")
    texts = [file.name for file in (PROJECT / "licences").glob("*.txt") if file.name != "NOTICE.txt"]
    assert [name for name in (*onlooker_models.FILES, *texts) if name not in notice] == []
