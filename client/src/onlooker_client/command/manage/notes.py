"""`manage notes`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker_client.command.manage.declaration import Noun, Verb, add_id, add_removal, confirm, one_id, said_options
from onlooker_client.command.manage.output import Output

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation


def add_about(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stream", metavar="CLIENT_ID", help="of this stream")
    parser.add_argument("--site", metavar="ID", type=int, help="of this site")


def add_filter(parser: argparse.ArgumentParser) -> None:
    add_about(parser)
    parser.add_argument("--from-date", metavar="DAY", help="only those that touch this day or a later one")
    parser.add_argument("--to-date", metavar="DAY", help="only those that touch this day or an earlier one")


def show_list(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    found = organisation.notes.list(
        stream=arguments.stream, site=arguments.site, from_date=arguments.from_date, to_date=arguments.to_date
    )
    output.rows(found, ("id", "first_day", "last_day", "text", "site", "stream"))


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.notes.get(arguments.id))


def add_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="at most 120 characters")
    parser.add_argument("first_day", metavar="DAY", help="such as 2026-11-09, of each stream's own clock")
    parser.add_argument("--last-day", metavar="DAY", help="if there are several")
    add_about(parser)


def create(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.notes.create(
        arguments.text, arguments.first_day, arguments.last_day, stream=arguments.stream, site=arguments.site
    )
    output.done(created, f"Note created: {created.text} (id {created.id})")


def add_changes(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--text", metavar="TEXT")
    parser.add_argument("--first-day", metavar="DAY")
    parser.add_argument("--last-day", metavar="DAY")


def change(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    said = said_options(arguments, "text", "first_day", "last_day")
    changed = organisation.notes.change(arguments.id, **said)
    output.done(changed, f"Note changed: {changed.text}")


def delete(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Delete the note {arguments.id}? Charts and files no longer show it.")
    organisation.notes.delete(arguments.id)
    output.done(None, "Note deleted.")


NOTES = Noun(
    "Notes on days of streams: list, create, change, delete.",
    {
        "list": Verb("List the notes.", show_list, add_filter),
        "show": Verb("Show one note.", show, one_id()),
        "create": Verb("Write a note; without a stream or a site, about all streams.", create, add_new),
        "change": Verb("Change a note.", change, add_changes),
        "delete": Verb("Delete a note.", delete, add_removal),
    },
)
