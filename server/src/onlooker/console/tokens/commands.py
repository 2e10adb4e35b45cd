"""`onlooker keys`: lists and replaces the keys that sign tokens."""

import click

from onlooker.console.tokens.signing_keys import KeyInUseError, live_keys, rotate_keys


def list_keys() -> None:
    """The key that signs comes first."""
    keys = list(live_keys())
    if not keys:
        click.echo("There is no key yet. The first token, or `onlooker keys rotate`, creates one.")
        return
    click.echo(f"{'kid':43}  {'created':16}  verifies until (UTC)")
    for key in keys:
        until = f"{key.retires_at:%Y-%m-%d %H:%M}" if key.retires_at else "the next rotation (signs)"
        click.echo(f"{key.kid}  {key.created_at:%Y-%m-%d %H:%M}  {until}")


def replace_key(*, now: bool) -> None:
    try:
        key = rotate_keys(now=now)
    except KeyInUseError as error:
        raise click.ClickException(
            f"{error} Rotate after that, or run `onlooker keys rotate --now` to end all existing keys and tokens now; "
            "programs must then request new tokens."
        ) from None
    click.echo(f"{key.kid} now signs tokens.")
    if now:
        click.echo("All earlier tokens have ended.")
    else:
        click.echo("Earlier tokens stay valid until they expire.")
