"""`onlooker webhook`: where the events of an organisation are sent."""

from typing import TYPE_CHECKING

import click

from onlooker.cli.administration import open_django

if TYPE_CHECKING:
    from onlooker.webhooks.models import Endpoint


@click.group()
def webhook() -> None:
    """List, create, test and remove webhooks of organisations."""


@webhook.command("list")
def list_webhooks() -> None:
    """List all webhooks; log lines name a webhook by its number."""
    open_django()
    from onlooker.webhooks.models import Endpoint

    click.echo(f"{'number':>6}  {'organisation':>12}  {'state':8}  {'waiting':>7}  host, name, events")
    for one in Endpoint.objects.order_by("pk"):
        state = "disabled" if one.disabled_at else "failing" if one.failures else "works"
        parts = (one.host, one.name, " ".join(one.events) or "all")
        named = ", ".join(filter(None, parts))
        click.echo(f"{one.pk:6}  {one.organisation_id:12}  {state:8}  {one.waiting().count():7}  {named}")


@webhook.command("create")
@click.argument("organisation", type=int)
@click.argument("url")
@click.option("--name", default="", help="By which people know it.")
@click.option("--event", "events", multiple=True, metavar="EVENT", help="Only this one; may be repeated.")
def create(organisation: int, url: str, name: str, events: tuple[str, ...]) -> None:
    """Send the events of ORGANISATION, by its number, to URL. Prints the signing secret, once."""
    settings = open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.console.web.secret_key import require_secret_key
    from onlooker.console.webhooks.endpoints import create_endpoint
    from onlooker.streams.models import Organisation
    from onlooker.streams.organisations import RefusedError

    require_secret_key(settings)
    found = Organisation.objects.filter(pk=organisation).first()
    if found is None:
        raise click.ClickException(f"There is no organisation {organisation}. `onlooker organisation list` shows all.")
    try:
        with acting_as(command_actor()):
            made = create_endpoint(found, url, events=events, name=name)
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    click.echo(made.secret)
    click.echo(f"Webhook {made.endpoint.pk} created. The secret is not shown again.", err=True)


@webhook.command("test")
@click.argument("number", type=int)
def test(number: int) -> None:
    """Send a test event to a webhook, by its number."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.console.webhooks.endpoints import send_test
    from onlooker.streams.organisations import RefusedError

    try:
        with acting_as(command_actor()):
            sent = send_test(_endpoint(number))
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{sent.message_id} waits for a console to deliver it. The webhook's page shows what became of it.")


@webhook.command("remove")
@click.argument("number", type=int)
def remove(number: int) -> None:
    """Remove a webhook, by its number, with what still waits to be sent."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.console.webhooks.endpoints import remove_endpoint

    found = _endpoint(number)
    with acting_as(command_actor()):
        remove_endpoint(found)
    click.echo(f"Webhook {number} removed.")


def _endpoint(number: int) -> "Endpoint":
    from onlooker.webhooks.models import Endpoint

    found = Endpoint.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no webhook {number}. `onlooker webhook list` shows all.")
    return found
