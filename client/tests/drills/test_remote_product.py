"""A device at the real console and gateway: health arrives, a setting is applied, one is refused."""

import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from enrolment_codes import devices_of, enrol, make_code, make_template, run_product
from made_camera import BROKEN, MadeCamera
from testkit import Stack

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote import console_link, control
from onlooker_client.agent.remote.in_process import InProcessDevice
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.status.log import AgentLog, LogLevel
from onlooker_client.config import read_file
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION

TEMPLATE = "Remote"
BASE = AgentOptions("0", fps=2.0, idle_fps=2.0)


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
            remote=RemoteOptions(folder / "state", every_s=3.0, first_s=0.3),
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


def test_a_device_reports_and_does_as_the_console_says(
    product: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The console takes six reports a minute after the first twenty.
    monkeypatch.setattr(control, "SOON_S", 0.3)
    monkeypatch.setattr(console_link, "SHORTEST_S", 0.5)
    monkeypatch.setattr(console_link, "LONGEST_S", 3.0)
    make_template(product, TEMPLATE)
    ended = enrol(product, tmp_path, make_code(product, "--template", TEMPLATE))
    assert ended.returncode == 0, ended.stderr
    device = EnrolledDevice(product, tmp_path)
    thread = threading.Thread(target=device.run.run)
    thread.start()
    try:
        use(device)
    finally:
        device.run.stop()
        thread.join(20)
    assert not thread.is_alive()


def use(device: EnrolledDevice) -> None:
    device.await_newest("applied")
    device.set("log_level=warning")
    device.await_newest("applied")
    assert device.run.agent is not None
    assert device.run.agent._log.least == LogLevel.WARNING

    device.set(f"source={BROKEN}")
    assert device.await_newest("refused") == "source: There is no camera 97."
    assert device.run.restarts == 0
    health = device.shown()["health"]
    assert (health["state"], health["version"], health["condition"]) == ("running", VERSION, "fine")
    assert health["camera"]["name"] == "camera 0"
    assert health["frames"]["answered"] > 0
    assert 100 < health["light"] < 160

    run_product(device.product, "device", "revoke", device.device_id)
    await_true(lambda: '"remote"' in device.log.getvalue(), 30, device.log.getvalue())
    assert "revoked" in device.log.getvalue()
