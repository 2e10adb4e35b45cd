"""The result of a run, for people and for machines, with the stream's numbers."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

from onlooker_client.bulk.outcome import Outcome
from onlooker_client.bulk.plan import NO_NUMBERS, VideoPlan, clock, month_ends
from onlooker_client.bulk.uploader import Stopped
from onlooker_client.client import Client
from onlooker_client.errors import NotAllowed, OnlookerError
from onlooker_client.numbers.bucket import Bucket
from onlooker_client.numbers.declared import DECLARED_METRICS
from onlooker_client.terminal import Terminal

LAST_STATE_S = 1.0
"""What the last frame showed holds for so long."""
_HOW_TO_READ = (
    "To see who was interested, for how long, and more, give --username with the e-mail address of an account that "
    "can see the stream, set ONLOOKER_KEY to a key that reads numbers, or open its dashboard in the console."
)
REMARKS = {"stop_time": "on average, of the interested", "satisfaction": "0: sad or angry, 1: happy"}
TITLES = {"emotion": "Mood"}
GROUPS_FIRST = ("gender", "age", "category")
LONGEST_S = 20.0
SETTLED_S, UNSETTLED_S = 2.0, 6.0
"""How long numbers must stay as they are: with everybody in them whom the answers showed, and without."""
ASK_EVERY_S = 0.5
NAME_WIDTH, VALUE_WIDTH, BAR_WIDTH = 18, 8, 24


@dataclass(frozen=True)
class Report:
    """Everything that is known afterwards."""

    plan: VideoPlan
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
        if outcome.closed:
            screen.warn(f"{outcome.closed} frames lie outside the stream's opening hours and were not computed.")
        if outcome.failed:
            screen.warn(f"{outcome.failed} frames could not be computed. The first: {outcome.first_error}")
        if outcome.overtaken:
            screen.warn(f"{outcome.overtaken} frames were left out: the server was busy for a moment.")
        if outcome.stopped_by is None:
            screen.good(said)
            return
        screen.bad(f"Stopped at {clock(outcome.reached_s or 0.0)} of the video. {_reason(outcome.stopped_by)}".rstrip())
        screen.say(f"    {said}\n    Continue from there with:\n    {resume_command(sys.argv[1:], self.resume_s)}")

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
            "closed_frames": outcome.closed,
            "overtaken_frames": outcome.overtaken,
            "took_s": round(outcome.took_s, 2),
            "in_view": outcome.people.passed,
            "numbers": None if self.numbers is None else as_object(self.numbers),
            "numbers_missing_because": self.why_none or None,
        }
        out.write(json.dumps(said) + "\n")


def read_report(client: Client, plan: VideoPlan, outcome: Outcome, *, fps: float, told: Sequence[str] = ()) -> Report:
    """With the numbers, where somebody may read them."""
    if not client.config.username and not client.config.key:
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


def _reason(error: OnlookerError) -> str:
    if isinstance(error, Stopped):
        return ""
    if isinstance(error, NotAllowed) and error.code == "quota_exceeded":
        return f"The stream's month is used up. {month_ends(error.problem.get('resets_at'))}"
    return str(error)


def read_numbers(client: Client, from_date: datetime, to_date: datetime, *, expected: int) -> Bucket:
    """Waits until nothing changes any more: who was in view at the end is written a moment after the session ended."""
    began = known_since = time.monotonic()
    known = _ask(client, from_date, to_date)
    while True:
        now = time.monotonic()
        quiet_s = SETTLED_S if known.passing_by >= expected else UNSETTLED_S
        if now - known_since > quiet_s or now - began > LONGEST_S:
            return known
        time.sleep(ASK_EVERY_S)
        bucket = _ask(client, from_date, to_date)
        if bucket.values != known.values:
            known, known_since = bucket, now


def as_object(bucket: Bucket) -> dict[str, Any]:
    """For machines."""
    return {name: bucket[name] for name in DECLARED_METRICS}


def _ask(client: Client, from_date: datetime, to_date: datetime) -> Bucket:
    [bucket] = client.metrics(tuple(DECLARED_METRICS), from_date, to_date, time="global")
    return bucket


def print_numbers(terminal: Terminal, bucket: Bucket) -> None:
    passing, interested = bucket.passing_by, bucket.interested
    _row(terminal, "Passing by", str(passing))
    _row(terminal, "Interested", str(interested), f"{interested / passing:.0%} of them" if passing else "")
    if not interested:
        return
    for name, metric in DECLARED_METRICS.items():
        if metric.unit != "parts" and name not in ("passing_by", "interested"):
            _print_value(terminal, name, bucket[name])
    people = "person" if interested == 1 else "people"
    terminal.say(f"\n  Of the {interested} interested {people}:")
    names = [name for name, metric in DECLARED_METRICS.items() if metric.unit == "parts"]
    for name in sorted(names, key=lambda name: GROUPS_FIRST.index(name) if name in GROUPS_FIRST else len(names)):
        counts = {part.replace("_", " "): count for part, count in bucket[name].items()}
        _bars(terminal, TITLES.get(name, DECLARED_METRICS[name].title), counts, interested)


def _print_value(terminal: Terminal, name: str, value: float | None) -> None:
    """A metric that is one number; one that is not known has a dash, or where it may be switched off no line."""
    metric = DECLARED_METRICS[name]
    if metric.unit == "share" and value is None:
        return
    shown = (
        "-" if value is None else {"seconds": f"{value:.1f} s", "share": f"{value:.2f}"}.get(metric.unit, str(value))
    )
    _row(terminal, metric.title, shown, REMARKS.get(name, ""))


def print_seen(terminal: Terminal, *, passed: int, most_at_once: int) -> None:
    """What the answers alone show."""
    _row(terminal, "In view", str(passed), "for at least a second")
    _row(terminal, "Most at once", str(most_at_once))


def _bars(terminal: Terminal, title: str, counts: Mapping[str, int], of: int) -> None:
    """One line for each that was there."""
    there = [(name, count) for name, count in counts.items() if count]
    for number, (name, count) in enumerate(there or [("none known", 0)]):
        full, empty = ("■", "·") if terminal.has_unicode else ("#", ".")
        done = round(BAR_WIDTH * count / of)
        bar = terminal.paint(full * done, "green") + terminal.paint(empty * (BAR_WIDTH - done), "grey")
        shown = "not known" if name == "?" else name
        terminal.say(f"  {title if number == 0 else '':<{NAME_WIDTH}}{shown:<16}{bar}{count:>5}")


def _row(terminal: Terminal, name: str, value: str, remark: str = "") -> None:
    figure = terminal.paint(f"{value:>{VALUE_WIDTH}}", "bold")
    terminal.say(f"  {name:<{NAME_WIDTH}}{figure}   {terminal.paint(remark, 'grey') if remark else ''}".rstrip())
