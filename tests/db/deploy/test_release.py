"""What a release consists of, what stops one, and that its signature is verified by the guide's own commands."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from deploy.release.__main__ import differing_names
from deploy.release.archives import INSTALLED_BY, sha256_of, unpack_nets, write_checksums, write_pins
from deploy.release.bill_of_materials import settle_licences
from deploy.release.installation import guide_commands
from deploy.release.notes import is_dated, release_notes
from deploy.release.signature import KEY_VARIABLE, allowed_signer, sign, signing_key
from deploy.release.source_tree import ROOT, ReleaseError, release_version

CHANGELOG = "# Changelog\n\n## [0.2.0] - 2027-01-31\n\n- New.\n\n## [0.1.0] - Unreleased\n\n- Old.\n"


def make_key(file: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A small release, signed with a key that is named in `allowed_signers` beside it."""
    folder, key = tmp_path / "release", make_key(tmp_path / "key")
    folder.mkdir()
    (folder / "onlooker-0.1.0.tar.gz").write_bytes(b"archive")
    write_checksums(folder)
    sign(folder / "SHA256SUMS", key)
    (folder / "allowed_signers").write_text(allowed_signer(key) + "\n")
    return folder


def check_files(release: Path) -> subprocess.CompletedProcess[str]:
    """What the guide tells people to do before they install."""
    script = "\n".join(guide_commands("Check the files"))
    command = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=release, capture_output=True, text=True, timeout=30, check=False)


def test_a_signed_release_passes_the_checks_of_the_guide(release: Path) -> None:
    done = check_files(release)
    assert done.returncode == 0, done.stderr
    assert 'Good "onlooker-release" signature for onlooker-releases' in done.stdout


def test_a_changed_archive_fails_the_checks_of_the_guide(release: Path) -> None:
    (release / "onlooker-0.1.0.tar.gz").write_bytes(b"another")
    done = check_files(release)
    assert done.returncode != 0
    assert "onlooker-0.1.0.tar.gz: FAILED" in done.stdout


def test_changed_checksums_fail_the_checks_of_the_guide(release: Path) -> None:
    (release / "onlooker-0.1.0.tar.gz").write_bytes(b"another")
    for name in ("SHA256SUMS", "SHA256SUMS.sig", "allowed_signers"):
        (release / name).rename(release.parent / name)
    write_checksums(release)
    for name in ("SHA256SUMS.sig", "allowed_signers"):
        (release.parent / name).rename(release / name)
    done = check_files(release)
    assert done.returncode != 0
    assert "Signature verification failed" in done.stdout + done.stderr


def test_a_signature_by_another_key_fails_the_checks_of_the_guide(release: Path, tmp_path: Path) -> None:
    sign(release / "SHA256SUMS", make_key(tmp_path / "other"))
    assert check_files(release).returncode != 0


def test_without_a_key_nothing_is_signed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert signing_key() is None
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ReleaseError, match=f"{KEY_VARIABLE} names .*nowhere, where there is no file"):
        signing_key()


def test_the_notes_are_the_section_of_the_version() -> None:
    assert release_notes(CHANGELOG, "0.2.0") == "## [0.2.0] - 2027-01-31\n\n- New.\n"
    assert is_dated(release_notes(CHANGELOG, "0.2.0"))
    assert not is_dated(release_notes(CHANGELOG, "0.1.0"))
    with pytest.raises(ReleaseError, match=r"has no section `## \[0\.3\.0\]`"):
        release_notes(CHANGELOG, "0.3.0")


def test_the_changelog_has_a_section_for_the_version_of_all_packages() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert release_notes(changelog, release_version(ROOT)).startswith(f"## [{release_version(ROOT)}]")


