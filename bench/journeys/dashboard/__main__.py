"""The dashboard in a real browser, on a demo's past and on a live scene: numbers, trouble, looks, weight and speed."""

import argparse
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from bench.journeys.console.person import Person
from bench.journeys.dashboard.breakdowns import look_who_came
from bench.journeys.dashboard.comparison import compare_numbers
from bench.journeys.dashboard.gaps import check_clock_changes, check_gaps
from bench.journeys.dashboard.languages import speak_every_language
from bench.journeys.dashboard.lines import chart_numbers
from bench.journeys.dashboard.live import walk_through
from bench.journeys.dashboard.overview import look_as_viewer, look_over_streams
from bench.journeys.dashboard.questions import ask_questions
from bench.journeys.dashboard.recovery import fall_asleep, wake_up
from bench.journeys.dashboard.side_by_side import set_side_by_side
from bench.journeys.dashboard.speed import measure_speed
from bench.journeys.dashboard.stage import Part, Stage, make_world
from bench.journeys.dashboard.states import look_at_empty, look_at_states, print_reports
from bench.journeys.dashboard.trial import try_it
from bench.journeys.dashboard.zoom import zoom_in_and_out
from bench.journeys.figures import JourneyFigure, as_members, why_missed
from bench.lib.allowance import add_allowance
from bench.lib.browser import Failure, keep_failure, open_browser
from bench.lib.clients import OWNER
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from bench.lib.testdata import BESIDE_THE_PROJECT
from testkit.mailbox import running_mail_server

REPEATS, QUICK_REPEATS = 20, 5
FILMED = ("live", "try")
"""What needs labelled scenes."""
PARTS: Sequence[tuple[str, Part]] = (
    ("speed", measure_speed),
    ("sleep", fall_asleep),
    ("numbers", compare_numbers),
    ("zoom", zoom_in_and_out),
    ("lines", chart_numbers),
    ("breakdowns", look_who_came),
    ("gaps", check_gaps),
    ("clock-changes", check_clock_changes),
    ("empty", look_at_empty),
    ("overview", look_over_streams),
    ("rows", set_side_by_side),
    ("states", look_at_states),
    ("viewer", look_as_viewer),
    ("print", print_reports),
    ("questions", ask_questions),
    ("languages", speak_every_language),
    ("sleep", wake_up),
    ("live", walk_through),
    ("try", try_it),
)


def travel(stage: Stage, parts: Sequence[tuple[str, Part]]) -> tuple[list[JourneyFigure], list[Failure]]:
    """One part after the other; one that fails is a fault, and the next ones are still told. A Ctrl+C ends it."""
    figures: list[JourneyFigure] = []
    failures: list[Failure] = []
    for name, part in parts:
        started, faults_before = time.monotonic(), len(stage.faults)
        try:
            figures += part(stage)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the edge of this process: told at its end)
            failures.append(keep_failure(name, error, browsers=stage.browsers, folder=stage.pictures))
            stage.faults.append(f"{name}: {failures[-1].reason.splitlines()[0]}")
            if isinstance(error, KeyboardInterrupt):
                break
        for fault in stage.faults[faults_before:]:
            say(f"  {fault}")
        say(f"{name}: {time.monotonic() - started:.1f} s, {len(stage.faults) - faults_before} faults")
    return figures, failures


def errors_logged(stage: Stage) -> list[str]:
    """Except for the deaths that this run caused."""
    errors = [line for line in stage.stack.output.read_text().splitlines() if '"level":"error"' in line]
    died = [line for line in errors if '"process died"' in line]
    return [line for line in errors if line not in died] + died[stage.deaths :]


def close(stage: Stage, *, seconds: float) -> list[JourneyFigure]:
    """What is known when all parts are over."""
    errors = errors_logged(stage)
    for line in errors:
        say(line)
    return [
        JourneyFigure("numbers_compared_in_all", stage.compared),
        JourneyFigure("faults", len(stage.faults), at_most=0),
        JourneyFigure("errors_logged", len(errors), at_most=0),
        JourneyFigure("pages", len(stage.person.pages)),
        JourneyFigure("screenshots", len(list(stage.pictures.rglob("*.png")))),
        JourneyFigure("seconds", round(seconds)),
    ]


def judge(figures: Sequence[JourneyFigure], failures: Sequence[Failure], *, quick: bool, allow: float) -> NoReturn:
    """A short run tells how fast it was; that is a verdict only with an allowance, since it measures few times."""
    missed = [figure for figure in figures if not figure.is_met_by(allow)]
    for figure in missed:
        say(f"missed: {figure}")
    is_verdict = not quick or allow > 1 or not all(figure.is_speed for figure in missed)
    told: dict[str, Any] = {"reason": why_missed(missed)} if missed else {}
    told |= {"failures": [failure.as_members() for failure in failures]} if failures else {}
    conclude({"ok": not missed, "allowed_factor": allow} | as_members(figures) | told, verdict=is_verdict)


def chosen(names: str | None) -> Sequence[tuple[str, Part]]:
    if names is None and BESIDE_THE_PROJECT.is_dir():
        return PARTS
    if names is None:
        say(f"no labelled scenes beside the project: {', '.join(FILMED)} left out")
        return [(name, part) for name, part in PARTS if name not in FILMED]
    wanted = set(names.split(","))
    if unknown := wanted - {name for name, _ in PARTS}:
        raise SystemExit(f"No part is called {', '.join(unknown)}. There are: {', '.join(dict(PARTS))}.")
    return [(name, part) for name, part in PARTS if name in wanted]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of parts, with commas between them")
    parser.add_argument("--quick", action="store_true", help="measure times less often")
    parser.add_argument("--pictures", type=Path, default=ROOT / "var" / "dashboard", help="folder for the screenshots")
    add_allowance(parser)
    arguments = parser.parse_args()
    parts, pictures = chosen(arguments.only), arguments.pictures
    shutil.rmtree(pictures, ignore_errors=True)
    started = time.monotonic()
    with ExitStack() as open_things:
        mailbox = open_things.enter_context(running_mail_server())
        mails = f"smtp://127.0.0.1:{mailbox.port}?tls=no"
        stack = open_things.enter_context(running_product(log_level="info", email_url=mails))
        world = make_world(stack)
        browser = open_things.enter_context(open_browser())
        person = Person(browser, stack.console_url, pictures)
        repeats = QUICK_REPEATS if arguments.quick else REPEATS
        stage = Stage(stack, person, world, mailbox, pictures, repeats, open_things, browsers={"person": browser})
        stage.sign_in(OWNER)
        figures, failures = travel(stage, parts)
        figures += close(stage, seconds=time.monotonic() - started)
    judge(figures, failures, quick=arguments.quick, allow=arguments.allow)


if __name__ == "__main__":
    main()
