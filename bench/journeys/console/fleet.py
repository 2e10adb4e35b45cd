"""What an owner of several streams does: enrol devices, find streams, see their numbers, change them at once."""

import secrets

from selenium.webdriver.common.by import By

from bench.journeys.console.person import JourneySetup, Person
from bench.journeys.console.steps import choose

SITE = "Harbour"
ENROLLED = (f"{SITE} 1", f"{SITE} 2")


def enrol_devices(scene: JourneySetup, person: Person) -> None:
    """Two devices enrol with one code: each gets a stream of its own at the site."""
    person.open("/devices/")
    person.see("No device has enrolled yet")
    person.look("no-devices")
    person.follow("Create code")
    person.look("new-template")
    person.fill("Name of the template", "Shop window")
    choose(person, "place", "public")
    choose(person, "preset", "own")
    person.press("Create template")
    person.see("Template Shop window created")
    person.fill("How many devices", str(len(ENROLLED)))
    pick(person, "site", SITE)
    person.look("new-code")
    person.press("Create code")
    person.see("Copy this code now")
    person.look("code")
    code = person.text("#code")
    for number, name in enumerate(ENROLLED, start=1):
        assert enrol(scene, code, f"player-{number}") == name
    person.open("/devices/")
    person.see(*ENROLLED)
    person.look("devices")


def enrol(scene: JourneySetup, code: str, name: str) -> str:
    """What a device asks for; the name of its stream. Its key is kept under its own name."""
    scene.known[name] = secrets.token_urlsafe(32)
    body = {"code": code, "device_key": scene.known[name], "name": name, "machine": "Raspberry Pi 5"}
    with scene.client(scene.stack.console_url) as client:
        answer = client.post("/devices/enrol/", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["stream"])


def end_device(person: Person) -> None:
    """One is replaced, which changes nothing until the new one comes; the other is revoked."""
    person.open("/devices/")
    person.follow("player-1")
    person.follow("Replace")
    person.look("replace-device")
    person.press("Create code")
    person.see("The old device works until then")
    person.look("code-of-a-replacement")
    person.open("/devices/")
    person.follow("player-2")
    person.follow("Revoke")
    person.look("revoke-device")
    person.press("Revoke device")
    person.wait(lambda: ENROLLED[1] not in person.text("table"), "a list without the revoked device")
    person.open("/devices/?revoked=1")
    person.see("revoked ")
    person.look("devices-with-revoked")


def find_streams(person: Person) -> None:
    """By a word, by a state, by the site; then the numbers of the site."""
    person.open("/streams/")
    person.see("Main entrance", *ENROLLED)
    person.look("overview")
    person.fill("Find", ENROLLED[0])
    person.wait(lambda: listed(person) == [ENROLLED[0]], "the stream that was looked for")
    person.look("overview-found")
    person.fill("Find", "nothing has this name")
    person.see("No stream is found")
    person.look("overview-empty")
    person.open("/streams/")
    pick(person, "site", SITE)
    person.wait(lambda: "site=" in numbers_address(person), "the streams of the site")
    assert sorted(listed(person)) == [*ENROLLED, "Main entrance"]
    person.follow("Numbers together")
    person.see("3 streams together")
    person.look("numbers-of-a-site")


def numbers_address(person: Person) -> str:
    """Where the link to the numbers of what is found leads."""
    return str(person.browser.find_element(By.ID, "fleet-numbers").get_attribute("href"))


def change_streams(person: Person) -> None:
    """Ticked ones; a preview first, which changes nothing."""
    person.open("/streams/")
    for name in ENROLLED:
        person.browser.find_element(By.CSS_SELECTOR, f'[aria-label="Select {name}"]').click()
    person.press("Change the selected streams")
    person.see("Change 2 streams", *ENROLLED)
    person.look("change-streams")
    person.fill("Add tags", "window, quay")
    person.fill("Keep visits for", "90")
    person.press("Preview")
    person.see("Older visits of 2 streams will be deleted", "Tag added: quay")
    person.look("change-streams-preview")
    person.press("Change 2 streams")
    person.see("2 streams changed")
    person.look("overview-with-tags")


def listed(person: Person) -> list[str]:
    """Names in the list, from its top."""
    return [found.text for found in person.browser.find_elements(By.CSS_SELECTOR, "tbody th > a")]


def pick(person: Person, name: str, text: str) -> None:
    """One of a list's choices."""
    found = f'//select[@name="{name}"]/option[normalize-space(.)="{text}"]'
    person.browser.find_element(By.XPATH, found).click()
