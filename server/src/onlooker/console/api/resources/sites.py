"""Sites: where streams stand."""

from typing import Annotated, Any

from django.db.models import Count, Q, QuerySet
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.fields import (
    UNSET,
    Hours,
    Input,
    Output,
    SearchQuery,
    SettingChanges,
    Text,
    TimeZone,
    UnsetType,
    check_field,
    check_fields,
    said_in,
)
from onlooker.console.api.operation import ApiCall, Nothing
from onlooker.console.api.pages import Page, read_page
from onlooker.devices.configuration import set_site_settings
from onlooker.streams import sites
from onlooker.streams.business_hours import check_hours
from onlooker.streams.models import Site
from onlooker.streams.options import check_name, check_time_zone
from onlooker.streams.sites import LONGEST_SITE_ADDRESS

SiteAddress = Annotated[str, Meta(max_length=LONGEST_SITE_ADDRESS)]


class SiteBody(Output, frozen=True):
    """A site."""

    id: int
    name: str
    address: str
    time_zone: str
    hours: str
    streams: Annotated[int, Meta(description="How many stand there")]
    device_settings: Annotated[dict[str, Any], Meta(description="Of the devices there; a device's own go before")]


class NewSiteBody(Input, frozen=True):
    """A site that does not exist yet."""

    name: Text
    address: SiteAddress = ""
    time_zone: TimeZone = "UTC"
    hours: Hours = ""


class SiteChange(Input, frozen=True):
    """What changes; what is not named stays."""

    name: Text | UnsetType = UNSET
    address: SiteAddress | UnsetType = UNSET
    time_zone: TimeZone | UnsetType = UNSET
    hours: Hours | UnsetType = UNSET
    device_settings: SettingChanges | UnsetType = UNSET


def with_counts(rows: QuerySet[Site]) -> QuerySet[Site]:
    return rows.select_related("device_settings").annotate(live=Count("streams", filter=Q(streams__removed_at=None)))


def write_site(site: Site) -> SiteBody:
    live = getattr(site, "live", None)
    return SiteBody(
        id=site.pk,
        name=site.name,
        address=site.address,
        time_zone=site.time_zone,
        hours=site.hours,
        streams=site.streams.filter(removed_at=None).count() if live is None else live,
        device_settings=site.device_settings.settings if hasattr(site, "device_settings") else {},
    )


def list_sites(call: ApiCall[Nothing, SearchQuery]) -> Page[SiteBody]:
    rows = call.caller.sites().filter(name__icontains=call.query.search)
    return read_page(with_counts(rows), call.query, write_site, list_name="sites")


def read_site(call: ApiCall[Nothing, Nothing]) -> SiteBody:
    return write_site(call.caller.site(call.path["site_id"]))


def create_site(call: ApiCall[NewSiteBody, Nothing]) -> SiteBody:
    with acting_as(call.caller.actor):
        return write_site(sites.create_site(call.caller.organisation, _checked(said_in(call.body))))


def change_site(call: ApiCall[SiteChange, Nothing]) -> SiteBody:
    site = call.caller.site(call.path["site_id"])
    values = _checked(said_in(call.body))
    device_settings = values.pop("device_settings", {})
    with acting_as(call.caller.actor):
        sites.change_site(site, values)
        if device_settings:
            check_field(
                "device_settings", lambda named: set_site_settings(site, named, by=call.caller.actor), device_settings
            )
    return write_site(call.caller.site(site.pk))


def remove_site(call: ApiCall[Nothing, Nothing]) -> None:
    site = call.caller.site(call.path["site_id"])
    with acting_as(call.caller.actor):
        sites.remove_site(site)


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    return check_fields(values, name=check_name, address=_one_line, time_zone=check_time_zone, hours=check_hours)


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("An address is one line without control characters.")
    return text.strip()
