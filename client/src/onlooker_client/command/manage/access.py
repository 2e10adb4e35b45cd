"""`manage organisation`, `manage members` and `manage keys`: who may do what."""

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
)
from onlooker_client.command.manage.output import Output

if TYPE_CHECKING:
    from onlooker_client.manage import Organisation

ROLES = ("owner", "manager", "analyst", "viewer")
SCOPES = ("numbers", "manage", "enrol", "frames")


def show_organisation(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.get())


def add_organisation_changes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", metavar="TEXT")
    parser.add_argument(
        "--requires-second-factor", metavar="yes|no", type=flag, help="members without one see nothing of it"
    )


def change_organisation(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.change(**said_options(arguments, "name", "requires_second_factor"))
    output.done(changed, f"Organisation changed: {changed.name}")


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--search", metavar="TEXT", help="only those with this in their address")


def show_members(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.members.list(search=arguments.search), ("id", "email", "role", "sites", "created_at"))


def add_sites(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--site",
        dest="sites",
        metavar="ID",
        type=int,
        action="append",
        help="that a viewer sees; repeat it for more",
    )


def add_invitation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("emails", metavar="E-MAIL", nargs="+", help="whom to invite")
    parser.add_argument("--role", choices=ROLES, default="viewer", help="what they may do (viewer)")
    add_sites(parser)


def invite(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    said = organisation.members.invite(arguments.emails, arguments.role, sites=arguments.sites or ())
    output.done(said, f"Invited: {', '.join(said.invited) or 'nobody'}")
    if said.refused and not output.is_json:
        output.terminal.warn(f"The mail server refuses these, so nobody is invited there: {', '.join(said.refused)}")


def add_member_changes(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--role", choices=ROLES, help="what they may do")
    add_sites(parser)


def change_member(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    changed = organisation.members.change(arguments.id, **said_options(arguments, "role", "sites"))
    output.done(changed, f"{changed.email} is {changed.role}.")


def remove_member(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Remove the member {arguments.id}?")
    organisation.members.remove(arguments.id)
    output.done(None, "Member removed.")


def show_invitations(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.rows(organisation.members.invitations(), ("id", "email", "role", "sites", "expires_at"))


def withdraw(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    organisation.members.withdraw(arguments.id)
    output.done(None, "Invitation withdrawn.")


def show_keys(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    columns = ("id", "name", "beginning", "scopes", "role", "used_at", "expires_at", "revoked_at")
    output.rows(organisation.keys.list(), columns)


def show_key(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    output.record(organisation.keys.get(arguments.id))


def add_key_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "--scope",
        dest="scopes",
        choices=SCOPES,
        action="append",
        required=True,
        help="what it may do; several times for more",
    )
    parser.add_argument("--site", dest="sites", metavar="ID", type=int, action="append", help="only this site")
    parser.add_argument("--stream", dest="streams", metavar="LOGIN", action="append", help="only this stream")
    parser.add_argument("--life-days", metavar="N", type=float, help="how long it works (no end)")
    parser.add_argument("--role", choices=("manager", "owner"), help="as whom it manages (manager)")


def create_key(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    created = organisation.keys.create(
        arguments.name,
        arguments.scopes,
        sites=arguments.sites or (),
        streams=arguments.streams or (),
        life_days=arguments.life_days,
        role=arguments.role,
    )
    output.created(created, f"Key created: {created.key.name}", {"Key": created.text})


def revoke_key(organisation: Organisation, arguments: argparse.Namespace, output: Output) -> None:
    confirm(arguments, f"Revoke the key {arguments.id}? Programs that have it are refused from now on.")
    organisation.keys.revoke(arguments.id)
    output.done(None, "Key revoked.")


ORGANISATION = Noun(
    "The organisation itself: show, change.",
    {
        "show": Verb("Show the organisation that the key belongs to.", show_organisation),
        "change": Verb("Change the organisation.", change_organisation, add_organisation_changes),
    },
)
MEMBERS = Noun(
    "People: list, invite, change, remove.",
    {
        "list": Verb("List the members.", show_members, add_search),
        "invite": Verb("Invite people by e-mail.", invite, add_invitation),
        "change": Verb("Change what a member may do.", change_member, add_member_changes),
        "remove": Verb("Remove a member.", remove_member, add_removal),
        "invitations": Verb("List invitations without an answer.", show_invitations),
        "withdraw": Verb("Withdraw an invitation.", withdraw, one_id()),
    },
)
KEYS = Noun(
    "Keys for programs: list, create, revoke.",
    {
        "list": Verb("List the keys.", show_keys),
        "show": Verb("Show one key; its text is not shown again.", show_key, one_id()),
        "create": Verb("Create a key, and show it once.", create_key, add_key_options),
        "revoke": Verb("Revoke a key.", revoke_key, add_removal),
    },
)
