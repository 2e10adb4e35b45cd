"""`manage webhooks`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker_client.command.manage.declaration import (
    Noun,
    Verb,
    add_id,
    add_removal,
    confirm,
    flag,
    one_id,
    said_options,
    words,
)
from onlooker_client.command.manage.output import Output

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation


def show_list(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.webhooks.list(), ("id", "name", "url", "events", "disabled_at", "disabled_why"))


def show(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.webhooks.get(arguments.id))


def add_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="where events are sent, https://...")
    parser.add_argument("--name", metavar="TEXT")
    parser.add_argument("--events", metavar="NAMES", type=words, default=[], help="comma-separated (all)")


def create(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.webhooks.create(arguments.url, name=arguments.name, events=arguments.events)
    text = f"Webhook created: {created.webhook.url} (id {created.webhook.id})"
    output.created(created, text, {"Secret": created.secret})


def add_changes(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--url", metavar="URL")
    parser.add_argument("--name", metavar="TEXT")
    parser.add_argument("--events", metavar="NAMES", type=words, help="comma-separated; empty: all")
    parser.add_argument("--enabled", metavar="yes|no", type=flag)


def change(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.webhooks.change(arguments.id, **said_options(arguments, "url", "name", "events", "enabled"))
    output.done(changed, f"Webhook changed: {changed.url}")


def delete(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Delete the webhook {arguments.id}?")
    organisation.webhooks.delete(arguments.id)
    output.done(None, "Webhook deleted.")


def new_secret(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.webhooks.new_secret(arguments.id)
    output.created(created, "For a day, messages are signed with both secrets.", {"Secret": created.secret})


def test(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    sent = organisation.webhooks.test(arguments.id)
    output.done(sent, f"A test message is on its way. What became of it: manage webhooks deliveries {arguments.id}")


def show_deliveries(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    columns = ("id", "event", "created_at", "tries", "last_status", "last_reason", "delivered_at", "failed_at")
    output.rows(organisation.webhooks.deliveries(arguments.id), columns)


def add_delivery(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("delivery", metavar="DELIVERY", help="its id, as deliveries shows it")


def replay(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    sent = organisation.webhooks.replay(arguments.id, arguments.delivery)
    output.done(sent, f"The message {sent.event} is on its way again.")


WEBHOOKS = Noun(
    "Webhooks, to which events are sent: list, create, test, delete.",
    {
        "list": Verb("List the webhooks.", show_list),
        "show": Verb("Show one webhook.", show, one_id()),
        "create": Verb("Create a webhook, and show its secret once.", create, add_new),
        "change": Verb("Change a webhook.", change, add_changes),
        "secret": Verb("Give a webhook a new secret.", new_secret, one_id()),
        "test": Verb("Send a test message.", test, one_id()),
        "deliveries": Verb("Show what became of messages.", show_deliveries, one_id()),
        "replay": Verb("Send a message again.", replay, add_delivery),
        "delete": Verb("Delete a webhook.", delete, add_removal),
    },
)
