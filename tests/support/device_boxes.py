"""Enrolled devices that ask for their configuration and report their health at the console of this process."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from enrolments import code_of, enrolled, new_key
from onlooker.console.accounts.models import Account
from onlooker.devices.models import Device
from onlooker.streams.models import Site
from token_requests import program

CONFIGURATION, HEALTH = "/devices/configuration/", "/devices/health/"
REPORT: dict[str, Any] = {
    "version": "0.2.0",
    "machine": "Pi 5",
    "uptime_s": 120.0,
    "state": "live",
    "camera": {"name": "USB camera", "state": "open", "since_s": 110},
    "frames": {"grabbed": 600, "answered": 590},
    "dropped": {"busy": 10},
    "light": 97.5,
    "condition": "fine",
    "temperature_c": 51.0,
    "disk_free_mb": 20_000,
    "disk_total_mb": 32_000,
    "memory_mb": 88.0,
    "clock_off_s": 0.02,
    "line": {"latency_ms": 41.0, "kbytes_s": 120.0},
    "journal": None,
}
BY = "command:test"


@dataclass(frozen=True)
class Box:
    """A device and its key."""

    key: str
    device: Device

    def fetch(self, etag: str = "", **headers: str) -> HttpResponse:
        named = {"Authorization": f"Bearer {self.key}"} | ({"If-None-Match": f'"{etag}"'} if etag else {}) | headers
        return program(REMOTE_ADDR="203.0.113.9").get(CONFIGURATION, headers=named)

    def document(self) -> dict[str, Any]:
        answer = self.fetch()
        assert answer.status_code == 200, answer.content
        said: dict[str, Any] = answer.json()
        assert answer["ETag"].startswith(f'"{said["version"]}-')
        return said

    def send(self, body: object, **headers: str) -> HttpResponse:
        named = {"Authorization": f"Bearer {self.key}"} | headers
        return program(REMOTE_ADDR="203.0.113.9").post(HEALTH, body, content_type="application/json", headers=named)

    def report(self, etag: str = "", state: str = "", reason: str = "", **changes: Any) -> str:
        """Says the ETag that it is offered."""
        configuration = {"etag": etag, "state": state, "reason": reason}
        answer = self.send(REPORT | {"configuration": configuration} | changes)
        assert answer.status_code == 200, answer.content
        assert answer.json()["every_s"] == 60
        return str(answer.json()["configuration"])


def box_of(owner: Account, site: Site | None = None) -> Box:
    key = new_key()
    said = enrolled(code_of(owner, site=site).text, key)
    return Box(key, Device.objects.select_related("stream").get(device_id=said["device"]))
