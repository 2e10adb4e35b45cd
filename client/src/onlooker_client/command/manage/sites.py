"""`manage sites`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker_client.command.manage.declaration import (
    Noun,
    Verb,
    add_id,
    add_removal,
    add_settings,
    confirm,
    one_id,
    read_settings,
    said_options,
)
from onlooker_client.command.manage.output import Output

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--search", metavar="TEXT", help="only those with this in their name")


def show_list(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.sites.list(search=arguments.search), ("id", "name", "address", "time_zone", "streams"))


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.sites.get(arguments.id))


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--address", metavar="TEXT", help="its postal address")
    parser.add_argument("--time-zone", metavar="ZONE", help="such as Europe/Paris")
    parser.add_argument("--hours", metavar="TEXT", help='opening hours, such as "mo-fr 09:00-18:30"')


def add_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    add_place(parser)


def create(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.sites.create(
        arguments.name, address=arguments.address, time_zone=arguments.time_zone, hours=arguments.hours
    )
    output.done(created, f"Site created: {created.name} (id {created.id})")


def add_changes(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--name", metavar="TEXT")
    add_place(parser)


def change(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    said = said_options(arguments, "name", "address", "time_zone", "hours")
    changed = organisation.sites.change(arguments.id, **said)
    output.done(changed, f"Site changed: {changed.name}")


def add_configuration(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_settings(parser)


def configure(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.sites.change(arguments.id, device_settings=read_settings(arguments.settings))
    output.done(changed, f"The devices of {changed.name} get the change within a minute or two.")


def delete(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Delete the site {arguments.id}? Its streams stay, without a site.")
    organisation.sites.delete(arguments.id)
    output.done(None, "Site deleted.")


SITES = Noun(
    "Sites, where streams stand: list, create, change, delete.",
    {
        "list": Verb("List the sites.", show_list, add_search),
        "show": Verb("Show one site.", show, one_id()),
        "create": Verb("Create a site.", create, add_new),
        "change": Verb("Change a site.", change, add_changes),
        "configure": Verb("Change settings of all devices at a site.", configure, add_configuration),
        "delete": Verb("Delete a site; its streams stay.", delete, add_removal),
    },
)
