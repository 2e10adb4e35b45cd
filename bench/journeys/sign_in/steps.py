"""What two people do: an owner with a passkey, and a colleague who comes with the organisation's provider."""

from typing import Any

from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions

from bench.journeys.console.person import OWNER, PASSWORD, JourneySetup, Person
from bench.journeys.console.steps import choose, sign_up
from bench.lib.browser import Browser
from bench.lib.identity_provider import IdentityProviderProcess
from bench.lib.identity_provider.process import CLIENT_ID, SCOPES

ALICE = "alice@acme.example"
ADDRESS = "acme"


def add_authenticator(browser: Browser) -> None:
    """Chromium's virtual one, as a laptop with a fingerprint reader has it."""
    options = VirtualAuthenticatorOptions(
        protocol=VirtualAuthenticatorOptions.Protocol.CTAP2,
        transport=VirtualAuthenticatorOptions.Transport.INTERNAL,
        has_resident_key=True,
        has_user_verification=True,
        is_user_verified=True,
    )
    browser.add_virtual_authenticator(options)


def begin(scene: JourneySetup, owner: Person) -> None:
    sign_up(scene, owner, OWNER)


def confirm(person: Person) -> None:
    """Before what is delicate."""
    if "/reauthenticate/" in person.path:
        person.look("confirm")
        person.fill("Password", PASSWORD)
        person.press("Confirm")


def add_passkey(owner: Person) -> None:
    owner.open("/accounts/2fa/webauthn/")
    owner.look("no-passkeys")
    owner.follow("Add a passkey")
    confirm(owner)
    owner.look("add-passkey")
    owner.fill("Name", "Laptop")
    _press_passkey(owner, "Create passkey")
    owner.wait(lambda: owner.path.startswith("/accounts/2fa/recovery-codes/"), "the recovery codes")
    owner.open("/accounts/2fa/webauthn/")
    owner.see("Laptop")
    owner.look("passkeys")


def rename_passkey(owner: Person) -> None:
    owner.follow("Rename")
    confirm(owner)
    owner.look("rename-passkey")
    owner.fill("Name", "Work laptop")
    owner.press("Save")
    owner.see("Work laptop")
    owner.open("/accounts/2fa/")
    owner.look("second-factor")
    owner.open("/accounts/events/")
    owner.see("Passkey added", "Passkey renamed")
    owner.look("security-events")


def sign_in_with_passkey(owner: Person) -> None:
    owner.press("Sign out")
    owner.open("/accounts/login/")
    owner.look("sign-in")
    _press_passkey(owner, "Sign in with a passkey")
    owner.wait(lambda: owner.path == "/streams/", "the streams")


def use_passkey_as_second_factor(owner: Person) -> None:
    owner.press("Sign out")
    owner.open("/accounts/login/")
    owner.fill("Email", OWNER)
    owner.fill("Password", PASSWORD)
    owner.press("Sign in")
    owner.wait(lambda: owner.path.startswith("/accounts/2fa/authenticate/"), "the question for a second factor")
    owner.look("second-factor-asked")
    _press_passkey(owner, "Use a passkey")
    owner.wait(lambda: owner.path == "/streams/", "the streams")


def refuse_without_finger(owner: Person, other: Person) -> None:
    """A browser without the passkey is told so, and nobody is signed in."""
    add_authenticator(other.browser)
    other.open("/accounts/login/")
    _press_passkey(other, "Sign in with a passkey")
    other.see("No passkey was used")
    other.look("no-such-passkey")


def create_stream(scene: JourneySetup, owner: Person) -> None:
    """With the first stream there is an organisation."""
    owner.open("/streams/new/")
    owner.fill("Name", "Front door")
    choose(owner, "place", "public")
    choose(owner, "preset", "own")
    owner.press("Create stream")
    owner.see("Copy this Password now")
    owner.open("/organisations/")
    scene.known["organisation"] = owner.path


def require_second_factor(scene: JourneySetup, owner: Person) -> None:
    owner.open(scene.known["organisation"] + "settings/")
    owner.choose("second factor")
    owner.press("Save")
    owner.see("Settings saved")


