"""A backup's file: only its key opens it, a damaged one is refused, and nothing in it leads out of the home folder."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pyrage
import pytest

from onlooker.backup.age_file import create_key, encrypt, open_decrypted, parse_recipient, read_key
from onlooker.backup.home_files import collect_secrets, write_secrets
from onlooker.backup.manifest import Manifest, describe_secrets, require_known_release
from onlooker.backup.tar_blocks import PART_BYTES, ArchiveMember, in_parts, read_members, tar_blocks
from onlooker.migration_check import our_migrations
from onlooker.settings import Settings, SettingsError


@pytest.fixture
def key(tmp_path: Path) -> Path:
    create_key(tmp_path / "backup.key")
    return tmp_path / "backup.key"


def public_part(key: Path) -> pyrage.x25519.Recipient:
    return read_key(key)[0].to_public()


def write_encrypted(path: Path, key: Path, content: bytes) -> None:
    with path.open("wb") as file:
        encrypt([content], file, [public_part(key)])


def read_back(path: Path, key: Path) -> bytes:
    with open_decrypted(path, read_key(key)) as stream:
        return stream.read()


def home_of(folder: Path) -> Path:
    files = {
        "secret_key": "the secret",
        "secret_key_fallbacks": "the one before",
        "tls/ca.key": "authority",
        "database/gateway": "postgresql://gateway:password@host/onlooker",
        "nats/passwords.json": "{}",
        "nats/jetstream/state.blk": "session state",
        "nats/nats.log": "log",
        "blobs/1/frame.jpg": "a frame",
        "gateways/turns": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_key_file_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    public = create_key(tmp_path / "backup.key")
    assert public.startswith("age1")
    assert (tmp_path / "backup.key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(SettingsError, match="never overwritten"):
        create_key(tmp_path / "backup.key")
    assert str(public_part(tmp_path / "backup.key")) == public


def test_what_was_encrypted_is_opened_with_its_key(tmp_path: Path, key: Path) -> None:
    content = bytes(range(256)) * 4000
    write_encrypted(tmp_path / "file.age", key, content)
    assert content[:64] not in (tmp_path / "file.age").read_bytes()
    assert read_back(tmp_path / "file.age", key) == content


def test_another_key_is_refused_with_the_remedy(tmp_path: Path, key: Path) -> None:
    write_encrypted(tmp_path / "file.age", key, b"content")
    create_key(tmp_path / "other.key")
    with pytest.raises(SettingsError, match=r"another key\. Name the file of that key with --key"):
        read_back(tmp_path / "file.age", tmp_path / "other.key")


@pytest.mark.parametrize("kept", [0.3, 0.999])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, key: Path, kept: float) -> None:
    path = tmp_path / "file.age"
    write_encrypted(path, key, bytes(1_000_000))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    with pytest.raises(SettingsError, match="damaged or incomplete"):
        read_back(path, key)


def test_a_changed_byte_is_noticed(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "file.age"
    write_encrypted(path, key, bytes(1_000_000))
    content = bytearray(path.read_bytes())
    content[500_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="damaged or incomplete"):
        read_back(path, key)


@pytest.mark.parametrize("text", ["", "age1short", "AGE-SECRET-KEY-1NOTPUBLIC"])
def test_a_wrong_public_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ValueError, match="is not a public key") as raised:
        parse_recipient(text)
    assert len(text) < 9 or text not in str(raised.value)


def test_a_stream_of_unknown_size_goes_through_an_archive_in_parts() -> None:
    content = bytes(range(250)) * (PART_BYTES // 100)
    archive = b"".join(tar_blocks(in_parts("database", io.BytesIO(content))))
    members = list(read_members(io.BytesIO(archive)))
    assert [len(member.content) for member in members] == [PART_BYTES, PART_BYTES, len(content) - 2 * PART_BYTES]
    assert b"".join(member.content for member in members) == content


def test_tar_reads_it_too(tmp_path: Path) -> None:
    path = tmp_path / "archive.tar"
    name = f"elsewhere/{'long/' * 30}file"
    path.write_bytes(b"".join(tar_blocks([ArchiveMember("manifest.json", b"{}"), ArchiveMember(name, b"x" * 600)])))
    listed = subprocess.run(["tar", "--list", "-f", str(path)], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == ["manifest.json", name]
    with tarfile.open(path) as archive:
        assert archive.getmember(name).size == 600


def test_secrets_are_collected_and_nothing_that_devices_sent(tmp_path: Path) -> None:
    home = home_of(tmp_path / "home")
    certificate = tmp_path / "server.pem"
    certificate.write_text("certificate")
    environ = {
        "ONLOOKER_HOME": str(home),
        "ONLOOKER_EMAIL_FROM": "Onlooker <on@example.org>",
        "ONLOOKER_TLS_CERTIFICATE_FILE": str(certificate),
        "ONLOOKER_ACCESS_TOKEN": "of the client",
        "PATH": "/bin",
    }
    found = {one.name: one.content.decode() for one in collect_secrets(Settings(home=str(home)), [], environ)}
    assert set(found) == {
        "home/secret_key",
        "home/secret_key_fallbacks",
        "home/tls/ca.key",
        "home/database/gateway",
        "home/nats/passwords.json",
        "secret_key",
        "settings.env",
        f"elsewhere{certificate}",
    }
    assert "ONLOOKER_EMAIL_FROM='Onlooker <on@example.org>'" in found["settings.env"].splitlines()
    assert "of the client" not in found["settings.env"]
    assert found["secret_key"] == "the secret"


def test_a_file_that_a_setting_names_and_that_is_missing_stops_the_backup(tmp_path: Path) -> None:
    environ = {"ONLOOKER_TLS_KEY_FILE": str(tmp_path / "missing.key")}
    with pytest.raises(SettingsError, match=r"missing\.key is not there"):
        list(collect_secrets(Settings(home=str(tmp_path)), [], environ))


def test_secrets_come_back_for_their_owner_alone(tmp_path: Path) -> None:
    members = list(collect_secrets(Settings(home=str(home_of(tmp_path / "home"))), [], {}))
    restored = tmp_path / "restored"
    write_secrets(restored, members)
    assert (restored / "tls/ca.key").read_text() == "authority"
    assert not (restored / "blobs").exists()
    assert {path.stat().st_mode & 0o777 for path in restored.rglob("*") if path.is_file()} == {0o600}


@pytest.mark.parametrize(
    "name", ["home/tls/../../escaped", "home/blobs/1", "home//etc/passwd", "elsewhere/../../escaped", "other/file"]
)
def test_a_made_up_backup_writes_nothing_outside_its_place(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="no backup of Onlooker"):
        write_secrets(tmp_path / "home", [ArchiveMember(name, b"bad")])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def manifest_of(**changes: object) -> Manifest:
    return Manifest(**{name: getattr(describe_secrets(), name) for name in Manifest.__struct_fields__} | changes)


def test_a_backup_of_this_release_is_accepted() -> None:
    require_known_release(manifest_of(migrations=sorted(our_migrations())))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release": "0.1.1"}, "newer than this one"),
        ({"release": "10.0"}, "Install 10.0 or later"),
        ({"format": 2}, "newer than this one"),
        ({"migrations": ["visits.9999_later"]}, "does not know: visits.9999_later. Install the release that made it"),
    ],
)
def test_a_backup_of_a_newer_release_is_refused_with_the_remedy(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        require_known_release(manifest_of(**changes))


def run(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    command = [sys.executable, "-m", "onlooker", "backup", *map(str, arguments)]
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_backup_that_fails_leaves_no_file(tmp_path: Path, key: Path) -> None:
    environment = {"ONLOOKER_HOME": str(tmp_path), "ONLOOKER_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    result = run(environment, "create", tmp_path / "file.age", "--recipient", str(public_part(key)))
    assert (result.returncode, "ONLOOKER_DATABASE_URL names it" in result.stderr) == (2, True)
    assert not list(tmp_path.glob("file.age*"))
