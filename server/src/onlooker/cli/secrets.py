"""`onlooker secrets`: replaces the console's secret key without losing what the one before sealed."""

import sys

import click

from onlooker.cli.administration import open_django
from onlooker.settings import read_settings, variable_name


@click.group()
def secrets() -> None:
    """Replace the secret key: `new`, restart the consoles, `reseal`, and a week later `drop`."""


@secrets.command("new")
def new() -> None:
    """Create a new secret key in the home folder; the one before is kept there and still opens what it sealed.

    Where ONLOOKER_SECRET_KEY is set, there is nothing to create: set it to a new one, and
    ONLOOKER_SECRET_KEY_FALLBACKS to the one before.
    """
    from onlooker.console.web.secret_key import EARLIER_KEYS_FILE, KEY_FILE, replace_secret_key

    settings = read_settings()
    replace_secret_key(settings)
    click.echo(f"{settings.home_path / KEY_FILE} is new; the key before is in {EARLIER_KEYS_FILE} beside it.")
    click.echo("Restart all consoles (or `onlooker up`), then run `onlooker secrets reseal`.")


@secrets.command("reseal")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if an earlier key is still needed.")
def reseal(check: bool) -> None:
    """Encrypt with the newest key what earlier ones encrypted: second factors and the key that signs tokens.

    Run it after the consoles have been restarted with the new key. It can be stopped and repeated.
    """
    from onlooker.console.web.secret_key import require_secret_key

    require_secret_key(open_django())
    from onlooker.console.web.sealed_values import examine_seals, reseal_all

    state = examine_seals() if check else reseal_all(click.echo)
    if check:
        click.echo(f"{state.newest} sealed with the newest key, {state.earlier} with an earlier one.")
    else:
        click.echo(f"{state.earlier} sealed again; {state.newest} had the newest key already.")
    _report_unreadable(state.unreadable)
    if check and state.earlier:
        click.echo("Run `onlooker secrets reseal` after the consoles have been restarted.", err=True)
        sys.exit(1)


@secrets.command("drop")
def drop() -> None:
    """Delete the earlier keys in the home folder, unless something still needs them.

    Sessions and links in e-mails that an earlier key signed end with it. They last a week at most.
    """
    from onlooker.console.web.secret_key import EARLIER_KEYS_FILE, drop_earlier_keys, require_secret_key

    settings = open_django()
    require_secret_key(settings)
    from onlooker.console.web.sealed_values import examine_seals

    state = examine_seals()
    _report_unreadable(state.unreadable)
    if state.earlier:
        raise click.ClickException(
            f"{state.earlier} values still need an earlier key. Run `onlooker secrets reseal` first."
        )
    drop_earlier_keys(settings)
    click.echo(f"{settings.home_path / EARLIER_KEYS_FILE} is deleted. Restart all consoles.")
    if settings.secret_key_fallbacks:
        click.echo(f"{variable_name('secret_key_fallbacks')} is still set: remove it, too.")


def _report_unreadable(names: list[str]) -> None:
    """Fails if there are any."""
    if not names:
        return
    for name in names:
        click.echo(f"No key opens: {name}", err=True)
    raise click.ClickException(
        f"The key that sealed these is missing. Add it to {variable_name('secret_key_fallbacks')}, or to the file "
        "secret_key_fallbacks in the home folder, and repeat this. If it is lost for good: "
        "`onlooker account password EMAIL --remove-second-factor` for each account, and `onlooker keys rotate`."
    )