def test_packages_of_different_versions_are_not_released(tmp_path: Path) -> None:
    for number, name in enumerate(("client", "pipeline", "server", "models")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[project]\nversion = "0.{number}"\n')
    with pytest.raises(ReleaseError, match="their versions differ"):
        release_version(tmp_path)


@pytest.mark.parametrize(
    ("licences", "refused"),
    [
        ([{"expression": "AGPL-3.0-only"}], "AGPL-3.0-only"),
        ([{"expression": "MIT AND (Apache-2.0 OR CC-BY-NC-4.0)"}], "CC-BY-NC-4.0"),
        ([{"license": {"id": "GPL-3.0-only"}}], "GPL-3.0-only"),
    ],
)
def test_a_licence_that_is_not_accepted_stops_a_release(licences: list[dict[str, object]], refused: str) -> None:
    found = settle_licences([{"name": "part", "version": "1.0", "licenses": licences}])
    assert not found.ok
    assert found.refused == [f"part 1.0: {refused}"]


@pytest.mark.parametrize("licences", [[], [{"license": {"name": "BSD"}}], [{"license": {"name": "See LICENSE"}}]])
def test_a_part_without_a_licence_of_one_meaning_stops_a_release(licences: list[dict[str, object]]) -> None:
    found = settle_licences([{"name": "part", "version": "1.0", "licenses": licences}])
    assert not found.ok
    assert [label.partition(":")[0] for label in found.unknown] == ["part 1.0"]


def test_each_part_gets_one_expression() -> None:
    parts = [
        {"name": "plain", "licenses": [{"license": {"id": "MIT"}}, {"license": {"name": "MIT License"}}]},
        {"name": "both", "licenses": [{"license": {"id": "MIT"}}, {"license": {"id": "Apache-2.0"}}]},
        {"name": "qrcode", "licenses": [{"license": {"name": "BSD"}}]},
    ]
    assert settle_licences(parts).counts == {"MIT": 1, "Apache-2.0 AND MIT": 1, "BSD-3-Clause AND MIT": 1}
    assert parts[1]["licenses"] == [{"expression": "Apache-2.0 AND MIT", "acknowledgement": "concluded"}]


def test_pins_of_a_release_name_our_wheels_with_their_hashes(tmp_path: Path) -> None:
    for package in ("onlooker", "onlooker_client", "onlooker_models", "onlooker_pipeline"):
        (tmp_path / f"{package}-0.1.0-py3-none-any.whl").write_bytes(package.encode())
    write_pins(ROOT, tmp_path)
    pins = (tmp_path / "requirements-server.txt").read_text(encoding="utf-8")
    wheels = dict(re.findall(r"^\./(\S+) \\\n    --hash=sha256:(\w{64})$", pins, re.MULTILINE))
    ours = [path for path in tmp_path.glob("*.whl") if not path.name.startswith("onlooker_client")]
    assert wheels == {path.name: sha256_of(path) for path in ours}
    assert pins.endswith((ROOT / "requirements" / "server.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("extra", ["billing", "traces"])
def test_pins_of_an_extra_add_to_those_of_the_server_and_change_none(extra: str) -> None:
    server, added, tested = (
        dict(
            re.findall(
                r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements" / name).read_text(encoding="utf-8"), re.MULTILINE
            )
        )
        for name in ("server.txt", f"{extra}.txt", "dev.txt")
    )
    assert {name: added[name] for name in added.keys() & server.keys()} == {
        name: server[name] for name in added.keys() & server.keys()
    }
    assert added.items() <= tested.items()
    project = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = (ROOT / "requirements" / f"{extra}.in").read_text(encoding="utf-8").split()
    assert project["optional-dependencies"][extra] == listed
    assert not server.keys() & set(listed)
    assert f"requirements-{extra}.txt" in INSTALLED_BY


def test_nets_that_were_not_reviewed_are_not_released(tmp_path: Path) -> None:
    if not list((ROOT / "models" / "dist").glob("*.whl")):
        pytest.skip("the models are not built")
    reviewed = (ROOT / "models" / "SHA256SUMS").read_text(encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "SHA256SUMS").write_text("0" * 64 + reviewed[64:])
    with pytest.raises(ReleaseError, match="has other nets than models/SHA256SUMS"):
        unpack_nets(tmp_path, tmp_path / "nets")


def test_files_that_differ_between_two_builds_are_named() -> None:
    assert differing_names({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == ["b", "c"]


def test_the_workflow_runs_what_people_run_and_no_code_of_others() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "run: onlooker/.ci/run\n" in workflow
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    used = re.findall(r"^\s*-?\s*uses: (\S+)", workflow, re.MULTILINE)
    assert [action for action in used if not re.search(r"@[0-9a-f]{40}$", action)] == []
