"""Devices at the real console and gateway: health arrives, configurations are applied, refused, rolled back."""

import io
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from enrolment_codes import devices_of, enrol, make_code, make_template, run_product
from made_camera import BLIND, MadeCamera
from testkit import Stack

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote import console_link, control
from onlooker_client.agent.remote.in_process import InProcessDevice
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.config import read_file
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION
from onlooker_client.wire.transport import build_trust

TEMPLATE = "Remote"
BASE = AgentOptions("0", fps=2.0, idle_fps=2.0)


def has_health(product: Stack) -> bool:
    request = urllib.request.Request(f"{product.console_url}{console_link.HEALTH_PATH}", data=b"{}", method="POST")
    try:
        with urllib.request.urlopen(request, context=build_trust(product.ca_file), timeout=20):
            return True
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code != 404


@pytest.fixture(scope="session")
def remote_template(product: Stack) -> str:
    if not has_health(product):
        pytest.skip(f"this console has no {console_link.HEALTH_PATH} yet")
    make_template(product, TEMPLATE)
    return TEMPLATE


class EnrolledDevice:
    """A device of its own, in a thread."""

    def __init__(self, product: Stack, folder: Path) -> None:
        self.product = product
        self.config = read_file(folder / "client.json")
        self.device_id = str(devices_of(product, self.config.client_id or "")[0][0])
        self.log = io.StringIO()
        self.run = InProcessDevice(
            lambda: self.config,
            BASE,
            AgentLog(Terminal.of(self.log), as_json=True),
            remote=RemoteOptions(folder / "state", trial_s=12.0, every_s=4.0, first_s=0.5),
            open_source=MadeCamera,
        )

    def set(self, *words: str) -> None:
        run_product(self.product, "device", "set", self.device_id, *words)

    def shown(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(run_product(self.product, "device", "show", self.device_id, "--json"))
        return said

    def newest(self) -> tuple[str, str]:
        """State and reason of the newest version."""
        rows = self.product.execute(
            "SELECT one.state, one.reason FROM devices_deviceconfiguration one JOIN devices_device device "
            "ON device.id = one.device_id WHERE device.device_id = %s ORDER BY one.version DESC LIMIT 1",
            self.device_id,
        )
        return (str(rows[0][0]), str(rows[0][1])) if rows else ("", "")

    def await_newest(self, state: str) -> str:
        await_true(lambda: self.newest()[0] == state, 90, f"{state}: {self.newest()} {self.log.getvalue()}")
        return self.newest()[1]


@pytest.fixture
def device(
    product: Stack, remote_template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EnrolledDevice]:
    """Enrolled, running, and known to the console by its first report; it reports every four seconds."""
    # The console takes six a minute after the first twenty.
    monkeypatch.setattr(control, "SOON_S", 0.3)
    monkeypatch.setattr(console_link, "SHORTEST_S", 0.5)
    monkeypatch.setattr(console_link, "LONGEST_S", 4.0)
    folder = tmp_path / "device"
    ended = enrol(product, folder, make_code(product, "--template", remote_template))
    assert ended.returncode == 0, ended.stderr
    enrolled = EnrolledDevice(product, folder)
    with started(enrolled):
        enrolled.await_newest("applied")
        yield enrolled


@contextmanager
def started(enrolled: EnrolledDevice) -> Iterator[None]:
    thread = threading.Thread(target=enrolled.run.run)
    thread.start()
    try:
        yield
    finally:
        enrolled.run.stop()
        thread.join(20)
        assert not thread.is_alive()


def test_the_console_shows_what_a_device_reported(device: EnrolledDevice) -> None:
    await_true(lambda: device.shown()["health"].get("state") == "running", 30, device.log.getvalue())
    health = device.shown()["health"]
    assert (health["version"], health["condition"], health["camera"]["name"]) == (VERSION, "fine", "camera 0")
    assert health["frames"]["answered"] > 0
    assert 100 < health["light"] < 160


def test_a_setting_is_applied_and_kept(device: EnrolledDevice) -> None:
    device.set("width=320", "height=240", "log_level=warning")
    device.await_newest("applied")
    assert device.run.restarts == 1
    assert device.run.agent is not None
    assert device.run.agent._options.width_px == 320


def test_a_broken_setting_is_rolled_back_and_not_offered_again(device: EnrolledDevice) -> None:
    device.set("width=320", "height=240")
    device.await_newest("applied")
    device.set(f"source={BLIND}")
    assert "no pictures" in device.await_newest("rolled_back")
    await_true(lambda: device.run.remote is not None and device.run.remote.state["state"] == "applied", 30, "as before")
    assert device.run.agent is not None
    assert (device.run.agent._options.source, device.run.agent._options.width_px) == ("0", 320)
    device.set("source=")
    device.await_newest("applied")


def test_a_camera_that_is_not_there_is_refused_with_the_reason(device: EnrolledDevice) -> None:
    device.set("source=/dev/video97")
    assert device.await_newest("refused") == "source: There is no camera 97."
    assert device.run.restarts == 0


def test_a_revoked_device_reports_no_more(device: EnrolledDevice) -> None:
    run_product(device.product, "device", "revoke", device.device_id)
    await_true(lambda: '"remote"' in device.log.getvalue(), 30, device.log.getvalue())
    assert "revoked" in device.log.getvalue()
