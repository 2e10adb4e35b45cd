"""What somebody does who looks after devices: see how they are, and change their settings, alone and together."""

from typing import Any

from bench.journeys.console.fleet import SITE
from bench.journeys.console.person import JourneySetup, Person

REPORT: dict[str, Any] = {
    "version": "0.1.0",
    "machine": "Raspberry Pi 5",
    "uptime_s": 86400.0,
    "state": "running",
    "camera": {"name": "/dev/video0", "state": "open", "since_s": 86000.0},
    "frames": {"grabbed": 432_000, "answered": 430_000},
    "dropped": {"busy": 1500, "timed_out": 500},
    "light": 118.0,
    "condition": "fine",
    "temperature_c": 55.0,
    "disk_free_mb": 21_000.0,
    "disk_total_mb": 29_000.0,
    "memory_mb": 160.0,
    "clock_off_s": 0.1,
    "line": {"latency_ms": 84.0, "kbytes_s": 210.0},
    "journal": None,
}
_DAY = """
INSERT INTO devices_devicehealth
       (device_id, slot, at, uptime_s, state, condition, grabbed, answered, dropped, light, temperature_c, disk_free_mb,
        disk_total_mb, memory_mb, clock_off_s, latency_ms, kbytes_s)
SELECT device.id, extract(epoch FROM minute.at)::bigint / 60 %% 1440, minute.at, 60 * number, 'running', 'fine',
       300 * number, 297 * number,
       jsonb_build_object('busy', number * 2, 'timed_out', number, 'unreachable', number / 9),
       90 + 80 * sin(number / 230.0), 48 + 9 * sin(number / 200.0), 21000 - number, 29000, 160,
       0.3 * sin(number / 90.0), 80 + number %% 37, 210
FROM devices_device device,
     LATERAL (SELECT number, date_trunc('minute', now()) - make_interval(mins => 1440 - number) AS at
              FROM generate_series(1, 1438) AS number WHERE number NOT BETWEEN 500 AND 560) minute
WHERE device.name = %s
ON CONFLICT DO NOTHING"""
"""A day with an hour in which no report came."""
_DRAWN = """
const figures = [...document.querySelectorAll("figure.chart")];
return figures.every(({ dataset }) => ["yes", "empty"].includes(dataset.drawn));
"""


def report(scene: JourneySetup, name: str, **changes: Any) -> None:
    """What an agent sends each minute."""
    headers = {"Authorization": f"Bearer {scene.known[name]}"}
    with scene.client(scene.stack.console_url) as client:
        answer = client.post("/devices/health/", json=REPORT | changes, headers=headers)
    assert answer.status_code == 200, answer.text


def see_health(scene: JourneySetup, person: Person) -> None:
    """One works, and has a day behind it; the other is hot, and its camera is covered."""
    scene.stack.execute(_DAY, "player-1")
    report(scene, "player-1")
    report(scene, "player-2", version="0.0.9", condition="black", temperature_c=84.0)
    person.open("/devices/")
    person.see("Works", "Black")
    person.look("devices-that-report")
    person.follow("The fleet in numbers")
    person.see("2 devices", "0.0.9")
    person.look("fleet-in-numbers")
    person.open("/devices/?condition=black")
    person.follow("player-2")
    person.see("Check the shutter", "Give it air")
    person.look("device-in-trouble")
    person.open("/devices/")
    person.follow("player-1")
    person.see("The last 24 hours", "The camera gives pictures")
    person.wait(lambda: is_drawn(person), "the charts of a day")
    person.look("device")


def is_drawn(person: Person) -> bool:
    """Whether every chart is."""
    return bool(person.browser.execute_script(_DRAWN))


def configure(scene: JourneySetup, person: Person) -> None:
    """A template's settings, a site's, a device's; then all at once. The device says what became of a version."""
    person.open("/devices/")
    person.follow("Shop window")
    person.fill("Frames a second", "5")
    person.look("template-settings")
    person.press("Save")
    person.see("2 devices apply it")
    person.open(site_path(scene))
    person.fill("JPEG quality", "70")
    person.look("site-device-settings")
    person.press("Save")
    person.see(f"Devices at {SITE} saved")
    person.open("/devices/")
    person.follow("player-1")
    person.follow("Change settings")
    person.see(f"Empty: 70, from site {SITE}")
    person.look("device-settings")
    person.fill("Frames a second", "3")
    person.press("Save")
    person.see("1 device applies it")
    etag = scene.stack.execute(
        "SELECT etag FROM devices_deviceconfiguration JOIN devices_device "
        "ON devices_device.id = devices_deviceconfiguration.device_id "
        "WHERE name = 'player-1' ORDER BY devices_deviceconfiguration.version DESC LIMIT 1"
    )[0][0]
    refusal = {"etag": etag, "state": "rolled_back", "reason": "Fewer than half as many frames were answered."}
    report(scene, "player-1", configuration=refusal)
    person.open("/devices/?configuration=rolled_back")
    person.follow("player-1")
    person.see("Rolled back", "Fewer than half as many frames were answered.")
    person.look("device-rolled-back")
    person.open("/devices/")
    person.follow("Change all devices")
    person.see("Change 2 devices")
    person.look("change-devices")
    person.fill("Frames a second", "2")
    person.press("Preview")
    person.see("2 of 2 devices")
    person.look("change-devices-preview")
    person.press("Change 2 devices")
    person.see("2 devices changed")


def site_path(scene: JourneySetup) -> str:
    """Of the settings of the devices at the site."""
    [[organisation, site]] = scene.stack.execute("SELECT organisation_id, id FROM streams_site WHERE name = %s", SITE)
    return f"/organisations/{organisation}/sites/{site}/devices/"
