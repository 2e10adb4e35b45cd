"""What came of it, as a table for people."""

from __future__ import annotations

from collections.abc import Mapping

from onlooker_client.numbers.bucket import Bucket
from onlooker_client.terminal import Terminal

NAME_WIDTH, VALUE_WIDTH, BAR_WIDTH = 18, 8, 24


def print_numbers(terminal: Terminal, bucket: Bucket) -> None:
    passing, interested = bucket.passing_by, bucket.interested
    _row(terminal, "Passing by", str(passing))
    _row(terminal, "Interested", str(interested), f"{interested / passing:.0%} of them" if passing else "")
    if not interested:
        return
    _row(terminal, "Stop time", _seconds(bucket.stop_time), "on average, of the interested")
    _row(terminal, "Attention time", _seconds(bucket.attention_time))
    if bucket.satisfaction is not None:
        _row(terminal, "Satisfaction", f"{bucket.satisfaction:.2f}", "0: sad or angry, 1: happy")
    people = "person" if interested == 1 else "people"
    terminal.say(f"\n  Of the {interested} interested {people}:")
    category = {name.replace("_", " "): count for name, count in bucket.category.items()}
    groups = {"Gender": bucket.gender, "Age": bucket.age, "Category": category, "Mood": bucket.emotion}
    for title, counts in groups.items():
        _bars(terminal, title, counts, interested)


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


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"
