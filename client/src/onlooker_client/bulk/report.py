"""How it ended and what came of it, for people and for machines."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from onlooker_client.bulk.numbers import as_object, read_numbers
from onlooker_client.bulk.outcome import Outcome
from onlooker_client.bulk.plan import Plan, clock
from onlooker_client.bulk.sending import Stopped
from onlooker_client.bulk.standing import NO_NUMBERS, month_ends
from onlooker_client.bulk.summary import print_numbers, print_seen
from onlooker_client.client import Client
from onlooker_client.errors import NotAllowed, OnlookerError
from onlooker_client.numbers.bucket import Bucket
from onlooker_client.terminal import Terminal

LAST_STATE_S = 1.0
"""What the last frame showed holds for so long."""


@dataclass(frozen=True)
class Report:
    """Everything that is known afterwards."""

    plan: Plan
    outcome: Outcome
    fps: float
    numbers: Bucket | None
    why_none: str = ""
    """Why there are no numbers."""
    is_told: bool = False
    """Whether the person has read that already, before anything was sent."""

    @property
    def sent_s(self) -> float:
        reached_s = self.outcome.reached_s
        return 0.0 if reached_s is None else reached_s + 1 / self.fps - self.plan.from_s

    @property
    def resume_s(self) -> float:
        reached_s = self.outcome.reached_s
        return self.plan.from_s if reached_s is None else reached_s + 1 / self.fps

    def print_end(self, screen: Terminal) -> None:
        """How far it came, and how to go on from there."""
        outcome, took_s = self.outcome, max(self.outcome.took_s, 0.001)
        speed = f"{outcome.frames / took_s:.0f} a second, {self.sent_s / took_s:.1f} times as fast as filmed"
        said = f"{outcome.frames:,} frames in {clock(took_s)}, {speed}"
        if outcome.failed:
            screen.warn(f"{outcome.failed} frames could not be computed. The first: {outcome.first_error}")
        if outcome.overtaken:
            screen.warn(f"{outcome.overtaken} frames were left out: the server was busy for a moment.")
        if outcome.stopped_by is None:
            screen.good(said)
            return
        screen.bad(f"Stopped at {clock(outcome.reached_s or 0.0)} of the video. {_reason(outcome.stopped_by)}".rstrip())
        screen.say(f"    {said}\n    Go on from there with:\n    {resume_command(sys.argv[1:], self.resume_s)}")

    def print_summary(self, terminal: Terminal) -> None:
        terminal.say()
        if self.numbers is not None:
            print_numbers(terminal, self.numbers)
        else:
            people = self.outcome.people
            print_seen(terminal, passed=people.passed, most_at_once=people.most_at_once)
            if not self.is_told:
                terminal.say()
                terminal.say(textwrap.fill(self.why_none, terminal.width, initial_indent="  ", subsequent_indent="  "))

    def print_json(self, out: TextIO) -> None:
        outcome, plan = self.outcome, self.plan
        said: dict[str, Any] = {
            "video": str(plan.video),
            "from_date": plan.moment(plan.from_s).isoformat(),
            "to_date": plan.moment(plan.from_s + self.sent_s).isoformat(),
            "is_complete": outcome.stopped_by is None,
            "reason": None if outcome.stopped_by is None else str(outcome.stopped_by),
            "resume_s": None if outcome.stopped_by is None else round(self.resume_s, 3),
            "frames": outcome.frames,
            "failed_frames": outcome.failed,
            "overtaken_frames": outcome.overtaken,
            "took_s": round(outcome.took_s, 2),
            "in_view": outcome.people.passed,
            "numbers": None if self.numbers is None else as_object(self.numbers),
            "numbers_missing_because": self.why_none or None,
        }
        out.write(json.dumps(said) + "\n")


def read_report(client: Client, plan: Plan, outcome: Outcome, *, fps: float, told: Sequence[str] = ()) -> Report:
    """With the numbers, where somebody may read them."""
    if not client.config.username:
        return Report(plan, outcome, fps, None, _HOW_TO_READ)
    if outcome.reached_s is None:
        return Report(plan, outcome, fps, None, "Nothing was sent.")
    to_date = plan.moment(outcome.reached_s + LAST_STATE_S)
    try:
        numbers = read_numbers(client, plan.moment(plan.from_s), to_date, expected=outcome.people.passed)
    except OnlookerError as error:
        is_told = f"{NO_NUMBERS}{error}" in told
        return Report(plan, outcome, fps, None, f"The numbers can't be read: {error}", is_told)
    return Report(plan, outcome, fps, numbers)


def resume_command(given: list[str], from_s: float) -> str:
    """The same command, from another position on."""
    kept, skips = [], False
    for word in given:
        if not skips and word != "--from" and not word.startswith("--from="):
            kept.append(word)
        skips = word == "--from"
    return shlex.join(["onlooker-agent", *kept, "--from", f"{from_s:.2f}"])


_HOW_TO_READ = (
    "For who was interested, for how long, and more: give --username, the e-mail address of an account that sees the "
    "stream; or look at its dashboard in the console."
)


def _reason(error: OnlookerError) -> str:
    if isinstance(error, Stopped):
        return ""
    if isinstance(error, NotAllowed) and error.code == "quota_exceeded":
        return f"The stream's month is used up. {month_ends(error.problem.get('resets_at'))}"
    return str(error)