def set_up_provider(scene: JourneySetup, owner: Person, provider: IdentityProviderProcess) -> None:
    owner.open(scene.known["organisation"] + "sign-in/")
    _confirm_with_passkey(owner)
    owner.look("provider-settings-empty")
    owner.fill("Address of your sign-in page", ADDRESS)
    owner.fill("Issuer", "http://127.0.0.1:1")
    owner.fill("Client id", CLIENT_ID)
    owner.fill("Client secret", provider.client_secret)
    owner.fill("Roles by group", "screens = manager")
    owner.fill("Scopes", SCOPES)
    owner.press("Save")
    owner.see("did not answer")
    owner.look("provider-settings-wrong")
    owner.fill("Issuer", provider.issuer)
    owner.fill("Client secret", provider.client_secret)
    owner.press("Save")
    owner.see("The provider answered as it should")
    owner.look("provider-settings")


def come_with_provider(scene: JourneySetup, colleague: Person, provider: IdentityProviderProcess) -> None:
    """A new person: signs in at the provider, confirms the address by mail, and is led to a second factor."""
    provider.put("alice", email=ALICE, email_verified=True, groups=["screens"])
    _sign_in_at_provider(colleague)
    colleague.wait(lambda: colleague.path.startswith("/accounts/confirm-email/"), "the page that a mail was sent")
    colleague.look("confirm-address")
    colleague.open(scene.mailbox.await_link(ALICE, r"https://\S+/accounts/confirm-email/\S+"))
    colleague.press("Confirm")
    colleague.wait(lambda: colleague.path == "/streams/", "the streams")
    colleague.see("requires a second factor")
    assert "Front door" not in colleague.text("body")
    colleague.look("streams-closed")
    colleague.follow("Set one up")
    colleague.look("second-factor-required")


def _sign_in_at_provider(colleague: Person) -> None:
    _go_to_provider(colleague)
    browser = colleague.browser
    colleague.wait(lambda: bool(browser.find_elements(By.NAME, "login")), "the provider's own page")
    browser.find_element(By.NAME, "login").send_keys("alice")
    browser.find_element(By.NAME, "password").send_keys("any")
    browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    _come_back(colleague)


def _go_to_provider(colleague: Person) -> None:
    colleague.open(f"/sign-in/{ADDRESS}/")
    colleague.look("organisation-sign-in")
    colleague.press("Continue to")


def _come_back(colleague: Person) -> None:
    colleague.wait(lambda: colleague.browser.current_url.startswith(colleague.console_url), "the way back")
    colleague.forget_other_hosts()


def see_streams(scene: JourneySetup, colleague: Person, code_of: Any) -> None:
    """With an authenticator app: a provider's session adds no passkey."""
    colleague.open("/accounts/2fa/webauthn/add/")
    colleague.see("Sign in with your own password first")
    colleague.look("closed-to-providers")
    colleague.open("/accounts/2fa/totp/activate/")
    secret = str(colleague.browser.find_element(By.ID, "authenticator_secret").get_attribute("value"))
    scene.known["code"] = code_of(secret)
    scene.known["secret"] = secret
    colleague.fill("code", scene.known["code"])
    colleague.press("Turn on")
    colleague.open("/streams/")
    colleague.see("Front door")
    colleague.look("streams-open")


def be_refused(colleague: Person, provider: IdentityProviderProcess) -> None:
    """After the groups have changed. The provider remembers who signed in there and asks nothing."""
    provider.put("alice", groups=[])
    colleague.press("Sign out")
    colleague.browser.delete_all_cookies()
    _go_to_provider(colleague)
    _come_back(colleague)
    colleague.see("None of your groups")
    colleague.look("refused")


def remove_passkey(owner: Person) -> None:
    owner.open("/accounts/2fa/webauthn/")
    owner.follow("Remove")
    _confirm_with_passkey(owner)
    owner.look("remove-passkey")
    owner.press("Remove passkey")
    owner.see("You have no passkeys")


def _confirm_with_passkey(owner: Person) -> None:
    if "/reauthenticate/" not in owner.path:
        return
    if "webauthn" not in owner.path:
        owner.follow("Use a passkey")
    owner.look("confirm-with-passkey")
    _press_passkey(owner, "Use a passkey")
    owner.wait(lambda: "/reauthenticate/" not in owner.path, "the page behind the confirmation")


def _press_passkey(person: Person, text: str) -> None:
    """The page stays until the authenticator has answered, so there is no page to wait for yet."""
    found = f"//button[contains(normalize-space(.), '{text}')]"
    person.browser.find_element(By.XPATH, found).click()
