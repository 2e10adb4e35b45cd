"""Devices enrol at the real console with a code alone, send through the real gateway, renew, are revoked, replaced."""

import json
import threading
import time
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from agent_thread import await_true, running_agent
from doctor_scenes import shop, write_video
from enrolment_codes import devices_of, enrol, make_code, make_template, own_state, run_product
from terminal_command import run_agent
from testkit import Stack

from onlooker_client import Client
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.config import Config, load_config, read_file
from onlooker_client.credential_file import read_credential
from onlooker_client.enrolment import boot_file, command, renewal
from onlooker_client.enrolment.renewal import CredentialKeeper
from onlooker_client.errors import BadCredentials
from onlooker_client.terminal import Terminal

TEMPLATE = "Window"


@pytest.fixture(scope="session")
def template(product: Stack) -> str:
    make_template(product, TEMPLATE)
    return TEMPLATE


@pytest.fixture
def code(product: Stack, template: str) -> str:
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


def test_a_code_is_for_so_many_devices(product: Stack, code: str, tmp_path: Path) -> None:
    logins = {enrolled(product, tmp_path / name, code)["client_id"] for name in ("one", "two")}
    assert len(logins) == 2
    assert "as many have enrolled" in refused_words(enrol(product, tmp_path / "three", code))
    assert not (tmp_path / "three" / "client.json").exists()


def test_wrong_and_expired_codes_are_refused_with_the_remedy(product: Stack, code: str, tmp_path: Path) -> None:
    assert "letter by letter" in refused_words(enrol(product, tmp_path / "one", "CCCC-DDDD-FFFF"))
    product.execute("UPDATE devices_enrolmentcode SET expires_at = now() WHERE beginning = %s", code[:4])
    words = refused_words(enrol(product, tmp_path / "two", code))
    assert ("expired" in words, "onlooker-agent enrol CODE" in words) == (True, True)


