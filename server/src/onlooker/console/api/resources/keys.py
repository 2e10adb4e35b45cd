"""Keys: a key creates none that could do more than itself."""

from datetime import timedelta
from typing import Annotated, cast
from uuid import UUID

from django.db.models import QuerySet
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller, require_all, require_number
from onlooker.console.api.fields import Input, KeyRoleWord, Number, Output, ScopeWord, Text
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.errors import Code, Problem, not_found
from onlooker.keys import keys
from onlooker.keys.keys import LONGEST_LIFE, REACH_AT_MOST
from onlooker.keys.models import OrganisationKey, Scope
from onlooker.streams.models import Stream

Role = Annotated[KeyRoleWord, Meta(description="What it acts as where it manages")]


class KeyBody(Output, frozen=True):
    """A key, without its text."""

    id: int
    name: str
    beginning: Annotated[str, Meta(description="Its first characters")]
    scopes: list[ScopeWord]
    role: Role
    reaches_all: Annotated[bool, Meta(description="false: the sites and streams below alone")]
    sites: list[int]
    streams: Annotated[list[str], Meta(description="Their client_ids")]
    created_at: Time
    expires_at: OptionalTime
    used_at: OptionalTime
    revoked_at: OptionalTime


class NewKeyBody(Input, frozen=True):
    """A key that does not exist yet."""

    name: Text
    scopes: Annotated[list[ScopeWord], Meta(min_length=1, max_length=len(Scope))]
    role: Role = "manager"
    sites: Annotated[list[Number], Meta(max_length=REACH_AT_MOST)] = []
    streams: Annotated[list[UUID], Meta(max_length=REACH_AT_MOST)] = []
    life_days: Annotated[float, Meta(gt=0, le=LONGEST_LIFE.days)] | None = None


class CreatedKeyBody(Output, frozen=True):
    """A key, and its text, which is shown this once."""

    key: KeyBody
    text: Annotated[str, Meta(description="The key itself, shown this once")]


def _keys(caller: ApiCaller) -> QuerySet[OrganisationKey]:
    return keys.keys_of(caller.organisation).prefetch_related("site_links", "stream_links__stream")


def _find_key(caller: ApiCaller, key_id: int) -> OrganisationKey:
    found = _keys(caller).filter(pk=require_number(key_id, "key")).first()
    if found is None:
        raise not_found("key")
    return found


def write_key(key: OrganisationKey) -> KeyBody:
    return KeyBody(
        id=key.pk,
        name=key.name,
        beginning=key.beginning,
        scopes=cast(list[ScopeWord], key.scopes),
        role=cast(KeyRoleWord, key.role),
        reaches_all=key.reaches_all,
        sites=sorted(link.site_id for link in key.site_links.all()),
        streams=sorted(str(link.stream.client_id) for link in key.stream_links.all()),
        created_at=write_moment(key.created_at),
        expires_at=write_moment_or_null(key.expires_at),
        used_at=write_moment_or_null(key.used_at),
        revoked_at=write_moment_or_null(key.revoked_at),
    )


def list_keys(call: ApiCall[Nothing, PageQuery]) -> Page[KeyBody]:
    return read_page(_keys(call.caller), call.query, write_key, list_name="keys", newest_first=True)


def read_key(call: ApiCall[Nothing, Nothing]) -> KeyBody:
    return write_key(_find_key(call.caller, call.path["key_id"]))


def create_key(call: ApiCall[NewKeyBody, Nothing]) -> CreatedKeyBody:
    caller, body = call.caller, call.body
    with acting_as(caller.actor):
        made = keys.create_key(
            caller.organisation,
            body.name,
            body.scopes,
            sites=caller.chosen_sites(body.sites),
            streams=_find_streams(caller, body.streams),
            life=None if body.life_days is None else timedelta(days=body.life_days),
            role=body.role,
            by=caller.key.created_by,
            within=caller.key,
        )
    return CreatedKeyBody(key=write_key(_find_key(caller, made.key.pk)), text=made.text)


def _find_streams(caller: ApiCaller, client_ids: list[UUID]) -> list[Stream]:
    found = list(caller.streams().filter(client_id__in=client_ids))
    require_all("stream", client_ids, [stream.client_id for stream in found])
    return found


def revoke_key(call: ApiCall[Nothing, Nothing]) -> None:
    key = _find_key(call.caller, call.path["key_id"])
    if not keys.may_handle(call.caller.role, key):
        raise Problem(Code.FORBIDDEN, "This key acts as a manager, and can't revoke one that acts as owner.")
    with acting_as(call.caller.actor):
        keys.revoke_key(key)
