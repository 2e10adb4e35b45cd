"""`onlooker device show` and `set`: what devices are set to, what they made of it, and how they are."""

import json
from typing import TYPE_CHECKING, Any

import click

from onlooker.cli.administration import open_django

if TYPE_CHECKING:
    from onlooker.devices.bulk_configuration import PlannedConfiguration
    from onlooker.devices.models import Device
    from onlooker.streams.models import Organisation

SHOWN_VERSIONS = 10
SHOWN_DEVICES = 20


@click.command("show")
@click.argument("device_id", metavar="DEVICE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show_device(device_id: str, as_json: bool) -> None:
    """Show a device: its settings by level, the versions of them, and its newest health report."""
    open_django()
    from onlooker.devices.configuration import document_for

    device = find_device(device_id)
    document = None if device.revoked_at else document_for(device)
    about = _facts(device) | {"document": document and {"version": document.version, "settings": document.settings}}
    if as_json:
        click.echo(json.dumps(about, default=str))
        return
    for name, value in about.items():
        if name != "versions":
            click.echo(f"{name:10}  {json.dumps(value, default=str) if isinstance(value, dict) else value}")
    for one in about["versions"]:
        click.echo(f"version {one['version']:3}  {one['state']:11}  {one['level']}, {one['by']}  {one['reason']}")


@click.command("set")
@click.argument("words", nargs=-1, metavar="[DEVICE]... [NAME=VALUE]...")
@click.option("--site", "site_name", help="Of a site: what its devices are set to unless they have their own.")
@click.option("--template", "template_name", help="Of a template, likewise.")
@click.option("--tag", help="Of each device whose stream has this tag.")
@click.option("--all", "is_all", is_flag=True, help="Of each device of the organisation.")
@click.option("--owner", default="owner@localhost", show_default=True, help="An owner of the organisation.")
@click.option("--preview", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--again", is_flag=True, help="Offer the devices once more what they refused or rolled back.")
@click.option("--use-template", metavar="NAME", help="The devices have the settings of this template from now on.")
def set_devices(words: tuple[str, ...], owner: str, preview: bool, again: bool, **given: Any) -> None:
    """Change settings of devices, of a site, or of a template. `NAME=` takes a setting away.

    Settings: source, fps, idle_fps, width, height, quality, max_kbytes, compute, hours, log_level.
    """
    open_django()
    from onlooker.audit.actor import command_actor
    from onlooker.devices.device_settings import parse_settings
    from onlooker.streams.organisations import RefusedError

    devices = tuple(word for word in words if "=" not in word)
    try:
        settings = parse_settings(word for word in words if "=" in word)
        if given["site_name"] or given["template_name"]:
            if devices or given["tag"] or given["is_all"] or preview or again or given["use_template"]:
                raise click.UsageError("--site and --template stand alone: their settings are changed, not devices.")
            click.echo(_set_level(owner, settings, given["site_name"], given["template_name"], by=command_actor()))
            return
        chosen = _choose(devices, owner, given["tag"], is_all=given["is_all"])
        if again or given["use_template"]:
            click.echo(_reconfigure(chosen, again=again, template_name=given["use_template"], by=command_actor()))
        if settings:
            click.echo(_set_devices(chosen, settings, preview=preview, by=command_actor()))
    except (RefusedError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def find_device(device_id: str) -> "Device":
    from django.core.exceptions import ValidationError

    from onlooker.devices.models import Device

    try:
        rows = Device.objects.select_related("stream__site", "stream__organisation", "template")
        return rows.get(device_id=device_id, stream__removed_at=None)
    except (Device.DoesNotExist, ValidationError):
        raise click.ClickException(f"There is no device {device_id!r}. `onlooker device list` shows all.") from None


def _facts(device: "Device") -> dict[str, Any]:
    from onlooker.devices.models import DeviceStatus, SiteDeviceSettings

    site = SiteDeviceSettings.objects.filter(site=device.stream.site_id).first()
    status = DeviceStatus.objects.filter(device=device).first()
    columns = ("version", "state", "level", "by", "reason", "created_at", "reported_at", "settings")
    versions = list(device.configurations.order_by("-version").values(*columns)[:SHOWN_VERSIONS])
    return {
        "device": str(device.device_id),
        "name": device.name,
        "stream": device.stream.name,
        "revoked": device.revoked_at,
        "template": device.template.device_settings if device.template else {},
        "site": site.settings if site else {},
        "own": device.settings,
        "versions": versions,
        "reported": status and status.reported_at,
        "health": status.health if status else {},
    }


def _choose(device_ids: tuple[str, ...], owner: str, tag: str | None, *, is_all: bool) -> "list[Device]":
    from onlooker.devices.bulk_configuration import DeviceSelection, select_devices

    if device_ids:
        return [find_device(one) for one in device_ids]
    if tag or is_all:
        return list(select_devices(DeviceSelection(_organisation(owner), tag=tag)))
    raise click.UsageError("Name devices, or --tag, --all, --site or --template.")


def _set_devices(chosen: "list[Device]", settings: dict[str, Any], *, preview: bool, by: str) -> str:
    from onlooker.devices.bulk_configuration import apply_configuration, plan_configuration
    from onlooker.devices.models import Device

    numbers = [one.pk for one in chosen if one.revoked_at is None]
    planned = plan_configuration(
        Device.objects.filter(pk__in=numbers).select_related("stream").order_by("pk"), settings
    )
    for one in planned[:SHOWN_DEVICES]:
        click.echo(_describe(one))
    if len(planned) > SHOWN_DEVICES:
        click.echo(f"... and {len(planned) - SHOWN_DEVICES} more")
    if preview:
        return f"{len(planned)} of {len(chosen)} devices would change. Nothing is changed."
    return f"{apply_configuration(planned, settings, by=by)} of {len(chosen)} devices changed."


def _describe(one: "PlannedConfiguration") -> str:
    changes = ", ".join(f"{name} {before!r} -> {after!r}" for name, (before, after) in one.settings.items())
    return f"{one.device.device_id}  {one.device.stream.name}: {changes or 'set so already'}"


def _reconfigure(chosen: "list[Device]", *, again: bool, template_name: str | None, by: str) -> str:
    from onlooker.devices.configuration import choose_template, offer_again
    from onlooker.devices.models import DeviceTemplate

    written = 0
    for device in chosen:
        if template_name:
            rows = DeviceTemplate.objects.filter(organisation=device.stream.organisation_id, name=template_name)
            template = rows.first()
            if template is None:
                raise ValueError(f"The organisation of {device} has no template {template_name!r}.")
            written += choose_template(device, template, by=by)
        if again:
            written += offer_again(device, by=by)
    return f"{written} of {len(chosen)} devices get a new version."


def _set_level(
    owner: str, settings: dict[str, Any], site_name: str | None, template_name: str | None, *, by: str
) -> str:
    from onlooker.devices.configuration import set_site_settings, set_template_settings
    from onlooker.devices.models import DeviceTemplate
    from onlooker.streams.models import Site

    if not settings or (site_name and template_name):
        raise click.UsageError("Name settings as NAME=VALUE, and either a site or a template.")
    organisation = _organisation(owner)
    if site_name:
        site = Site.objects.filter(organisation=organisation, name=site_name).first()
        if site is None:
            raise ValueError(f"The organisation has no site {site_name!r}.")
        return f"{site_name}: {set_site_settings(site, settings, by=by)} devices get a new version."
    template = DeviceTemplate.objects.filter(organisation=organisation, name=template_name).first()
    if template is None:
        raise ValueError(f"The organisation has no template {template_name!r}.")
    return f"{template_name}: {set_template_settings(template, settings, by=by)} devices get a new version."


def _organisation(owner: str) -> "Organisation":
    from onlooker.streams.administration import account_of
    from onlooker.streams.organisations import organisation_of

    return organisation_of(account_of(owner))
