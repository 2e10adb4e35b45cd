"""Passkeys with Chromium's virtual authenticator, a required second factor, and a real OpenID provider."""

import argparse
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.journeys.console.person import JourneySetup, Person
from bench.journeys.console.staff import code_of
from bench.journeys.sign_in import steps
from bench.lib.browser import Step, open_browser, travel
from bench.lib.browser.inspection import look_at
from bench.lib.browser.pictures import View
from bench.lib.identity_provider import IdentityProviderProcess, is_installed, running_identity_provider
from bench.lib.identity_provider.process import NEEDS
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from testkit.mailbox import running_mail_server

VIEWS: tuple[View, ...] = (("1440", 1440, "light"), ("390", 390, "light"), ("1440-dark", 1440, "dark"))


@dataclass
class PhotographedPerson(Person):
    """Looks at pages as wide as a desk's screen and as narrow as a telephone."""

    def look(self, name: str) -> None:
        self.pages.append(name)
        picture = f"{len(self.pages):02d}-{name}"
        self.faults += look_at(self.browser, self.pictures, picture, views=VIEWS, checked=VIEWS)


def steps_of(scene: JourneySetup, owner: Person, colleague: Person, provider: IdentityProviderProcess) -> list[Step]:
    return [
        ("sign up", partial(steps.begin, scene, owner)),
        ("add a passkey", partial(steps.add_passkey, owner)),
        ("rename it", partial(steps.rename_passkey, owner)),
        ("sign in with it", partial(steps.sign_in_with_passkey, owner)),
        ("use it after the password", partial(steps.use_passkey_as_second_factor, owner)),
        ("try another device", partial(steps.refuse_without_finger, owner, colleague)),
        ("create a stream", partial(steps.create_stream, scene, owner)),
        ("require a second factor", partial(steps.require_second_factor, scene, owner)),
        ("set up a provider", partial(steps.set_up_provider, scene, owner, provider)),
        ("come with the provider", partial(steps.come_with_provider, scene, colleague, provider)),
        ("set up a second factor", partial(steps.see_streams, scene, colleague, code_of)),
        ("lose the groups", partial(steps.be_refused, colleague, provider)),
        ("remove the passkey", partial(steps.remove_passkey, owner)),
    ]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=ROOT / "var" / "sign-in", help="folder for the screenshots")
    pictures: Path = parser.parse_args().pictures
    if not is_installed():
        conclude({"ok": False, "reason": f"The provider {NEEDS}"})
    shutil.rmtree(pictures, ignore_errors=True)
    with ExitStack() as open_things:
        mailbox = open_things.enter_context(running_mail_server())
        email_url = f"smtp://127.0.0.1:{mailbox.port}?tls=no"
        stack = open_things.enter_context(running_product(email_url=email_url))
        return_url = f"{stack.console_url}/sign-in/{steps.ADDRESS}/return/"
        provider = open_things.enter_context(running_identity_provider(return_url))
        scene = JourneySetup(stack, mailbox, pictures)
        names = ("owner", "colleague")
        authority = Path(stack.ca_file)
        browsers = {name: open_things.enter_context(open_browser(authority=authority)) for name in names}
        steps.add_authenticator(browsers["owner"])
        people = {name: PhotographedPerson(one, stack.console_url, pictures / name) for name, one in browsers.items()}
        journey = steps_of(scene, people["owner"], people["colleague"], provider)
        travelled = travel(journey, browsers=browsers, folder=pictures)
        errors = [line for line in stack.output.read_text().splitlines() if '"level":"error"' in line]
    faults = [fault for person in people.values() for fault in person.faults]
    for line in (*faults, *errors):
        say(line)
    reasons = [*faults, *errors]
    conclude(
        {
            "ok": travelled.failure is None and not reasons,
            "steps": len(travelled.taken),
            "steps_target": len(journey),
            "pages": sum(len(person.pages) for person in people.values()),
            "screenshots": len(list(pictures.rglob("*.png"))),
            "faults": len(faults),
            "faults_target": 0,
            "errors_logged": len(errors),
            "errors_logged_target": 0,
        }
        | ({"reason": reasons[0]} if reasons else {})
        | (travelled.failure.as_members() if travelled.failure else {})
    )


if __name__ == "__main__":
    main()
