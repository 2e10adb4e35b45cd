"""What a person does with the console, from signing up to deleting the account, step by step."""

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from bench.journeys.console.person import OWNER, PASSWORD, PATIENCE_S, VIEWER, JourneySetup, Person
from bench.lib.browser import copied

TEST_CARD = "4242424242424242"
OVERVIEW_REFRESH_S = 30
EMPTY_S = 20
"""How long a new stream's page waits for people before it becomes the dashboard: a single picture counts nobody."""


def sign_up(scene: JourneySetup, person: Person, email: str) -> None:
    """Until signed in: sign up, read the mail, follow its link."""
    person.open("/accounts/signup/")
    person.look("sign-up")
    person.fill("Email", email)
    person.fill("Password", PASSWORD)
    person.press("Sign up")
    person.wait(lambda: person.path == "/accounts/confirm-email/", "word that a mail was sent")
    person.look("mail-sent")
    person.open(scene.mailbox.await_link(email, r"https://\S+/accounts/confirm-email/\S+"))
    person.look("confirm-address")
    person.press("Confirm")
    person.wait(lambda: person.path == "/streams/", "the streams")
    person.look("first-streams" if email == OWNER else "streams-of-a-viewer")


def create_stream(scene: JourneySetup, person: Person) -> None:
    """Make a stream and copy its credentials."""
    person.follow("Create stream")
    person.look("new-stream")
    person.fill("Name", "Front door")
    person.see("Developer: for non-commercial use only", "Enterprise: no monthly limit", "EU AI Act")
    choose(person, "place", "workplace")
    assert not find_choice(person, "preset", "everything").is_displayed()
    choose(person, "place", "public")
    person.press("Create stream")
    person.see("Tell the people in front of the camera first")
    choose(person, "preset", "own")
    assert not person.browser.find_element(By.NAME, "notice_given").is_displayed()
    person.press("Create stream")
    person.see("Copy this Password now")
    scene.known |= {"login": copy(person, "Login"), "first password": copy(person, "Password")}
    assert scene.known["first password"] == person.text("#password")
    person.look("password")
    person.browser.find_element(By.CSS_SELECTOR, "#other-ways > summary").click()
    person.look("password-and-other-ways")


def find_choice(person: Person, name: str, value: str) -> WebElement:
    return person.browser.find_element(By.CSS_SELECTOR, f'[name="{name}"][value="{value}"]')


def choose(person: Person, name: str, value: str) -> None:
    find_choice(person, name, value).click()


def copy(person: Person, what: str) -> str:
    person.browser.find_element(By.CSS_SELECTOR, f'button[aria-label="Copy the {what}"]').click()
    person.see("Copied")
    return copied(person.browser)


def send_first_frame(scene: JourneySetup, person: Person) -> None:
    """The page says that frames arrive and becomes the dashboard by itself, and the use of the month moves."""
    person.see("Waiting for the first frame")
    person.open("/streams/")
    person.follow("Front door")
    person.see("Connect your camera", "Waiting for the first frame")
    person.look("waiting-stream")
    assert scene.send_frame(scene.known["first password"]) == 201
    person.see("Frames arrive")
    person.look("first-frame")
    dashboard = f"/streams/{scene.known['login']}/dashboard/?period=today"
    person.wait(lambda: person.path == dashboard, "the dashboard", limit_s=EMPTY_S + PATIENCE_S)
    person.look("first-dashboard")
    person.open("/streams/")
    person.see("Front door")
    before = used_s(person)
    for _ in range(20):
        assert scene.send_frame(scene.known["first password"]) == 201
    person.wait(lambda: used_s(person) > before, "more use of the month", limit_s=OVERVIEW_REFRESH_S + PATIENCE_S)
    person.look("streams")
    person.follow("Set up Front door")
    person.look("stream")


def used_s(person: Person) -> float:
    """The bar of the month, as the page shows it now."""
    bar = person.browser.find_element(By.CSS_SELECTOR, "#streams meter, #streams progress")
    return float(bar.get_attribute("value") or "nan")


def check_camera(scene: JourneySetup, person: Person) -> None:
    """Counts with keys and taps, takes one back; what was counted long ago is compared."""
    person.open(f"/streams/{scene.known['login']}/check/")
    person.see("None yet.")
    person.press("Start counting")
    person.see("Counting.")
    page = person.browser.find_element(By.CSS_SELECTOR, "body")
    page.send_keys("ppplpu")
    person.press("stopped and looked")
    person.wait(lambda: person.text(".taps").split()[0] == "3", "three who passed")
    person.look("camera-check-counting")
    person.press("Finish")
    person.see("You counted 3 and 2.")
    long_ago = (
        "UPDATE checks_cameracheck SET began_at = began_at - interval '1 hour', ended_at = now() - interval '40 min'"
    )
    scene.stack.execute(long_ago)
    person.open(f"/streams/{scene.known['login']}/check/")
    person.see("0 of 3 counted")
    person.look("camera-check")


def rotate(scene: JourneySetup, person: Person, *, grace: str, name: str) -> None:
    person.open(f"/streams/{scene.known['login']}/rotate/")
    person.look("rotate")
    person.choose(grace)
    person.press("Rotate Password")
    person.see("Copy this Password now")
    scene.known[name] = copy(person, "Password")
    person.look("new-password")


