"""The whole product as a person meets it: account, stream, agent, dashboard, numbers; TLS through HAProxy."""

import argparse
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.containers.engine import ContainerEngine
from bench.containers.image_launch import ImageLaunch
from bench.journeys.console import steps
from bench.journeys.console.person import OWNER, JourneySetup
from bench.journeys.figures import JourneyFigure, as_members, why_missed
from bench.journeys.haproxy import find_haproxy, prepare_front, running_haproxy
from bench.journeys.product.device import Device
from bench.journeys.product.films import DRAWN, FILMED, RECORDED, choose_clip
from bench.journeys.product.logs import errors_in, secrets_in, written_logs
from bench.journeys.product.steps import analyse, copy_lines, examine, play, set_up, stop_in_mid_film
from bench.journeys.product.trip import Traveller, Trip
from bench.lib.browser import Step, open_browser, travel
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from bench.lib.testdata import BESIDE_THE_PROJECT
from testkit.mailbox import running_mail_server

KEPT = ROOT / "var" / "journey"


def steps_of(trip: Trip) -> list[Step]:
    scene, person = trip.scene, trip.person
    return [
        ("sign up and verify the address", lambda: steps.sign_up(scene, person, OWNER)),
        ("make a stream, copy Login and Password", lambda: steps.create_stream(scene, person)),
        ("copy the lines for the device, save the authority", lambda: copy_lines(trip)),
        ("onlooker-agent setup", lambda: set_up(trip)),
        ("onlooker-agent doctor", lambda: examine(trip)),
        (f"onlooker-agent run: {trip.filmed.name}, with the dashboard open", lambda: play(trip)),
        ("onlooker-agent run, stopped with SIGTERM", lambda: stop_in_mid_film(trip)),
        (f"onlooker-agent analyse: {trip.recorded.name}, of yesterday", lambda: analyse(trip)),
    ]


def prepare_trip(open_things: ExitStack, clip: str, folder: Path, image: Path | None) -> Trip:
    """An empty database, the product behind HAProxy, a browser that trusts the test authority, an empty device."""
    front = prepare_front(folder)
    mailbox = open_things.enter_context(running_mail_server())
    email_url = f"smtp://127.0.0.1:{mailbox.port}?tls=no"
    settings = {"email_url": email_url, **front.settings}
    if image:
        launch = ImageLaunch(engine=ContainerEngine(image), readable=(front.ca_file,))
        stack = open_things.enter_context(running_product(launch, extra_services="", **settings))
    else:
        stack = open_things.enter_context(running_product(**settings))
    open_things.enter_context(running_haproxy(front))
    browser = open_things.enter_context(open_browser(authority=front.ca_file))
    device = Device(folder / "device", KEPT)
    device.home.mkdir()
    person = Traveller(browser, stack.console_url, KEPT)
    filmed, recorded = choose_clip(clip, folder), choose_clip(RECORDED, folder)
    return Trip(JourneySetup(stack, mailbox, KEPT), front, person, device, filmed, recorded)


def close(trip: Trip, *, steps: int, taken: int, seconds: float) -> list[JourneyFigure]:
    """What is known when all steps are over."""
    logs = written_logs(trip)
    errors, secrets = errors_in(logs), secrets_in(logs, trip)
    faults = [*trip.faults, *trip.person.faults]
    for line in (*faults, *errors, *secrets):
        say(f"  {line}")
    return [
        JourneyFigure("steps", taken, at_least=steps),
        *trip.figures,
        JourneyFigure("faults", len(faults), at_most=0),
        JourneyFigure("errors_logged", len(errors), at_most=0),
        JourneyFigure("secrets_logged", len(secrets), at_most=0),
        JourneyFigure("screenshots", len(list(KEPT.glob("*.png")))),
        JourneyFigure("seconds", round(seconds)),
    ]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clip", default=FILMED, help=f"name of the labelled scene that is the camera; else {FILMED}")
    parser.add_argument("--image", type=Path, help="of `just image --folder`: the product is run from that image")
    chosen = parser.parse_args()
    find_haproxy()
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    began = time.monotonic()
    with ExitStack() as open_things:
        folder = Path(open_things.enter_context(tempfile.TemporaryDirectory(prefix="onlooker-journey-")))
        trip = prepare_trip(open_things, chosen.clip, folder, chosen.image)
        say(f"the product runs behind HAProxy: {time.monotonic() - began:.1f} s")
        steps = steps_of(trip)
        travelled = travel(steps, browsers={"person": trip.person.browser}, folder=KEPT)
        figures = close(trip, steps=len(steps), taken=len(travelled.taken), seconds=time.monotonic() - began)
        shutil.copy(trip.stack.output, KEPT / "onlooker-up.log")
    missed = [figure for figure in figures if not figure.is_met]
    for figure in missed:
        say(f"missed: {figure}")
    films: dict[str, object] = {"camera": trip.filmed.name, "recording": trip.recorded.name}
    films["product"] = "image" if chosen.image else "working tree"
    films |= {} if BESIDE_THE_PROJECT.is_dir() else {"films": f"drawn by {DRAWN}: no labelled ones beside the project"}
    reason = {"reason": why_missed(missed)} if missed else {}
    failed = travelled.failure.as_members() if travelled.failure else {}
    conclude({"ok": not missed} | films | as_members(figures) | reason | failed)


if __name__ == "__main__":
    main()
