"""Devices that report: a health report as an agent sends it, a day of them, and many devices at once."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.utils import timezone

from enrolments import code_of, enrolled, new_key, site_of
from onlooker.console.accounts.models import Account
from onlooker.devices.configuration import Level, write_versions
from onlooker.devices.enrolment import hash_key
from onlooker.devices.health import Health, record_health
from onlooker.devices.models import Device, DeviceHealth, DeviceStatus
from onlooker.streams.models import Site, Stream
from onlooker.streams.organisations import organisation_of

REPORT: dict[str, Any] = {
    "version": "0.1.0",
    "machine": "Raspberry Pi 5",
    "uptime_s": 7260.0,
    "state": "running",
    "camera": {"name": "/dev/video0", "state": "open", "since_s": 7200.0},
    "frames": {"grabbed": 36000, "answered": 35000},
    "dropped": {"busy": 1000},
    "light": 118.0,
    "condition": "fine",
    "temperature_c": 51.5,
    "disk_free_mb": 21000.0,
    "disk_total_mb": 29000.0,
    "memory_mb": 160.0,
    "clock_off_s": 0.02,
    "line": {"latency_ms": 84.0, "kbytes_s": 210.0},
    "journal": None,
}


def device_of(owner: Account, *, site: Site | None = None) -> tuple[Device, str]:
    """An enrolled one, and its key."""
    key = new_key()
    said = enrolled(code_of(owner, site=site).text, key)
    return Device.objects.select_related("stream", "template").get(device_id=said["device"]), key


def report(key: str, **changes: Any) -> None:
    """As the endpoint takes it."""
    recorded = record_health(hash_key(key), msgspec.convert(REPORT | changes, Health))
    assert recorded


def report_day(device: Device, *, now: datetime | None = None, minutes: int = 1440) -> None:
    """A report each minute until now: 5 frames a second, one in a hundred dropped, warmer by and by."""
    end = (now or timezone.now()).replace(second=0, microsecond=0)
    DeviceHealth.objects.bulk_create(
        DeviceHealth(
            device=device,
            slot=int((end - timedelta(minutes=minutes - 1 - number)).timestamp() // 60 % 1440),
            at=end - timedelta(minutes=minutes - 1 - number),
            uptime_s=60.0 * (number + 1),
            state="running",
            condition="fine",
            grabbed=300 * (number + 1),
            answered=297 * (number + 1),
            dropped={"busy": 2 * (number + 1), "timed_out": number + 1},
            light=120.0,
            temperature_c=45.0 + number / 100,
            disk_free_mb=21000.0,
            disk_total_mb=29000.0,
            memory_mb=160.0,
            clock_off_s=-0.5,
            latency_ms=80.0,
            kbytes_s=210.0,
        )
        for number in range(minutes)
    )


def many_devices(owner: Account, count: int) -> Site:
    """At one site, each with a report and a version: some are silent, some black, one in ten has an old agent."""
    site, now = site_of(owner), timezone.now()
    organisation = organisation_of(owner)
    streams = Stream.objects.bulk_create(
        Stream(name=f"Lyon {number}", organisation=organisation, site=site) for number in range(count)
    )
    devices = Device.objects.bulk_create(
        Device(stream=stream, key_sha256=number.to_bytes(32, "big"), name=f"player-{number}")
        for number, stream in enumerate(streams)
    )
    DeviceStatus.objects.bulk_create(
        DeviceStatus(
            device=device,
            reported_at=now - timedelta(minutes=0 if number % 4 else 30),
            version="0.0.9" if number % 10 == 0 else "0.1.0",
            machine="Raspberry Pi 5",
            state="running",
            condition="black" if number % 5 == 1 else "fine",
            camera_name="0",
            camera_state="open",
            configuration_etag="",
            configuration_state="",
            configuration_reason="",
            health=REPORT,
        )
        for number, device in enumerate(devices)
    )
    write_versions([device.pk for device in devices], Level.ENROLMENT)
    return site
