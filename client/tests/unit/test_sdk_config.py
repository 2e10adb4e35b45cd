"""Credentials: arguments, then the environment, then a file that only its owner can read."""

import json
import os
import stat
from dataclasses import fields
from pathlib import Path

import pytest
from onlooker.settings import OF_THE_CLIENT, describe_settings

from onlooker_client import Client, Config, ConfigError
from onlooker_client.config import config_path, from_environment, load_config, read_file, write_file

FULL = Config(url="https://vision.example.org", client_id="login", access_token="hunter2")


def write(path: Path, said: object, mode: int = 0o600) -> Path:
    path.write_text(json.dumps(said))
    path.chmod(mode)
    return path


def test_nothing_set_names_all_three_ways() -> None:
    with pytest.raises(ConfigError) as caught:
        Client()
    message = str(caught.value)
    for way in ("Client(url=...)", "ONLOOKER_URL", "ONLOOKER_ACCESS_TOKEN", "onlooker-agent setup", "client.json"):
        assert way in message


def test_a_file_that_the_environment_names_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ONLOOKER_CONFIG", str(tmp_path / "nosuch.json"))
    with pytest.raises(ConfigError, match=r"nosuch.json \(ONLOOKER_CONFIG\) does not exist"):
        Client("https://vision.example.org", "login", "password")


def test_only_what_is_missing_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="Not set: access_token"):
        Client("https://vision.example.org", "login")


def test_arguments_win_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(config_path(), Config(url="https://file.example", client_id="file", username="file@example.org"))
    monkeypatch.setenv("ONLOOKER_CLIENT_ID", "environment")
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", "hunter2")
    config = load_config(Config(url="https://argument.example"))
    assert (config.url, config.client_id, config.username) == (
        "https://argument.example",
        "environment",
        "file@example.org",
    )


def test_a_password_is_not_sent_for_another_login() -> None:
    write_file(config_path(), FULL)
    assert load_config(Config(client_id="another")).access_token is None
    assert load_config(Config(client_id="login")).access_token == "hunter2"


def test_places_of_one_server_are_not_taken_for_another() -> None:
    places = Config(ca_file="/ca.pem", console_url="https://console.example", data_url="https://data.example")
    write_file(config_path(), places.over(FULL))
    moved = load_config(Config(url="https://elsewhere.example"))
    assert (moved.ca_file, moved.console_url, moved.data_url) == (None, None, None)
    same = load_config(Config(url="https://vision.example.org/"))
    assert (same.ca_file, same.console_url) == ("/ca.pem", "https://console.example")


def test_a_password_can_lie_in_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\n")
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN_FILE", str(tmp_path / "secret"))
    assert from_environment().access_token == "hunter2"
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN_FILE", "/nowhere")
    with pytest.raises(ConfigError, match="ONLOOKER_ACCESS_TOKEN_FILE can't be read"):
        from_environment()


def test_a_key_stands_for_the_password_and_numbers_need_no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    with Client("https://vision.example.org", "login", key="onl_hunter2") as client:
        assert client.config.password == "onl_hunter2"
        assert "onl_" not in f"{client!r} {client.config!r} {vars(client)}"
    with Client(client_id="login", key="onl_hunter2", data_url="https://data.example") as client:
        assert "data.example" in repr(client)
        with pytest.raises(ConfigError, match="ONLOOKER_URL"):
            client.services()
    with pytest.raises(ConfigError, match="Not set: url"):
        Client(client_id="login", key="onl_hunter2")
    monkeypatch.setenv("ONLOOKER_KEY", "onl_hunter2")
    assert load_config(Config(access_token="hunter2")).password == "hunter2"


def test_a_key_of_one_console_is_not_sent_to_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(config_path(), Config(console_url="https://console.example", key="onl_hunter2"))
    assert load_config(Config(console_url="https://elsewhere.example")).key is None
    assert load_config(Config(console_url="https://console.example/")).key == "onl_hunter2"
    assert load_config(Config(url="https://vision.example.org")).key == "onl_hunter2"
    (tmp_path / "secret").write_text("onl_other\n")
    monkeypatch.setenv("ONLOOKER_KEY_FILE", str(tmp_path / "secret"))
    assert load_config(Config(console_url="https://elsewhere.example")).key == "onl_other"


def test_what_is_written_is_read_back_and_only_its_owner_can(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "below" / "client.json"
    before = os.umask(0)
    try:
        write_file(path, FULL)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert read_file(path) == FULL
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path / "client.json", {}, mode)
    with pytest.raises(ConfigError, match=f"chmod 600 {path}"):
        read_file(path)


@pytest.mark.parametrize("content", ["", "{", '{"access_token": "hunter2", x}', "[1]", '{"url": 1}', '{"uri": "x"}'])
def test_a_wrong_file_is_refused_without_showing_what_is_in_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "client.json"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=r"client\.json") as caught:
        read_file(path)
    assert "hunter2" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="onlooker-agent setup"):
        Client(config=tmp_path / "missing.json")


def test_a_client_takes_a_file_or_a_config_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "other.json", FULL)
    with Client(config=str(tmp_path / "other.json")) as client:
        assert client.config.client_id == "login"
    monkeypatch.setenv("ONLOOKER_USERNAME", "from@environment.example")
    with Client(config=FULL) as client:
        assert client.config == FULL


def test_no_password_is_shown() -> None:
    with Client(config=FULL) as client:
        shown = f"{FULL!r} {FULL} {client!r} {client.config} {client.transport!r} {vars(client)}"
    assert "hunter2" not in shown
    assert "login" in shown


def test_the_server_passes_over_exactly_the_settings_of_the_client() -> None:
    """Both may be started in one shell."""
    names = {f"ONLOOKER_{field.name.upper()}" for field in fields(Config)}
    names |= {"ONLOOKER_CONFIG", "ONLOOKER_ACCESS_TOKEN_FILE", "ONLOOKER_KEY_FILE", "ONLOOKER_TRIAL_S"}
    assert {*names} == OF_THE_CLIENT | (names & {name for name, _, _ in describe_settings()})
