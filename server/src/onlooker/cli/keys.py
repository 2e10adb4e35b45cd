"""`onlooker keys`: the keys that sign tokens."""

import click

from onlooker.cli.opening import open_django


@click.group()
def keys() -> None:
    """List and replace the keys that sign tokens."""


@keys.command("list")
def list_keys() -> None:
    """List the keys that verify tokens; the first one signs."""
    open_django()
    from onlooker.console.tokens.commands import list_keys

    list_keys()


@keys.command("rotate")
@click.option("--now", is_flag=True, help="End the keys there are at once, and every token with them.")
def rotate(now: bool) -> None:
    """Sign with a new key from now on; the one before verifies until its last token has expired (5 hours)."""
    settings = open_django()
    from onlooker.console.secret import require_secret_key
    from onlooker.console.tokens.commands import replace_key

    require_secret_key(settings)
    replace_key(now=now)
