"""The organisation that the key belongs to, its tags, and where its other parts are."""

from typing import Annotated

from django.conf import settings
from django.db.models import Count, Q
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.accounts.second_factor import has_second_factor
from onlooker.console.api.fields import UNSET, Input, Output, Text, UnsetType, check_fields, said_in
from onlooker.console.api.operation import ApiCall, Nothing, Time, write_moment
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.errors import Code, Problem
from onlooker.streams.models import Organisation, Stream, Tag
from onlooker.streams.options import check_name
from onlooker.streams.organisations import set_organisation

FACTOR_FIRST = "The owner who created this key has no second factor. They set one up first, under Account."


class OrganisationBody(Output, frozen=True):
    """An organisation."""

    id: int
    name: str
    requires_second_factor: Annotated[bool, Meta(description="Members without one see nothing of it")]
    created_at: Time
    streams: Annotated[int, Meta(description="How many")]
    sites: int
    members: int


class OrganisationChange(Input, frozen=True):
    """What an owner may change."""

    name: Text | UnsetType = UNSET
    requires_second_factor: bool | UnsetType = UNSET


class AddressesBody(Output, frozen=True):
    """Where the parts of the product are."""

    gateway_url: str
    data_url: str
    console_url: str


class TagBody(Output, frozen=True):
    """A word by which streams are found."""

    id: int
    name: str
    streams: Annotated[int, Meta(description="How many have it")]


def write_organisation(organisation: Organisation) -> OrganisationBody:
    return OrganisationBody(
        id=organisation.pk,
        name=organisation.name,
        requires_second_factor=organisation.requires_second_factor,
        created_at=write_moment(organisation.created_at),
        streams=Stream.objects.filter(organisation=organisation, removed_at=None).count(),
        sites=organisation.sites.count(),
        members=organisation.memberships.count(),
    )


def read_organisation(call: ApiCall[Nothing, Nothing]) -> OrganisationBody:
    return write_organisation(call.caller.organisation)


def change_organisation(call: ApiCall[OrganisationChange, Nothing]) -> OrganisationBody:
    organisation = call.caller.organisation
    changes = check_fields(said_in(call.body), name=check_name)
    if changes.get("requires_second_factor") and not organisation.requires_second_factor:
        creator = call.caller.key.created_by
        if creator is None or not has_second_factor(creator):
            raise Problem(Code.CONFLICT, FACTOR_FIRST)
    with acting_as(call.caller.actor):
        set_organisation(organisation, changes)
    return write_organisation(organisation)


def read_addresses(call: ApiCall[Nothing, Nothing]) -> AddressesBody:
    return AddressesBody(
        gateway_url=settings.ONLOOKER.public_url,
        data_url=settings.ONLOOKER.data_url,
        console_url=settings.ONLOOKER.console_url,
    )


def list_tags(call: ApiCall[Nothing, PageQuery]) -> Page[TagBody]:
    reached = Q(stream_links__stream__in=call.caller.streams().values("pk"))
    rows = Tag.objects.filter(organisation=call.caller.organisation).annotate(
        live=Count("stream_links", filter=reached)
    )
    return read_page(rows.filter(live__gt=0), call.query, _write_tag, list_name="tags")


def _write_tag(tag: Tag) -> TagBody:
    return TagBody(id=tag.pk, name=tag.name, streams=getattr(tag, "live", 0))
