"""Enrolled devices at the real console and gateway: many at once, revoked, and with Passwords that end."""

import io
import json
import threading
import time
from pathlib import Path
from secrets import token_urlsafe
from subprocess import CompletedProcess

import pytest
from agent_thread import await_true, running_agent
from doctor_scenes import shop, write_video
from enrolment_codes import devices_of, enrol, make_code, make_template, own_state, run_product
from terminal_command import run_agent
from testkit import Stack

from onlooker_client import Client
from onlooker_client.agent import agent
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.config import Config, load_config, read_file
from onlooker_client.credential_file import read_credential
from onlooker_client.enrolment import renewal
from onlooker_client.enrolment.console_request import ask_enrolment
from onlooker_client.enrolment.renewal import CredentialKeeper
from onlooker_client.errors import BadCredentials, ConfigError
from onlooker_client.terminal import Terminal

TEMPLATE = "Passwords"


@pytest.fixture(scope="session")
def template(product: Stack) -> str:
    make_template(product, TEMPLATE)
    return TEMPLATE


@pytest.fixture(scope="module")
def code(product: Stack, template: str) -> str:
    """For all devices of this file."""
    return make_code(product, "--template", template, "--devices", "20")


def enrolled(product: Stack, folder: Path, code: str) -> dict[str, str]:
    ended = enrol(product, folder, code)
    assert ended.returncode == 0, ended.stderr
    said: dict[str, str] = json.loads((folder / "client.json").read_text())
    return said


def refused_words(ended: CompletedProcess[str]) -> str:
    assert ended.returncode == 78, ended.stderr
    return ended.stderr


def test_devices_that_enrol_at_once_get_different_streams_and_no_more_than_the_code_is_for(
    product: Stack, template: str
) -> None:
    code = make_code(product, "--template", template, "--devices", "4")
    logins: list[str] = []
    refusals: list[str] = []

    def ask() -> None:
        try:
            logins.append(
                ask_enrolment(product.console_url, code, token_urlsafe(32), ca_file=product.ca_file).client_id
            )
        except ConfigError as error:
            refusals.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(logins), len(set(logins)), len(refusals)) == (4, 4, 1)
    assert "as many have enrolled" in refusals[0]
    names = product.execute("SELECT name FROM streams_stream WHERE client_id::text = ANY(%s)", logins)
    assert len({name for (name,) in names}) == 4


def test_a_revoked_device_is_refused_at_once_and_told_what_to_do(product: Stack, code: str, tmp_path: Path) -> None:
    said = enrolled(product, tmp_path, code)
    device = devices_of(product, said["client_id"])[0][0]
    with Client(config=read_file(tmp_path / "client.json")) as client:
        client.stream()
        run_product(product, "device", "revoke", str(device))
        await_true(lambda: is_refused(client), 5, "the gateway refuses it")
    write_video(tmp_path / "camera.mp4", [shop()])
    ended = run_agent("run", "camera.mp4", folder=tmp_path, **own_state(tmp_path))
    assert "This device was revoked" in refused_words(ended)
    assert "onlooker-agent enrol CODE" in ended.stderr
    again = enrol(product, tmp_path, code)
    assert "This device was revoked" in refused_words(again), "the same code does not bring it back"


def is_refused(client: Client) -> bool:
    try:
        client.stream()
    except BadCredentials:
        return True
    return False


def test_a_password_that_ended_is_renewed_at_the_start(product: Stack, code: str, tmp_path: Path) -> None:
    said = enrolled(product, tmp_path, code)
    product.execute(
        "UPDATE streams_accesstoken token SET expires_at = now() FROM streams_stream stream "
        "WHERE stream.id = token.stream_id AND stream.client_id = %s",
        said["client_id"],
    )
    time.sleep(0.6)  # the gateway's cache
    write_video(tmp_path / "camera.mp4", [shop(seed=number) for number in range(3)])
    ended = run_agent("run", "camera.mp4", folder=tmp_path, **own_state(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert renewal.RENEWED in ended.stderr
    assert json.loads((tmp_path / "state" / "credential.json").read_text())["access_token"] != said["access_token"]


def test_a_running_agent_renews_its_password_before_it_ends_and_one_that_is_refused_although_its_disk_is_full(
    product: Stack, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = enrolled(product, tmp_path, code)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr(renewal, "PAUSE_S", 1.0)
    monkeypatch.setattr(agent, "LOOK_AGAIN_S", 0.5)
    video = str(tmp_path / "camera.mp4")
    write_video(Path(video), [shop(seed=number) for number in range(20)])
    (tmp_path / "state" / "credential.json").unlink()  # nothing says that it is fresh: it is due

    def read() -> Config:
        return keeper.apply(load_config(path=tmp_path / "client.json"))

    keeper = CredentialKeeper(load_config(path=tmp_path / "client.json"), AgentLog(Terminal.of(io.StringIO())))
    with running_agent(AgentOptions(video, idle_fps=10.0, is_looped=True), read, keeper=keeper) as run:
        run.await_answers(3)
        run.await_event("credentials")
        run.await_answers(3)
        assert not run.events("refused")
        renewed = read_credential(said["device_key"])
        assert renewed is not None
        assert renewed.access_token != said["access_token"]
        assert renewed.renew_at > time.time() + 86_400

        (tmp_path / "file").write_text("")
        monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "file" / "no folder"))
        for statement in (
            "DELETE FROM devices_devicecredential credential USING devices_device device, streams_stream stream "
            "WHERE device.id = credential.device_id AND stream.id = device.stream_id AND stream.client_id = %s",
            "DELETE FROM streams_accesstoken token USING streams_stream stream "
            "WHERE stream.id = token.stream_id AND stream.client_id = %s",
        ):
            product.execute(statement, said["client_id"])
        run.await_event("refused")
        run.await_event("back", limit_s=40)
        run.await_answers(3)
    assert run.counts.adds_up
