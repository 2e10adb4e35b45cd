"""`manage streams` and `manage tags`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker_client.command.manage.declaration import (
    Noun,
    Verb,
    add_id,
    add_selection,
    add_yes,
    confirm,
    flag,
    one_id,
    read_selection,
    said_options,
    words,
)
from onlooker_client.command.manage.output import Output

if TYPE_CHECKING:
    from onlooker_client.manage import BulkChange, Organisation

CHANGES = (
    *("name", "enabled", "time_zone", "hours", "place", "compute", "reads_faces", "reads_age", "reads_gender"),
    *("reads_expression", "retention_days", "groups_of", "silence_alert_minutes", "blind_alert_minutes"),
    "unusual_alert",
)
FLAGS = ("enabled", "reads_faces", "reads_age", "reads_gender", "reads_expression", "unusual_alert")
NUMBERS = ("retention_days", "groups_of", "silence_alert_minutes", "blind_alert_minutes")


def add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--site", metavar="ID", type=int, help="only those of a site")
    parser.add_argument("--tag", metavar="NAME", help="only those with a tag")
    parser.add_argument("--search", metavar="TEXT", help="only those with this in their name")


def show_list(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    found = organisation.streams.list(site=arguments.site, tag=arguments.tag, search=arguments.search)
    output.rows(found, ("client_id", "name", "kind", "enabled", "site", "tags", "last_frame_at"))


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.streams.get(arguments.id))


def add_new_options(parser: argparse.ArgumentParser) -> None:
    """Of a stream, and of a template of streams."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--preset", metavar="WORD", help="what is computed of people, such as counts")
    parser.add_argument("--place", metavar="WORD", help="where the camera is, such as public")
    parser.add_argument("--compute", choices=("server", "device"), help="where frames are computed")
    parser.add_argument("--time-zone", metavar="ZONE", help="such as Europe/Paris")
    parser.add_argument("--hours", metavar="TEXT", help='opening hours, such as "mo-fr 09:00-18:30"')
    parser.add_argument("--notice-given", action="store_true", help="the people in front of the camera are told")
    parser.add_argument(
        "--idempotency-key", metavar="TEXT", help="of the request: the same again within a day changes nothing"
    )


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    add_new_options(parser)
    parser.add_argument("--site", metavar="ID", type=int, help="where it stands")
    parser.add_argument("--tags", metavar="NAMES", type=words, default=[], help="comma-separated")
    parser.add_argument("--kind", choices=("developer", "enterprise"), help="what is paid for")


def create(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.streams.create(
        arguments.name,
        site=arguments.site,
        tags=arguments.tags,
        preset=arguments.preset,
        place=arguments.place,
        compute=arguments.compute,
        time_zone=arguments.time_zone,
        hours=arguments.hours,
        kind=arguments.kind,
        notice_given=arguments.notice_given or None,
        idempotency_key=arguments.idempotency_key,
    )
    secrets = {"Login": created.stream.client_id, "Password": created.access_token}
    output.created(created, f"Stream created: {created.stream.name}", secrets)


def add_changes(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "LOGIN")
    for name in CHANGES:
        option = f"--{name.replace('_', '-')}"
        if name in FLAGS:
            parser.add_argument(option, metavar="yes|no", type=flag)
        elif name in NUMBERS:
            parser.add_argument(option, metavar="N", type=int)
        else:
            parser.add_argument(option, metavar="TEXT")
    parser.add_argument("--tags", metavar="NAMES", type=words, help="all that it has from now on, comma-separated")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--site", metavar="ID", type=int, help="move it to a site")
    place.add_argument("--no-site", action="store_true", help="it stands at no site")


def change(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    if arguments.no_site:
        found = {name: getattr(arguments, name) for name in (*CHANGES, "tags")}
        changes = {**{name: value for name, value in found.items() if value is not None}, "site": None}
    else:
        changes = said_options(arguments, *CHANGES, "tags", "site")
    changed = organisation.streams.change(arguments.id, **changes)
    output.done(changed, f"Stream changed: {changed.name}")


def add_removal(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "LOGIN")
    add_yes(parser)


def delete(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Delete the stream {arguments.id}, with all its numbers?")
    organisation.streams.delete(arguments.id)
    output.done(None, "Stream deleted.")


def add_grace(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "LOGIN")
    parser.add_argument("--grace-hours", metavar="N", type=float, help="how long the one before still works (1)")


def new_password(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.streams.new_password(arguments.id, grace_hours=arguments.grace_hours)
    output.created(created, "The stream has a new Password.", {"Password": created.access_token})


def add_bulk(parser: argparse.ArgumentParser) -> None:
    add_selection(parser, "stream")
    group = parser.add_argument_group("changes")
    group.add_argument("--to-site", metavar="ID", help="move them to a site; none: to no site")
    group.add_argument("--hours", metavar="TEXT", help="opening hours")
    group.add_argument("--retention-days", metavar="N", type=int, help="older visits are deleted")
    group.add_argument("--groups-of", metavar="N", type=int, help="nothing is told about fewer people")
    group.add_argument("--add-tags", metavar="NAMES", type=words, help="comma-separated")
    group.add_argument("--remove-tags", metavar="NAMES", type=words, help="comma-separated")


def change_many(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    names = ("to_site", "hours", "retention_days", "groups_of", "add_tags", "remove_tags")
    changes = said_options(arguments, *names)
    if "to_site" in changes:
        chosen = changes.pop("to_site")
        changes["site"] = None if chosen == "none" else chosen if not chosen.isdigit() else int(chosen)
    preview = not arguments.apply
    _show_change(organisation.streams.change_many(read_selection(arguments), preview=preview, **changes), output)


def _show_change(change: BulkChange, output: Output) -> None:
    if output.is_json:
        output.record(change)
        return
    output.rows(change.items, ("client_id", "name", "settings", "added_tags", "removed_tags"))
    if change.deletes_visits:
        output.terminal.warn(f"Older visits are deleted in {change.deletes_visits} streams.")
    if change.erases_singles:
        output.terminal.warn(f"What is known of people one by one is erased in {change.erases_singles} streams.")
    if change.preview:
        output.terminal.say(f"{change.changed} of {change.selected} streams would change. Add --apply to change them.")
    else:
        output.done(change, f"{change.changed} of {change.selected} streams changed.")


def show_tags(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.tags.list(), ("name", "streams"))


def add_tag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the tag")
    add_selection(parser, "stream")


def tag_streams(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    preview = not arguments.apply
    _show_change(organisation.tags.add(arguments.name, read_selection(arguments), preview=preview), output)


def untag_streams(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    preview = not arguments.apply
    _show_change(organisation.tags.remove(arguments.name, read_selection(arguments), preview=preview), output)


STREAMS = Noun(
    "Streams: list, create, change, delete.",
    {
        "list": Verb("List the streams.", show_list, add_filters),
        "show": Verb("Show one stream.", show, one_id("LOGIN")),
        "create": Verb("Create a stream, and show its Password once.", create, add_stream_options),
        "change": Verb("Change one stream.", change, add_changes),
        "change-many": Verb("Change many streams, after a preview.", change_many, add_bulk),
        "password": Verb("Give a stream a new Password.", new_password, add_grace),
        "delete": Verb("Delete a stream with all its numbers.", delete, add_removal),
    },
)
TAGS = Noun(
    "Tags of streams: list, add, remove.",
    {
        "list": Verb("List the tags.", show_tags),
        "add": Verb("Give streams a tag, after a preview.", tag_streams, add_tag),
        "remove": Verb("Take a tag from streams, after a preview.", untag_streams, add_tag),
    },
)
