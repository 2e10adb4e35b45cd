"""`manage devices`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker_client.command.manage.declaration import (
    Noun,
    Verb,
    add_id,
    add_selection,
    add_settings,
    add_yes,
    confirm,
    one_id,
    read_selection,
    read_settings,
)
from onlooker_client.command.manage.output import Output
from onlooker_client.command.manage.streams import add_filters

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation

MINUTE = (
    "at",
    "state",
    "condition",
    "light",
    "temperature_c",
    "disk_free_mb",
    "memory_mb",
    "clock_off_s",
    "latency_ms",
)


def add_list_options(parser: argparse.ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--revoked", action="store_true", help="also those that were revoked")


def show_list(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    found = organisation.devices.list(
        site=arguments.site, tag=arguments.tag, search=arguments.search, revoked=arguments.revoked
    )
    output.rows(found, ("device_id", "stream_name", "name", "machine", "version", "condition", "seen_at", "revoked_at"))


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.devices.get(arguments.id))


def show_health(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    minutes = organisation.devices.health(arguments.id)
    output.objects(minutes[-arguments.minutes :], MINUTE)


def add_minutes(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--minutes", metavar="N", type=int, default=30, help="how many of the last ones (30)")


def show_configuration(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    said = organisation.devices.configuration(arguments.id)
    if output.is_json:
        output.record(said)
    else:
        output.rows(said.versions, ("version", "state", "reason", "settings", "by", "created_at"))


def add_configuration(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_settings(parser)


def configure(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.devices.configure(arguments.id, read_settings(arguments.settings))
    output.done(changed, f"{changed.name or changed.device_id} gets the change within a minute or two.")


def offer_again(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    offered = organisation.devices.offer_again(arguments.id)
    output.done(offered, f"The device gets version {offered.version} within a minute or two.")


def add_bulk(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    add_selection(parser, "device")


def configure_many(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    change = organisation.devices.configure_many(
        read_selection(arguments), read_settings(arguments.settings), preview=not arguments.apply
    )
    if output.is_json:
        output.record(change)
        return
    output.rows(change.items, ("device_id", "stream", "settings"))
    if change.preview:
        output.terminal.say(f"{change.changed} of {change.selected} devices would change. Add --apply to change them.")
    else:
        output.done(change, f"{change.changed} of {change.selected} devices get the change within a minute or two.")


def add_revocation(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_yes(parser)


def revoke(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Revoke the device {arguments.id}? It needs a new code to come back.")
    revoked = organisation.devices.revoke(arguments.id)
    output.done(revoked, f"Device revoked: {revoked.name or revoked.device_id}")


def add_replacement(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--life-days", metavar="N", type=int, help="how long the code works (14)")


def replace(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.devices.replace(arguments.id, life_days=arguments.life_days)
    text = "On the new device, run: onlooker-agent enrol CODE. The old one is revoked when that has enrolled."
    output.created(created, text, {"CODE": created.code})


DEVICES = Noun(
    "Devices: list, health, configuration, revoke, replace.",
    {
        "list": Verb("List the devices.", show_list, add_list_options),
        "show": Verb("Show one device.", show, one_id()),
        "health": Verb("Show what a device reported, minute by minute.", show_health, add_minutes),
        "configuration": Verb("Show the configurations of a device.", show_configuration, one_id()),
        "configure": Verb("Change settings of one device.", configure, add_configuration),
        "configure-many": Verb("Change settings of many devices, after a preview.", configure_many, add_bulk),
        "offer-again": Verb("Offer again what a device refused or rolled back.", offer_again, one_id()),
        "replace": Verb("Create a code for the box that takes over.", replace, add_replacement),
        "revoke": Verb("Refuse a device from now on.", revoke, add_revocation),
    },
)
