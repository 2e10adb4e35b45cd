"""`onlooker keys`: what the keys are that sign tokens, and replacing them."""

import click

from onlooker.console.tokens.keys import KeyStillNeededError, live_keys, rotate_keys


def list_keys() -> None:
    """The one that signs comes first."""
    keys = list(live_keys())
    if not keys:
        click.echo("There is no key yet. The first token, or `onlooker keys rotate`, makes one.")
        return
    click.echo(f"{'kid':43}  {'made':16}  verifies until (UTC)")
    for key in keys:
        until = f"{key.retires_at:%Y-%m-%d %H:%M}" if key.retires_at else "the next rotation, and signs"
        click.echo(f"{key.kid}  {key.created_at:%Y-%m-%d %H:%M}  {until}")


def replace_key(*, now: bool) -> None:
    try:
        key = rotate_keys(now=now)
    except KeyStillNeededError as error:
        raise click.ClickException(
            f"{error} Rotate after that; or end all keys there are, and every token with them, "
            "with `onlooker keys rotate --now`: programs must then ask for new tokens."
        ) from None
    click.echo(f"{key.kid} signs from now on.")
    if now:
        click.echo("All tokens given before have ended.")
    else:
        click.echo("Tokens given before live on until they expire.")