def rotate_twice(scene: JourneySetup, person: Person) -> None:
    """Within its grace the old Password gets a JWT, after it none; the newest always does."""
    rotate(scene, person, grace="1 hour", name="second password")
    assert scene.ask_token(OWNER, scene.known["first password"]) == 200
    assert scene.ask_token(OWNER, scene.known["second password"]) == 200
    rotate(scene, person, grace="Not at all", name="third password")
    assert scene.ask_token(OWNER, scene.known["first password"]) == 401
    assert scene.ask_token(OWNER, scene.known["second password"]) == 401
    assert scene.ask_token(OWNER, scene.known["third password"]) == 200


def change_settings(scene: JourneySetup, person: Person) -> None:
    person.open(f"/streams/{scene.known['login']}/settings/")
    person.look("settings")
    person.fill("Name", "Main entrance")
    person.choose("Age")
    person.fill("Keep visits for", "30")
    person.press("Save")
    person.see("Nothing has been saved yet")
    person.look("settings-confirm")
    person.choose("Yes, delete")
    person.press("Save")
    person.see("Main entrance", "30 days")
    person.look("settings-saved")
    person.open(f"/streams/{scene.known['login']}/audit/?check=1")
    person.look("audit-log")
    person.open(f"/streams/{scene.known['login']}/erase/")
    person.look("erase")


def upgrade(scene: JourneySetup, person: Person) -> None:
    """Through the fake of Stripe's Checkout, with a test card."""
    person.open(f"/billing/{scene.known['login']}/upgrade/")
    person.look("upgrade")
    person.press("Enter card")
    person.wait(lambda: not person.browser.current_url.startswith(person.console_url), "the page for cards")
    person.fill("Card", TEST_CARD)
    person.press("Save")
    person.wait(lambda: person.browser.current_url.startswith(person.console_url), "the way back")
    person.forget_other_hosts()
    person.look("upgraded")
    person.open(f"/streams/{scene.known['login']}/")
    person.wait(lambda: "enterprise" in person.text().lower(), "an enterprise stream")
    person.look("enterprise-stream")
    person.open("/billing/")
    person.see("4242")
    person.look("billing")


def invite(scene: JourneySetup, person: Person) -> None:
    """The stream gets a site, and the viewer is invited to it."""
    person.open("/organisations/")
    person.look("organisation")
    person.follow("Create site")
    person.fill("Name", "Harbour")
    person.choose("Main entrance")
    person.look("site")
    person.press("Create site")
    person.see("Site Harbour created")
    person.follow("Invite people")
    person.fill("mail", VIEWER)
    person.choose("Harbour")
    person.look("invite-people")
    person.press("Continue")
    person.see("Send invitation")
    person.look("invite")
    person.press("Send invitation")
    person.see(VIEWER)
    person.look("invited")
    person.follow("Audit log")
    person.look("organisation-audit-log")
    person.open("/organisations/")
    person.follow("Settings")
    person.look("organisation-settings")


def accept(scene: JourneySetup, viewer: Person) -> None:
    """The viewer comes by the mail's link, signs up, accepts, sees the stream and gets a JWT."""
    link = scene.mailbox.await_link(VIEWER, r"https://\S+/invitations/\S+")
    viewer.open(link)
    viewer.look("invitation-for-somebody")
    sign_up(scene, viewer, VIEWER)
    viewer.open(link)
    viewer.look("invitation")
    viewer.press("Accept")
    viewer.see("Main entrance")
    viewer.open(f"/streams/{scene.known['login']}/")
    viewer.look("stream-of-a-viewer")
    assert "Login" not in viewer.text(), "a viewer sees no credentials"
    assert scene.ask_token(VIEWER, scene.known["third password"]) == 200


def revoke(scene: JourneySetup, owner: Person, viewer: Person) -> None:
    viewer.open("/organisations/")
    viewer.look("membership")
    owner.open("/organisations/")
    owner.look("organisation-with-a-viewer")
    owner.browser.find_element(By.CSS_SELECTOR, f'a[aria-label="Change {VIEWER}"]').click()
    owner.see("Remove")
    owner.look("member")
    owner.press("Remove from")
    owner.see("no longer a member")
    viewer.open(f"/streams/{scene.known['login']}/")
    viewer.see("not")
    viewer.look("not-found")
    assert scene.ask_token(VIEWER, scene.known["third password"]) == 401


def delete_account(scene: JourneySetup, person: Person) -> None:
    """With everything that belongs to it."""
    person.open("/accounts/")
    person.look("account")
    person.follow("Delete")
    if person.path.startswith("/accounts/reauthenticate/"):
        person.look("reauthenticate")
        person.fill("Password", PASSWORD)
        person.press("Confirm")
    person.look("delete-account")
    person.fill("mail", OWNER)
    person.press("Delete")
    person.wait(lambda: not person.path.startswith("/accounts/delete/"), "the end of the account")
    person.look("deleted")
    assert scene.ask_token(OWNER, scene.known["third password"]) == 401
    person.open("/streams/")
    person.wait(lambda: person.path.startswith("/accounts/login/"), "the login")
    person.fill("Email", OWNER)
    person.fill("Password", PASSWORD)
    person.press("Sign in")
    person.see("The e-mail address or the password is wrong")
    person.look("sign-in-refused")
