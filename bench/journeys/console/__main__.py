"""A person's whole way through the console in a real browser; every page is photographed and checked."""

import argparse
import shutil
from contextlib import ExitStack
from pathlib import Path

from bench.journeys.console import devices, fleet, integrator, programs, staff, steps
from bench.journeys.console.integrator import CLICKS_TARGET, CountedPerson
from bench.journeys.console.person import OWNER, PASSWORD, STAFF, JourneySetup, Person
from bench.lib.browser import Step, open_browser, travel
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from testkit.fake_stripe import running_fake_stripe
from testkit.mailbox import running_mail_server


def steps_of(
    scene: JourneySetup, owner: Person, viewer: Person, member_of_staff: Person, counted: CountedPerson
) -> list[Step]:
    return [
        ("sign up and verify", lambda: steps.sign_up(scene, owner, OWNER)),
        ("create a stream and copy its credentials", lambda: steps.create_stream(scene, owner)),
        ("send a real job, see it turn green and the use move", lambda: steps.send_first_frame(scene, owner)),
        ("count people and compare", lambda: steps.check_camera(scene, owner)),
        ("rotate, with and without a grace", lambda: steps.rotate_twice(scene, owner)),
        ("change settings", lambda: steps.change_settings(scene, owner)),
        ("upgrade with a test card", lambda: steps.upgrade(scene, owner)),
        ("invite a viewer", lambda: steps.invite(scene, owner)),
        ("accept as the viewer", lambda: steps.accept(scene, viewer)),
        ("enrol devices", lambda: fleet.enrol_devices(scene, owner)),
        ("see how devices are", lambda: devices.see_health(scene, owner)),
        ("change settings of devices", lambda: devices.configure(scene, owner)),
        ("replace a device and revoke another", lambda: fleet.end_device(owner)),
        ("find streams and see their numbers", lambda: fleet.find_streams(owner)),
        ("change several streams", lambda: fleet.change_streams(owner)),
        ("give a key to a program", lambda: programs.give_key(scene, owner)),
        ("add a webhook", lambda: programs.add_webhook(owner)),
        ("read the reference of the management interface", lambda: programs.read_reference(owner)),
        ("make a member of the staff", lambda: staff.make_account(scene)),
        ("sign in as staff", lambda: staff.sign_in(member_of_staff, STAFF, PASSWORD)),
        ("set up a second factor", lambda: staff.set_up_second_factor(scene, member_of_staff)),
        ("sign in with it", lambda: staff.sign_in_with_second_factor(scene, member_of_staff)),
        ("look at the staff's pages and the account's", lambda: staff.look_around(member_of_staff)),
        ("change the password", lambda: staff.change_password(member_of_staff)),
        ("revoke the viewer", lambda: steps.revoke(scene, owner, viewer)),
        ("ask for a new password by mail", lambda: staff.reset_password(scene, viewer)),
        ("delete the account", lambda: steps.delete_account(scene, owner)),
        ("begin an integrator's day", lambda: integrator.begin_day(scene, counted)),
        ("create one code for 50 devices", lambda: integrator.create_code(scene, counted)),
        ("see 50 devices live", lambda: integrator.see_devices(scene, counted)),
        ("open what is not there", lambda: staff.look_at_errors(owner)),
    ]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=ROOT / "var" / "console", help="folder for the screenshots")
    pictures: Path = parser.parse_args().pictures
    shutil.rmtree(pictures, ignore_errors=True)
    with ExitStack() as open_things:
        mailbox = open_things.enter_context(running_mail_server())
        stripe = open_things.enter_context(running_fake_stripe())
        email_url = f"smtp://127.0.0.1:{mailbox.port}?tls=no"
        given = {"email_url": email_url, "webhooks_allow_private": programs.INSIDE, **stripe.settings}
        stack = open_things.enter_context(running_product(**given))
        stripe.webhooks.deliver_to(f"{stack.console_url}/billing/webhook/", ca_file=stack.ca_file)
        scene = JourneySetup(stack, mailbox, pictures)
        browsers = {name: open_things.enter_context(open_browser()) for name in ("owner", "viewer", "staff")}
        owner, viewer, member_of_staff = (
            Person(browser, stack.console_url, pictures / name) for name, browser in browsers.items()
        )
        browsers["integrator"] = open_things.enter_context(open_browser())
        counted = CountedPerson(browsers["integrator"], stack.console_url, pictures / "integrator")
        steps = steps_of(scene, owner, viewer, member_of_staff, counted)
        travelled = travel(steps, browsers=browsers, folder=pictures)
        errors = [line for line in stack.output.read_text().splitlines() if '"level":"error"' in line]
    people = [owner, viewer, member_of_staff, counted]
    faults = [fault for person in people for fault in person.faults]
    for line in (*faults, *errors):
        say(line)
    pages = sum(len(person.pages) for person in people)
    failed = travelled.failure.as_members() if travelled.failure else {}
    reasons = [*faults, *errors]
    conclude(
        {
            "ok": travelled.failure is None and not faults and not errors,
            "steps": len(travelled.taken),
            "steps_target": len(steps),
            "pages": pages,
            "screenshots": len(list(pictures.rglob("*.png"))),
            "integrator_clicks": counted.clicks,
            "integrator_clicks_target": CLICKS_TARGET,
            "mails": len(mailbox.mails),
            "faults": len(faults),
            "faults_target": 0,
            "errors_logged": len(errors),
            "errors_logged_target": 0,
            "pictures": str(pictures.relative_to(ROOT)) if pictures.is_relative_to(ROOT) else pictures.name,
        }
        | ({"reason": reasons[0]} if reasons else {})
        | failed
    )


if __name__ == "__main__":
    main()
