"""`manage numbers`: of many streams, together, by day or by stream."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onlooker_client.command.manage.declaration import Noun, Verb
from onlooker_client.command.manage.output import Output
from onlooker_client.moments import in_hours

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation, StreamNumbers

SHOWN = ("passing_by", "interested", "stop_time", "attention_time")


@dataclass(frozen=True)
class _Line:
    """A stream, as the table has it."""

    client_id: str
    name: str
    passing_by: Any
    interested: Any
    stop_time: Any
    attention_time: Any
    watched: str


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stream", dest="streams", metavar="LOGIN", action="append", default=[], help="only this one")
    parser.add_argument("--site", metavar="ID", type=int, help="only the streams of a site")
    parser.add_argument("--tag", metavar="NAME", help="only the streams with a tag")
    parser.add_argument("--from", dest="from_date", metavar="DATE", help="first day (30 days ago)")
    parser.add_argument("--to", dest="to_date", metavar="DATE", help="last day (today)")
    parser.add_argument(
        "--by", choices=("total", "day", "stream"), default="total", help="all together, or by day or stream (total)"
    )


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    asked = {name: getattr(arguments, name) for name in ("streams", "site", "tag", "from_date", "to_date")}
    if arguments.by == "stream":
        each = organisation.numbers_by_stream(**asked)
        if output.is_json:
            output.rows(each, ())
        else:
            output.rows(map(_line, each), ("client_id", "name", *SHOWN, "watched"))
        return
    total = organisation.numbers(**asked)
    if arguments.by == "day":
        output.rows(total.by_day, ("day", "passing_by", "interested", "streams", "watched_s"))
    elif output.is_json:
        output.record(total)
    else:
        output.objects([{"metric": name, "value": total[name]} for name in total.metrics], ("metric", "value"))
        watched = in_hours(total.coverage.watched_s)
        text = f"{total.streams} streams, {total.from_date} to {total.to_date}; watched: {watched} ({_share(total)})"
        output.terminal.say(output.terminal.paint(text, "grey"))


def _line(numbers: StreamNumbers) -> _Line:
    shown = {name: numbers[name] if name in numbers.metrics else None for name in SHOWN}
    return _Line(numbers.client_id, numbers.name, watched=_share(numbers), **shown)


def _share(numbers: Any) -> str:
    share = numbers.coverage.share
    return "-" if share is None else f"{share:.0%}"


NUMBERS = Noun("Numbers of many streams.", itself=Verb("Numbers of many streams.", show, add_options))
