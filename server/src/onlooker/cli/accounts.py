"""`onlooker account`: accounts of the console, for those who host it."""

from typing import Any

import click

from onlooker.cli.opening import open_django


@click.group()
def account() -> None:
    """Make, list and delete accounts of the console."""


@account.command("create")
@click.argument("email")
@click.option("--staff", is_flag=True, help="Lets it into the staff's pages.")
def create_account(email: str, staff: bool) -> None:
    """Make an account; its password is asked for, or read as one line from standard input."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.create_account(email, is_staff=staff))


@account.command("set")
@click.argument("email")
@click.option("--staff/--no-staff", "is_staff", default=None, help="Whether it is let into the staff's pages.")
@click.option("--active/--inactive", "is_active", default=None, help="Whether it can be used at all.")
def change_account(email: str, **given: Any) -> None:
    """Change what an account may do; the streams of an inactive one refuse all frames."""
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker account set --help` lists what can be set.")
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.set_account(email, changes))


@account.command("password")
@click.argument("email")
@click.option("--remove-second-factor", is_flag=True, help="For somebody who lost it, and the recovery codes.")
def change_password(email: str, remove_second_factor: bool) -> None:
    """Set an account's password and end its sessions."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.change_password(email, removes_second_factor=remove_second_factor))


@account.command("list")
def list_accounts() -> None:
    """List all accounts."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo("\n".join(commands.list_accounts()))


@account.command("delete")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Really delete it.")
def delete_account(email: str, yes: bool) -> None:
    """Delete an account with all its streams and what was measured with them."""
    if not yes:
        raise click.UsageError("This deletes all streams of the account too. Say --yes to do it.")
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.delete_account(email))
