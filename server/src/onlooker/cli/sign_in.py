"""`onlooker sign-in`: what this server's operator decides about organisations' own sign-in."""

import click

from onlooker.cli.administration import open_django


@click.group("sign-in")
def sign_in() -> None:
    """List organisations' OpenID providers, and confirm whose e-mail domains are whose."""


@sign_in.command("list")
def list_providers() -> None:
    """List all organisations with their providers and confirmed domains."""
    open_django()
    from onlooker.console.sign_in.commands import list_providers

    click.echo("\n".join(list_providers()))


@sign_in.command("domain")
@click.argument("organisation", type=int)
@click.argument("domain")
@click.option("--remove", is_flag=True, help="Take the confirmation back; accounts that exist stay.")
def confirm_domain(organisation: int, domain: str, remove: bool) -> None:
    """Confirm that addresses of DOMAIN belong to ORGANISATION, by its number: its provider vouches for them."""
    open_django()
    from onlooker.console.sign_in.commands import confirm_domain, withdraw_domain

    click.echo(withdraw_domain(organisation, domain) if remove else confirm_domain(organisation, domain))
