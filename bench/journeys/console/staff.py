"""What a member of the staff does: set up a second factor, look at the staff's pages and at one's own account."""

import base64
import os
import subprocess
import sys
import time

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from selenium.webdriver.common.by import By

from bench.journeys.console.person import NEW_PASSWORD, PASSWORD, STAFF, JourneySetup, Person

CODE_DIGITS, CODE_LASTS_S = 6, 30
CODE_LEFT_S = 15
"""How long a code must still count: a busy machine takes some seconds to type it in and send it."""
ACCOUNT_PAGES = {
    "account-of-staff": "/accounts/",
    "address": "/accounts/email/",
    "sessions": "/accounts/sessions/",
    "second-factor": "/accounts/2fa/",
    "recovery-codes": "/accounts/2fa/recovery-codes/generate/",
    "second-factor-off": "/accounts/2fa/totp/deactivate/",
}
STAFF_PAGES = {
    "staff": "/staff/",
    "staff-accounts": "/staff/accounts/account/",
    "staff-streams": "/staff/streams/stream/",
    "staff-usage": "/staff/streams/usage/",
    "staff-jobs": "/staff/gateway/job/",
    "staff-workers": "/staff/gateway/listedworker/",
    "staff-organisations": "/staff/streams/organisation/",
    "staff-members": "/staff/streams/membership/",
    "staff-invitations": "/staff/members/invitation/",
}


def make_account(scene: JourneySetup) -> None:
    command = [sys.executable, "-m", "onlooker", "account", "create", STAFF, "--staff"]
    environment = os.environ | scene.stack.environment
    subprocess.run(command, check=True, env=environment, input=f"{PASSWORD}\n", text=True, stdout=subprocess.DEVNULL)


def code_of(secret: str, *, other_than: str | None = None) -> str:
    """What an authenticator app shows, once it has time left: the console takes it until its 30 seconds are over."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    while True:
        now = time.time()
        code = TOTP(key, CODE_DIGITS, SHA1(), CODE_LASTS_S).generate(int(now)).decode()
        if code != other_than and CODE_LASTS_S - now % CODE_LASTS_S >= CODE_LEFT_S:
            return code
        time.sleep(0.5)


def sign_in(person: Person, email: str, password: str) -> None:
    person.open("/accounts/login/")
    person.look("sign-in")
    person.fill("Email", email)
    person.fill("Password", password)
    person.press("Sign in")
    person.wait(lambda: not person.path.startswith("/accounts/login/"), "the page behind the sign-in")


def confirm_password(person: Person) -> None:
    """Before what is delicate the password is asked for once more."""
    if person.path.startswith("/accounts/reauthenticate/"):
        person.look("password-again")
        person.fill("Password", PASSWORD)
        person.press("Confirm")


def set_up_second_factor(scene: JourneySetup, person: Person) -> None:
    """The staff's pages lead there."""
    person.open("/staff/")
    confirm_password(person)
    person.wait(lambda: person.path.startswith("/accounts/2fa/totp/activate/"), "the set-up of a second factor")
    person.look("second-factor-set-up")
    scene.known["secret"] = str(person.browser.find_element(By.ID, "authenticator_secret").get_attribute("value"))
    scene.known["code"] = code_of(scene.known["secret"])
    person.fill("code", scene.known["code"])
    person.press("Turn on")
    person.wait(lambda: not person.path.startswith("/accounts/2fa/totp/activate/"), "the second factor")
    person.look("second-factor-on")


def sign_in_with_second_factor(scene: JourneySetup, person: Person) -> None:
    person.press("Sign out")
    sign_in(person, STAFF, PASSWORD)
    person.wait(lambda: person.path.startswith("/accounts/2fa/authenticate/"), "the question for a code")
    person.look("code")
    person.fill("code", code_of(scene.known["secret"], other_than=scene.known["code"]))  # a code counts once
    person.press("Sign in")
    person.wait(lambda: person.path == "/streams/", "the streams")


def look_around(person: Person) -> None:
    for name, path in (STAFF_PAGES | ACCOUNT_PAGES).items():
        person.open(path)
        confirm_password(person)
        person.look(name)


def change_password(person: Person) -> None:
    person.open("/accounts/password/change/")
    confirm_password(person)
    person.look("change-password")
    person.fill("Current", PASSWORD)
    person.fill("New Password", NEW_PASSWORD)
    person.fill("again", NEW_PASSWORD)
    person.press("Change")
    person.wait(lambda: "change/" not in person.path or "changed" in person.text("body"), "the new password")


def reset_password(scene: JourneySetup, person: Person) -> None:
    """By a link in a mail."""
    person.open("/accounts/password/reset/")
    person.look("reset")
    person.fill("Email", STAFF)
    person.press("Send link")
    person.look("reset-sent")
    person.open(scene.mailbox.await_link(STAFF, r"https://\S+/accounts/password/reset/key/\S+"))
    person.look("reset-password")


def look_at_errors(person: Person) -> None:
    person.open("/nowhere/")
    person.look("no-such-page")
