"""`manage templates` and `manage codes`."""

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
)
from onlooker_client.command.manage.output import Output
from onlooker_client.command.manage.streams import add_new_options

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation


def show_templates(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.templates.list(), ("id", "name", "source", "settings", "device_settings"))


def show_template(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.templates.get(arguments.id))


def add_template_options(parser: argparse.ArgumentParser) -> None:
    add_new_options(parser)
    parser.add_argument("--source", metavar="CAMERA", help="the agent's camera (0)")


def create_template(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.templates.create(
        arguments.name,
        preset=arguments.preset,
        place=arguments.place,
        compute=arguments.compute,
        time_zone=arguments.time_zone,
        hours=arguments.hours,
        source=arguments.source,
        notice_given=arguments.notice_given or None,
        idempotency_key=arguments.idempotency_key,
    )
    output.done(created, f"Template created: {created.name} (id {created.id})")


def add_configuration(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_settings(parser)


def configure_template(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.templates.configure(arguments.id, read_settings(arguments.settings))
    output.done(changed, f"Devices of {changed.name} get the change within a minute or two.")


def delete_template(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Delete the template {arguments.id}? Codes for it end; streams and devices stay.")
    organisation.templates.delete(arguments.id)
    output.done(None, "Template deleted.")


def add_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--open", action="store_true", help="only those that devices can still enrol with")


def show_codes(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    found = organisation.codes.list(state="open" if arguments.open else None)
    columns = ("id", "beginning", "state", "template", "site", "stream", "devices", "devices_at_most", "expires_at")
    output.rows(found, columns)


def show_code(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.codes.get(arguments.id))


def add_code_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", metavar="TEMPLATE", type=int, help="id of the template")
    parser.add_argument("--site", metavar="ID", type=int, help="where the devices' streams stand")
    parser.add_argument("--devices", metavar="N", type=int, help="how many may enrol with it (1)")
    parser.add_argument("--life-days", metavar="N", type=int, help="how long it works (7)")
    parser.add_argument(
        "--idempotency-key", metavar="TEXT", help="of the request: the same again within a day changes nothing"
    )


def create_code(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.codes.create(
        arguments.template,
        site=arguments.site,
        devices=arguments.devices,
        life_days=arguments.life_days,
        idempotency_key=arguments.idempotency_key,
    )
    server = organisation.config.console_url
    text = f"On each device, run: onlooker-agent enrol CODE --server {server}"
    output.created(created, text, {"CODE": created.code})


def end_code(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    ended = organisation.codes.end(arguments.id)
    output.done(ended, f"Code ended: {ended.beginning}...")


TEMPLATES = Noun(
    "Templates, which devices begin with: list, create, configure, delete.",
    {
        "list": Verb("List the templates.", show_templates),
        "show": Verb("Show one template.", show_template, one_id()),
        "create": Verb("Create a template.", create_template, add_template_options),
        "configure": Verb("Change settings of all devices of a template.", configure_template, add_configuration),
        "delete": Verb("Delete a template; streams and devices stay.", delete_template, add_removal),
    },
)
CODES = Noun(
    "Enrolment codes, with which devices join: list, create, end.",
    {
        "list": Verb("List the codes.", show_codes, add_state),
        "show": Verb("Show one code; its text is not shown again.", show_code, one_id()),
        "create": Verb("Create a code, and show it once.", create_code, add_code_options),
        "end": Verb("Let no more devices enrol with a code.", end_code, one_id()),
    },
)
