"""An integrator's day: from signing up to 50 devices that count, with every click counted."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from bench.fleet.box_processes import BoxProcesses, box_processes
from bench.journeys.console.person import PASSWORD, JourneySetup, Person
from bench.journeys.console.steps import find_choice
from bench.lib.browser.inspection import look_at
from bench.lib.browser.pictures import View
from bench.lib.product import say

INTEGRATOR = "integrator@example.org"
DEVICES, PROCESSES = 50, 2
CLICKS_TARGET = 40
SITE, TEMPLATE = "Lyon", "Shop window"
LIVE_LIMIT_S = 180.0
TRIAL_S = 30.0
VIEWS: Sequence[View] = tuple(
    (f"{width_px}-{scheme}", width_px, scheme) for width_px in (1440, 768, 390) for scheme in ("light", "dark")
)
LIVE = """
SELECT count(*) FROM devices_devicestatus status JOIN devices_device device ON device.id = status.device_id
JOIN streams_membership membership ON membership.organisation_id =
    (SELECT organisation_id FROM streams_stream WHERE id = device.stream_id)
JOIN accounts_account account ON account.id = membership.account_id
WHERE account.email = %s AND device.revoked_at IS NULL AND status.condition = 'fine'
  AND status.reported_at > now() - interval '2 minutes'
"""


@dataclass
class CountedPerson(Person):
    """Counts what hands do: each address opened, each field gone into, each click, two for a list of choices."""

    clicks: int = 0

    def open(self, path: str) -> None:
        self.clicks += 1
        super().open(path)

    def fill(self, label: str, value: str) -> None:
        self.clicks += 1
        super().fill(label, value)

    def tick(self, name: str, value: str) -> None:
        """A choice of a form that shows all of its choices."""
        self._click(find_choice(self, name, value))

    def pick(self, name: str, text: str) -> None:
        """A choice of a list that opens."""
        self.clicks += 2
        found = f'//select[@name="{name}"]/option[normalize-space(.)="{text}"]'
        self.browser.find_element(By.XPATH, found).click()

    def copy(self, what: str) -> None:
        self._click(self.browser.find_element(By.CSS_SELECTOR, f'button[aria-label="Copy the {what}"]'))

    def look(self, name: str) -> None:
        """In three widths, light and dark; all of them are checked."""
        self.pages.append(name)
        picture = f"{len(self.pages):02d}-{name}"
        self.faults += look_at(self.browser, self.pictures, picture, views=VIEWS, checked=VIEWS)

    def _click(self, element: WebElement) -> None:
        self.clicks += 1
        super()._click(element)


def begin_day(scene: JourneySetup, person: CountedPerson) -> None:
    """Sign up and verify the address."""
    person.open("/accounts/signup/")
    person.fill("Email", INTEGRATOR)
    person.fill("Password", PASSWORD)
    person.look("sign-up")
    person.press("Sign up")
    person.wait(lambda: person.path == "/accounts/confirm-email/", "word that a mail was sent")
    person.open(scene.mailbox.await_link(INTEGRATOR, r"https://\S+/accounts/confirm-email/\S+"))
    person.press("Confirm")
    person.wait(lambda: person.path == "/streams/", "the streams")
    person.look("first-page")


def create_code(scene: JourneySetup, person: CountedPerson) -> None:
    """A template, a site and one code for all devices."""
    person.follow("Devices")
    person.look("no-devices")
    person.follow("Create code")
    person.fill("Name of the template", TEMPLATE)
    person.tick("place", "public")
    person.tick("preset", "counts")
    person.tick("compute", "device")
    person.look("create-template")
    person.press("Create template")
    person.see(f"Template {TEMPLATE} created")
    person.follow("People")
    person.follow("Create site")
    person.fill("Name", SITE)
    person.look("create-site")
    person.press("Create site")
    person.see(f"Site {SITE} created")
    person.follow("Devices")
    person.follow("Create code")
    person.fill("How many devices", str(DEVICES))
    person.pick("site", SITE)
    person.look("create-code")
    person.press("Create code")
    person.see("Copy this code now")
    person.copy("code")
    scene.known["fleet code"] = person.text("#code")
    person.look("code")


def see_devices(scene: JourneySetup, person: CountedPerson) -> None:
    """50 agents enrol with the code and run; the pages show them all."""
    names = [f"player-{number:02d}" for number in range(DEVICES)]
    with (
        tempfile.TemporaryDirectory(prefix="onlooker-day-") as folder,
        box_processes(scene.stack, Path(folder), count=PROCESSES, trial_s=TRIAL_S) as boxes,
    ):
        enrolled = boxes.enrol(names, scene.known["fleet code"])
        refused = [said["refused"] for said in enrolled.values() if said["refused"]]
        assert not refused, f"{len(refused)} of {DEVICES} devices did not enrol: {refused[0]}"
        boxes.order("start", names)
        await_live(scene)
        look_at_fleet(person)
        end_boxes(boxes, names)
    assert person.clicks <= CLICKS_TARGET, f"{person.clicks} clicks to {DEVICES} live devices"


def await_live(scene: JourneySetup) -> None:
    began, live = time.monotonic(), 0
    while live < DEVICES:
        assert time.monotonic() - began < LIVE_LIMIT_S, f"{live} of {DEVICES} devices are live after {LIVE_LIMIT_S} s"
        time.sleep(2.0)
        live = int(scene.stack.execute(LIVE, INTEGRATOR)[0][0])
    say(f"  {live} devices live after {time.monotonic() - began:.0f} s")


def look_at_fleet(person: CountedPerson) -> None:
    """The list, the fleet by condition, and the streams that came to be."""
    person.follow("Devices")
    person.see(f"{SITE} {DEVICES}", "Works")
    person.look("devices")
    person.follow("fleet")
    person.wait(lambda: str(DEVICES) in person.text("#by-condition"), "all devices in one condition")
    person.wait(lambda: str(DEVICES) in person.text("#by-configuration"), "all devices with their configuration")
    person.look("fleet")
    person.follow("Streams")
    person.see(f"{SITE} 1")
    person.look("overview")


def end_boxes(boxes: BoxProcesses, names: list[str]) -> None:
    ended = boxes.order("stop", names)
    assert all(ended.values()), "an agent did not stop"
