"""`onlooker device`: enrolment codes, templates, and the devices that enrolled."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from onlooker.cli.administration import find_stream, open_django
from onlooker.cli.device_configuration import find_device, set_devices, show_device
from onlooker.streams.business_hours import check_hours
from onlooker.streams.options import check_time_zone
from onlooker.streams.presets import NOTICE_TICK, USUAL, CameraPlace, Preset, check_preset, preset_settings

if TYPE_CHECKING:
    from onlooker.devices.models import DeviceTemplate
    from onlooker.streams.models import Organisation, Site

_owner = click.option(
    "--owner", default="owner@localhost", show_default=True, help="An owner of the organisation, by e-mail address."
)


@click.group()
def device() -> None:
    """Enrol, list, configure and revoke devices."""


device.add_command(show_device)
device.add_command(set_devices)


@device.command("template")
@click.argument("name")
@_owner
@click.option("--preset", type=click.Choice([one.value for one in Preset]), default=USUAL.value, show_default=True)
@click.option(
    "--place", type=click.Choice([one.value for one in CameraPlace if one]), default="public", show_default=True
)
@click.option("--notice-given", is_flag=True, help=f"{NOTICE_TICK}. The presets audience and everything need it.")
@click.option("--compute", type=click.Choice(["server", "device"]), default="server", show_default=True)
@click.option("--time-zone", default="UTC", show_default=True, help="Of streams without a site.")
@click.option("--hours", default="", help="Opening hours; a site's own, if not set.")
@click.option("--source", default="0", show_default=True, help="Camera of the devices.")
def make_template(name: str, owner: str, preset: str, notice_given: bool, source: str, **said: str) -> None:
    """Create a template: the settings that the stream of each new device starts with."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.devices.enrolment_codes import check_source, create_template
    from onlooker.streams.organisations import RefusedError

    refusal = check_preset(Preset(preset), CameraPlace(said["place"]), is_notice_given=notice_given)
    if refusal:
        raise click.UsageError(refusal)
    try:
        said |= {"time_zone": check_time_zone(said["time_zone"]), "hours": check_hours(said["hours"])}
        settings: dict[str, Any] = said | preset_settings(Preset(preset))
        with acting_as(command_actor()):
            made = create_template(
                _organisation(owner), name, settings, source=check_source(source), is_notice_given=notice_given
            )
    except (RefusedError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Template {made.name!r}. A code for it: onlooker device code --template {made.name!r}")


@device.command("code")
@_owner
@click.option("--template", "template_name", help="What new devices begin with; see `onlooker device template`.")
@click.option("--site", "site_name", help="Where they stand.")
@click.option("--devices", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many may enrol.")
@click.option("--days", type=click.FloatRange(0.001, 90), default=7, show_default=True, help="How long it works.")
@click.option("--replace", "client_id", help="For one device that takes over the stream with this client_id instead.")
@click.option("--boot-file", is_flag=True, help="Print the text of the file for boot partitions, and nothing else.")
def make_code(owner: str, client_id: str | None, days: float, boot_file: bool, **given: Any) -> None:
    """Create an enrolment code and print it; it is shown only once."""
    settings = open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.console.devices.instructions import write_boot_file
    from onlooker.console.web.secret_key import require_secret_key
    from onlooker.devices.enrolment_codes import create_code, create_replacement
    from onlooker.streams.organisations import RefusedError

    require_secret_key(settings)
    life = timedelta(days=days)
    try:
        with acting_as(command_actor()):
            if client_id:
                made = create_replacement(find_stream(client_id), life=life)
            else:
                organisation = _organisation(owner)
                template = _template(organisation, given["template_name"])
                site = _site(organisation, given["site_name"])
                made = create_code(template, site=site, devices=given["devices"], life=life)
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    if boot_file:
        click.echo(write_boot_file(made.text), nl=False)
        return
    click.echo(f"onlooker-agent enrol {made.text} --server {settings.console_url}")
    click.echo(
        f"\nFor {made.code.devices_at_most} device(s), until {made.code.expires_at:%Y-%m-%d %H:%M} UTC. "
        "The code is not shown again.",
        err=True,
    )


@device.command("list")
@click.option("--revoked", is_flag=True, help="Also those that are revoked.")
def list_devices(revoked: bool) -> None:
    """List all devices; log lines name a device by its number."""
    open_django()
    from onlooker.devices.configuration import with_configuration_state
    from onlooker.devices.models import Device

    found = Device.objects.filter(stream__removed_at=None).select_related("stream", "status").order_by("pk")
    rows = with_configuration_state(found if revoked else found.filter(revoked_at=None))
    click.echo(
        f"{'number':>6}  {'device':36}  {'state':8}  {'agent':10}  {'seen (UTC)':16}  {'configured':14}  stream, name"
    )
    for one in rows.iterator(chunk_size=1000):
        state = "revoked" if one.revoked_at else "enrolled"
        status = getattr(one, "status", None)
        agent, seen_at = (status.version, status.reported_at) if status else (one.version, one.seen_at)
        configured = f"{one.newest_version} {one.configuration_state}" if one.newest_version else "-"
        click.echo(
            f"{one.pk:6}  {one.device_id}  {state:8}  {agent:10}  {seen_at:%Y-%m-%d %H:%M}  {configured:14}  "
            f"{one.stream.name}, {one.name}"
        )


@device.command("revoke")
@click.argument("device_id", metavar="DEVICE")
def revoke(device_id: str) -> None:
    """End the credential of a device, at once; its stream stays."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.devices.enrolment import revoke_device

    found = find_device(device_id)
    with acting_as(command_actor()):
        revoke_device(found)
    click.echo(f"{found} is revoked. {found.stream.name} keeps its history.")


def _organisation(owner: str) -> "Organisation":
    from onlooker.streams.administration import account_of
    from onlooker.streams.organisations import organisation_of

    return organisation_of(account_of(owner))


def _template(organisation: "Organisation", name: str | None) -> "DeviceTemplate":
    from onlooker.devices.models import DeviceTemplate

    rows = DeviceTemplate.objects.filter(organisation=organisation)
    found = rows.filter(name=name).first() if name else rows.first()
    if found is None or (name is None and rows.count() > 1):
        names = ", ".join(rows.order_by("name").values_list("name", flat=True)) or "there is none"
        raise click.UsageError(f"Name a template with --template ({names}), or create one: onlooker device template")
    return found


def _site(organisation: "Organisation", name: str | None) -> "Site | None":
    from onlooker.streams.models import Site

    if not name:
        return None
    found = Site.objects.filter(organisation=organisation, name=name).first()
    if found is None:
        raise click.UsageError(f"The organisation has no site {name!r}.")
    return found
