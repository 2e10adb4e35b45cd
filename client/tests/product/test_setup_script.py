"""`onlooker-agent setup --yes`: for scripts, without questions."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest
from terminal_command import run_agent
from testkit import Stack, TestStream

from onlooker_client.config import Config
from onlooker_client.errors import ConfigError
from onlooker_client.setup.command import keep_settings, read_kept
from onlooker_client.setup.questions import usual_console
from onlooker_client.setup.validation import candidates, checked_login


def run(folder: Path, *options: str, stdin: str = "", **environment: str) -> CompletedProcess[str]:
    return run_agent("setup", *options, folder=folder, stdin=stdin, **environment)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--yes",), 78, "Missing: --url, --client-id, ONLOOKER_ACCESS_TOKEN or --access-token-stdin, --source"),
        ((), 78, "needs a terminal"),
        (("--access-token-stdin",), 78, "needs --yes"),
        (("--yes", "--ca", "nothing.pem"), 78, "does not exist"),
        (("--yes", "--username", "me"), 78, "e-mail address"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, options: tuple[str, ...], code: int, words: str) -> None:
    ended = run(tmp_path, *options)
    assert (ended.returncode, words in ended.stderr) == (code, True), ended.stderr
    assert not (tmp_path / "client.json").exists()


def test_a_server_that_can_not_be_reached_has_its_own_exit_code(tmp_path: Path) -> None:
    login = "0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60"
    given = ("--url", "https://localhost:1", "--client-id", login, "--source", "0")
    ended = run(tmp_path, *given, "--yes", ONLOOKER_ACCESS_TOKEN="x")
    assert (ended.returncode, "nothing is listening" in ended.stderr) == (69, True)


def test_an_unknown_authority_is_never_trusted_without_a_person(
    product: Stack, stream: TestStream, tmp_path: Path
) -> None:
    given = ("--url", product.url, "--client-id", stream.client_id, "--source", "0")
    ended = run(tmp_path, *given, "--yes", ONLOOKER_ACCESS_TOKEN=stream.access_token)
    assert (ended.returncode, "--ca" in ended.stderr) == (78, True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("vision.example.org", ["https://vision.example.org", "https://vision.example.org:8443"]),
        (" vision.example.org:8443/ ", ["https://vision.example.org:8443"]),
        ("https://vision.example.org/", ["https://vision.example.org"]),
        ("[::1]", ["https://[::1]", "https://[::1]:8443"]),
        ("http://localhost:8080", ["http://localhost:8080"]),
        ("", []),
    ],
)
def test_what_people_type_becomes_an_address(typed: str, meant: list[str]) -> None:
    assert candidates(typed) == meant


@pytest.mark.parametrize("typed", ["http://vision.example.org", "https://me:secret@vision.example.org", "ftp://x"])
def test_what_is_no_safe_address_is_refused(typed: str) -> None:
    with pytest.raises(ConfigError) as refused:
        candidates(typed)
    assert "secret" not in str(refused.value)


def test_the_console_is_guessed_where_the_usual_ports_are_used() -> None:
    assert usual_console("https://vision.example.org:8443") == "https://vision.example.org:8444"
    assert usual_console("https://vision.example.org") == ""


def test_a_login_is_taken_in_any_spelling() -> None:
    assert checked_login(" 0B6F2A3E8C1D4F7A9E25D4C1A7B85E60 ") == "0b6f2a3e-8c1d-4f7a-9e25-d4c1a7b85e60"


def test_a_folder_that_can_not_be_written_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="--config"):
        keep_settings(tmp_path / "file" / "client.json", Config(url="https://x"), tmp_path)


def test_a_file_that_others_can_read_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "client.json"
    path.write_text('{"url": "https://before.example.org"}')
    path.chmod(0o644)
    kept, trouble = read_kept(path)
    assert (kept, "chmod 600" in trouble) == (Config(), True)
