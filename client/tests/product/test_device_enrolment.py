"""Devices enrol at the real console with a code alone, send through the real gateway, renew, are revoked, replaced."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from agent_thread import await_true
from enrolment_codes import devices_of, enrol, make_code, make_template, own_state
from terminal_command import run_agent
from testkit import Stack

from onlooker_client import Client
from onlooker_client.config import read_file
from onlooker_client.enrolment import boot_file, command
from onlooker_client.errors import BadCredentials

TEMPLATE = "Window"


@pytest.fixture(scope="session")
def template(product: Stack) -> str:
    make_template(product, TEMPLATE)
    return TEMPLATE


@pytest.fixture(scope="module")
def code(product: Stack, template: str) -> str:
    """For all devices of this file."""
    return make_code(product, "--template", template, "--devices", "20")


@pytest.fixture
def own_code(product: Stack, template: str) -> str:
    """For two devices."""
    return make_code(product, "--template", template, "--devices", "2")


def settings_of(folder: Path) -> dict[str, str]:
    said: dict[str, str] = json.loads((folder / "client.json").read_text())
    return said


def uses_of(product: Stack, code: str) -> int:
    return int(
        product.execute("SELECT devices FROM devices_enrolmentcode WHERE beginning = %s ORDER BY id DESC", code[:4])[0][
            0
        ]
    )


def enrolled(product: Stack, folder: Path, code: str) -> dict[str, str]:
    ended = enrol(product, folder, code)
    assert ended.returncode == 0, ended.stderr
    return settings_of(folder)


def refused_words(ended: CompletedProcess[str]) -> str:
    assert ended.returncode == 78, ended.stderr
    return ended.stderr


def test_a_code_is_all_that_a_device_needs_and_no_camera(product: Stack, code: str, tmp_path: Path) -> None:
    ended = enrol(product, tmp_path / "one", code)
    assert ended.returncode == 0, ended.stderr
    assert f"Enrolled as {TEMPLATE}" in ended.stdout
    said = settings_of(tmp_path / "one")
    assert (said["url"], said["console_url"], said["source"]) == (product.url, product.console_url, "0")
    assert said["ca_file"] == str(tmp_path / "one" / "authority.pem")
    assert said["device_key"] not in ended.stdout + ended.stderr
    assert said["access_token"] not in ended.stdout + ended.stderr
    assert (tmp_path / "one" / "client.json").stat().st_mode & 0o077 == 0
    with Client(config=tmp_path / "one" / "client.json") as client:
        assert client.stream()["state"] == "ready"


def test_wrong_and_expired_codes_are_refused_with_the_remedy(product: Stack, own_code: str, tmp_path: Path) -> None:
    assert "letter by letter" in refused_words(enrol(product, tmp_path / "one", "CCCC-DDDD-FFFF"))
    product.execute("UPDATE devices_enrolmentcode SET expires_at = now() WHERE beginning = %s", own_code[:4])
    words = refused_words(enrol(product, tmp_path / "two", own_code))
    assert ("expired" in words, "onlooker-agent enrol CODE" in words) == (True, True)


def test_the_power_may_go_at_any_moment(
    product: Stack, own_code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each step in turn; the next start asks with the same key and gets the same stream."""
    devices = set()
    for step in ("write_file", "end_record", "use_up"):
        folder = tmp_path / step
        folder.mkdir()
        file = folder / "enrol.txt"
        words = ["enrol", "--file", str(file), "--config", str(folder / "client.json")]
        file.write_text(f"server = {product.console_url}\ncode = {own_code}\n{Path(product.ca_file).read_text()}")
        monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state"))

        def fail(*_: Any, **__: Any) -> None:
            raise PowerCut

        with monkeypatch.context() as broken:
            broken.setattr(command, step, fail)
            with pytest.raises(PowerCut):
                command.run(parsed(words))
        assert own_code in file.read_text()
        assert command.run(parsed(words)) == 0
        assert own_code not in file.read_text()
        said = settings_of(folder)
        assert len(devices_of(product, said["client_id"])) == 1
        devices.add(said["client_id"])
        if len(devices) == 2:
            product.execute("UPDATE devices_enrolmentcode SET devices_at_most = 3 WHERE beginning = %s", own_code[:4])
    assert (len(devices), uses_of(product, own_code)) == (3, 3)