def test_the_power_may_go_at_any_moment(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each step in turn; the next start asks with the same key and gets the same stream."""
    devices = set()
    for step in ("write_file", "end_record", "use_up"):
        folder = tmp_path / step
        folder.mkdir()
        file = folder / "enrol.txt"
        words = ["enrol", "--file", str(file), "--config", str(folder / "client.json")]
        file.write_text(f"server = {product.console_url}\ncode = {code}\n{Path(product.ca_file).read_text()}")
        monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state"))

        def fail(*_: Any, **__: Any) -> None:
            raise PowerCut

        with monkeypatch.context() as broken:
            broken.setattr(command, step, fail)
            with pytest.raises(PowerCut):
                command.run(parsed(words))
        assert code in file.read_text()
        assert command.run(parsed(words)) == 0
        assert code not in file.read_text()
        said = settings_of(folder)
        assert len(devices_of(product, said["client_id"])) == 1
        devices.add(said["client_id"])
        if len(devices) == 2:
            product.execute("UPDATE devices_enrolmentcode SET devices_at_most = 3 WHERE beginning = %s", code[:4])
    assert (len(devices), uses_of(product, code)) == (3, 3)


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


def test_a_revoked_device_is_refused_at_once_and_told_what_to_do(product: Stack, code: str, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    said = enrolled(product, folder, code)
    config = read_file(folder / "client.json")
    device = devices_of(product, said["client_id"])[0][0]
    with Client(config=config) as client:
        client.stream()
        run_product(product, "device", "revoke", str(device))
        began = time.monotonic()
        await_true(lambda: is_refused(client), 10, "the gateway refuses it")
        assert time.monotonic() - began < 5
    write_video(folder / "camera.mp4", [shop(seed=number) for number in range(10)])
    ended = run_agent("run", "camera.mp4", folder=folder, **own_state(folder))
    assert "This device was revoked" in refused_words(ended)
    assert "onlooker-agent enrol CODE" in ended.stderr
    again = enrol(product, folder, code)
    assert "This device was revoked" in refused_words(again), "the same code does not bring it back"
    other = make_code(product, "--template", TEMPLATE)
    assert enrolled(product, folder, other)["client_id"] != said["client_id"]


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


def test_a_password_that_ended_is_renewed_at_the_start(product: Stack, code: str, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    said = enrolled(product, folder, code)
    product.execute(
        "UPDATE streams_accesstoken token SET expires_at = now() FROM streams_stream stream "
        "WHERE stream.id = token.stream_id AND stream.client_id = %s",
        said["client_id"],
    )
    time.sleep(0.6)  # the gateway's cache
    write_video(folder / "camera.mp4", [shop(seed=number) for number in range(20)])
    ended = run_agent("run", "camera.mp4", folder=folder, **own_state(folder))
    assert ended.returncode == 0, ended.stderr
    assert renewal.RENEWED in ended.stderr
    assert json.loads((folder / "state" / "credential.json").read_text())["access_token"] != said["access_token"]


def test_a_running_agent_renews_its_password_before_it_ends_and_goes_on(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "one"
    said = enrolled(product, folder, code)
    monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state"))
    monkeypatch.setattr(renewal, "PAUSE_S", 1.0)
    video = str(folder / "camera.mp4")
    write_video(Path(video), [shop(seed=number) for number in range(20)])
    (folder / "state" / "credential.json").unlink()  # nothing says that it is fresh: it is due

    def read() -> Config:
        return keeper.apply(load_config(path=folder / "client.json"))

    keeper = CredentialKeeper(load_config(path=folder / "client.json"), quiet_log())
    with running_agent(AgentOptions(video, is_looped=True), read, keeper=keeper) as run:
        run.await_answers(3)
        run.await_event("credentials")
        run.await_answers(3)
        assert not run.events("refused")
    renewed = read_credential(said["device_key"])
    assert renewed is not None
    assert renewed.access_token != said["access_token"]
    assert renewed.renew_at > time.time() + 86_400


def quiet_log() -> AgentLog:
    import io

    return AgentLog(Terminal.of(io.StringIO()))


def test_a_refused_agent_asks_by_its_key_and_a_disk_that_is_full_does_not_stop_it(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "one"
    said = enrolled(product, folder, code)
    (folder / "state-file").write_text("")
    monkeypatch.setenv("STATE_DIRECTORY", str(folder / "state-file" / "no folder"))
    monkeypatch.setattr(renewal, "PAUSE_S", 1.0)
    video = str(folder / "camera.mp4")
    write_video(Path(video), [shop(seed=number) for number in range(20)])
    keeper = CredentialKeeper(load_config(path=folder / "client.json"), quiet_log())

    def read() -> Config:
        return keeper.apply(load_config(path=folder / "client.json"))

    with running_agent(AgentOptions(video, is_looped=True), read, keeper=keeper) as run:
        run.await_answers(3)
        product.execute(
            "DELETE FROM devices_devicecredential credential USING devices_device device, streams_stream stream "
            "WHERE device.id = credential.device_id AND stream.id = device.stream_id AND stream.client_id = %s",
            said["client_id"],
        )
        product.execute(
            "DELETE FROM streams_accesstoken token USING streams_stream stream "
            "WHERE stream.id = token.stream_id AND stream.client_id = %s",
            said["client_id"],
        )
        run.await_event("refused")
        run.await_event("back", limit_s=40)
        run.await_answers(3)
    assert run.counts.adds_up


def test_many_devices_that_enrol_at_once_get_different_streams(product: Stack, template: str, tmp_path: Path) -> None:
    code = make_code(product, "--template", template, "--devices", "4")
    ended: list[CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda name=name: ended.append(enrol(product, tmp_path / name, code)))
        for name in ("a", "b", "c", "d", "e")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(one.returncode for one in ended) == [0, 0, 0, 0, 78]
    logins = {settings_of(folder)["client_id"] for folder in tmp_path.iterdir() if (folder / "client.json").exists()}
    assert len(logins) == 4
    names = product.execute("SELECT name FROM streams_stream WHERE client_id::text = ANY(%s)", list(logins))
    assert len({name for (name,) in names}) == 4
