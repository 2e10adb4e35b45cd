"""`onlooker-client metrics`: a stream's numbers, as a table, JSON, CSV or Parquet."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_server_options, read_config
from onlooker_client.errors import BadArgument, BadRequest
from onlooker_client.moments import read_moment
from onlooker_client.numbers.bucket import Bucket
from onlooker_client.numbers.declared import DECLARED_DIMENSIONS, DECLARED_METRICS
from onlooker_client.numbers.metrics import TIMES, Metrics
from onlooker_client.terminal import Terminal

SUMMARY = "Show the stream's numbers."
USUAL = "passing_by,interested,stop_time,attention_time"
DAYS = 7
WRONG_QUESTION = 400
TIMES_BY_NAME = {time.replace("by_", "").replace("_", "-"): time for time in TIMES}
"""Such as `quarter-hour`."""
FORMS = {
    "by_quarter_hour": "%a %d %b %Y %H:%M",
    "by_hour": "%a %d %b %Y %H:%M",
    "by_day": "%a %d %b %Y",
    "by_week": "%a %d %b %Y",
    "by_month": "%b %Y",
    "global": "%d %b %Y %H:%M",
}
"""Of a bucket's start."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--metrics", default=USUAL, metavar="NAMES", help=f"comma-separated ({USUAL})")
    parser.add_argument("--from", dest="from_date", metavar="MOMENT", help=f"start ({DAYS} days ago)")
    parser.add_argument("--to", dest="to_date", metavar="MOMENT", help="end (now)")
    parser.add_argument("--by", choices=tuple(TIMES_BY_NAME), default="day", help="the buckets (day)")
    parser.add_argument(
        "--dimensions", metavar="NAMES", help=f"break down by one or two of {', '.join(DECLARED_DIMENSIONS)}"
    )
    parser.add_argument("--filter", metavar="PARTS", help="only visits such as gender:female,age:25-34")
    parser.add_argument("--tz", metavar="ZONE", help="time zone, such as Europe/Paris (the stream's own)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a line")
    form.add_argument("--csv", action="store_true", help="a table for a spreadsheet")
    form.add_argument("--parquet", metavar="FILE", help="a file of Apache Parquet, with types")
    add_server_options(parser)
    parser.add_argument(
        "--username", metavar="E-MAIL", help="who reads the numbers (or ONLOOKER_USERNAME; not with ONLOOKER_KEY)"
    )


def run(arguments: argparse.Namespace) -> int:
    for option, moment in (("--from", arguments.from_date), ("--to", arguments.to_date)):
        _check_moment(option, moment)
    from_date = arguments.from_date or datetime.now(timezone.utc) - timedelta(days=DAYS)
    time = TIMES_BY_NAME[arguments.by]
    with Client(config=read_config(arguments)) as client:
        metrics = client.metrics(
            arguments.metrics.split(","),
            from_date,
            arguments.to_date,
            time=time,
            tz=arguments.tz,
            by=arguments.dimensions or (),
            filter=arguments.filter,
        )
        try:
            _write(metrics, arguments)
        except BadRequest as refused:
            if refused.status != WRONG_QUESTION:
                raise
            raise BadArgument(refused.detail) from None
    return exit_codes.OK


def _write(metrics: Metrics, arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(metrics)
    elif arguments.csv:
        write_csv(metrics)
    elif arguments.parquet:
        metrics.save_parquet(arguments.parquet)
    else:
        show_table(Terminal.of(), metrics)


def _check_moment(option: str, text: str | None) -> None:
    if text is None:
        return
    try:
        read_moment(text)
    except ValueError:
        raise BadArgument(
            f"{option} {text} is not a valid time. Examples: 2026-11-01, 2026-11-01T09:00+01:00"
        ) from None


def write_json(metrics: Metrics) -> None:
    for bucket in metrics:
        print(json.dumps({"start": bucket.start.isoformat(), **bucket.values}))


def write_csv(metrics: Metrics) -> None:
    writer = None
    for row in (row for bucket in metrics for row in bucket.rows()):
        if writer is None:
            writer = csv.DictWriter(sys.stdout, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow({**row, "start": row["start"].isoformat()})


def show_table(terminal: Terminal, metrics: Metrics) -> None:
    form = FORMS[metrics.query.time]
    rows = [(one, _columns(one, metrics)) for bucket in metrics for one in bucket.cells or [bucket]]
    heads = ["start", *map(_head, rows[0][1])] if rows else []
    cells = [[bucket.start.strftime(form), *columns.values()] for bucket, columns in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells)]
    terminal.say(terminal.paint(_line(heads, widths), "bold"))
    for row in cells:
        terminal.say(_line(row, widths))
    terminal.say(terminal.paint(_range(metrics), "grey"))
    if not metrics.is_exact:
        terminal.warn("Not exact: the range cuts through visits that have since been deleted.")


def _columns(bucket: Bucket, metrics: Metrics) -> dict[str, str]:
    """What was asked for, and how much was watched. In a gap nobody was counted because nobody watched: no zeros."""
    columns: dict[str, str] = dict(bucket.by)
    for metric in metrics.query.metrics:
        is_gap = bucket.is_gap and metric in DECLARED_METRICS
        shown = {column: None if is_gap and not value else value for column, value in bucket.columns(metric).items()}
        columns.update({column: _cell(value) for column, value in shown.items()})
    if "watched" in metrics.query.carried:
        share = bucket.watched_share
        columns["watched"] = "-" if share is None else f"{share:.0%}"
    return columns


def _range(metrics: Metrics) -> str:
    """Where it begins and ends, to the second where that matters, both by one clock."""
    ends = [moment.astimezone(metrics.to_date.tzinfo) for moment in (metrics.from_date, metrics.to_date)]
    form = "%d %b %Y %H:%M:%S" if any(moment.second for moment in ends) else "%d %b %Y %H:%M"
    begin, end = (moment.strftime(form) for moment in ends)
    return f"{begin} to {end} {getattr(ends[1].tzinfo, 'key', ends[1].tzname())}"


def _head(column: str) -> str:
    words = column.replace("_", " ")
    return f"{words} (s)" if column.endswith("_time") or column.startswith("gaps_") else words


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [(cell, width) for cell, width in zip(cells, widths)]
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])