class PowerCut(Exception):
    """Nothing more happens on the device."""


def parsed(words: list[str]) -> Any:
    from onlooker_client.command.agent import build_parser

    return build_parser().parse_args(words)


def test_fifty_cards_written_alike_enrol_each_for_itself(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of them, here; with the certificate in the file, no option at all."""
    text = f"# cards\r\nServer: {product.console_url}\r\nCODE = {code.lower()}\r\n{Path(product.ca_file).read_text()}"
    logins = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        card = folder / boot_file.NAME
        card.write_bytes(text.encode("utf-8-sig"))
        monkeypatch.setattr(boot_file, "PLACES", (card,))
        monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state"))
        words = ["enrol", "--boot", "--config", str(folder / "client.json")]
        assert command.run(parsed(words)) == 0
        logins.add(settings_of(folder)["client_id"])
        assert code.lower() not in card.read_text()
        assert "Used: this device enrolled on" in card.read_text()
        before = (folder / "client.json").read_bytes()
        assert command.run(parsed(words)) == 0
        assert (folder / "client.json").read_bytes() == before, "it is used up"
    assert len(logins) == 2


def test_without_a_file_on_the_boot_partition_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot_file, "PLACES", (tmp_path / "none.txt",))
    assert command.run(parsed(["enrol", "--boot", "--config", str(tmp_path / "client.json")])) == 0
    assert not (tmp_path / "client.json").exists()


def test_the_console_that_installed_the_agent_is_asked(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / command.INSTALLED_FROM).write_text(f"{product.console_url}\n{product.ca_file}\n")
    monkeypatch.setattr(command.sys, "prefix", str(tmp_path))
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    assert command.run(parsed(["enrol", code, "--config", str(tmp_path / "client.json")])) == 0
    assert settings_of(tmp_path)["url"] == product.url


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the code that the console shows"),
        (("K7QM-4TRX-9WPH",), "--server"),
        (("K7QM-4TRX-9WPH", "--boot"), "not both"),
        (("K7QM-4TRX-9WPH", "--server", "http://console.example.org"), "https://"),
        (("--file", "nothing.txt"), "can't be read"),
    ],
)
def test_what_is_missing_is_named_with_the_remedy(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused_words(run_agent("enrol", *words, folder=tmp_path, **own_state(tmp_path)))
    assert not (tmp_path / "client.json").exists()


def test_the_gateways_address_is_not_the_consoles(product: Stack, tmp_path: Path) -> None:
    given = ("--server", product.url, "--ca", product.ca_file)
    words = refused_words(run_agent("enrol", "K7QM-4TRX-9WPH", *given, folder=tmp_path, **own_state(tmp_path)))
    assert "console" in words


def is_refused(client: Client) -> bool:
    try:
        client.stream()
    except BadCredentials:
        return True
    return False


def test_a_replacement_takes_the_stream_over(product: Stack, code: str, tmp_path: Path) -> None:
    old = enrolled(product, tmp_path / "old", code)
    replacement = make_code(product, "--replace", old["client_id"])
    new = enrolled(product, tmp_path / "new", replacement)
    assert new["client_id"] == old["client_id"]
    assert [is_live for _, is_live in devices_of(product, old["client_id"])] == [False, True]
    with Client(config=tmp_path / "new" / "client.json") as client:
        assert client.stream()["state"] == "ready"
    with Client(config=read_file(tmp_path / "old" / "client.json")) as client:
        await_true(lambda: is_refused(client), 10, "the old one is refused")
