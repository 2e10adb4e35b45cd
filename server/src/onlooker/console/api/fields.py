"""Fields of bodies: what a person may choose, checked as forms check it; absent fields of a change."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from onlooker.console.api.pages import PageQuery
from onlooker.devices.device_settings import SETTINGS
from onlooker.errors import bad_request
from onlooker.streams.bulk_changes import LONGEST_TAG, TAGS_AT_MOST, parse_tags
from onlooker.streams.models import LONGEST_RETENTION_DAYS, LONGEST_SILENCE_MINUTES
from onlooker.streams.options import LARGEST_GROUPS
from onlooker.streams.presets import NOTICE_MISSING

__all__ = ["UNSET", "UnsetType"]

LONGEST_TEXT = 500
LONGEST_SEARCH = 100

Number = Annotated[int, Meta(ge=1, le=2**63 - 1)]
"""Of a site, a template and the like."""
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Hours = Annotated[
    str, Meta(max_length=LONGEST_TEXT, description="Such as mo-fr 09:00-18:30, sa 10:00-16:00; empty: always open")
]
TimeZone = Annotated[str, Meta(max_length=60, description="Such as Europe/Paris")]
RetentionDays = Annotated[int, Meta(ge=1, le=LONGEST_RETENTION_DAYS, description="Older visits are deleted")]
GroupsOf = Annotated[
    int,
    Meta(ge=1, le=LARGEST_GROUPS, description="Nothing is told about fewer people; raised from 1, it erases singles"),
]
AlertMinutes = Annotated[int, Meta(ge=0, le=LONGEST_SILENCE_MINUTES, description="0: never")]
TagNames = Annotated[list[Annotated[str, Meta(max_length=LONGEST_TAG)]], Meta(max_length=TAGS_AT_MOST)]
SettingChanges = Annotated[
    dict[str, Any], Meta(max_length=len(SETTINGS), description="By name; null takes a setting away at this level")
]
Search = Annotated[str, Meta(max_length=LONGEST_SEARCH, description="Part of a name")]

KindWord = Literal["developer", "enterprise"]
ComputeWord = Literal["server", "device"]
RoleWord = Literal["owner", "manager", "analyst", "viewer"]
KeyRoleWord = Literal["manager", "owner"]
ScopeWord = Literal["numbers", "manage", "enrol", "frames"]
"""As the tables have them: Django's choices are no enumerations for msgspec."""

Value = TypeVar("Value")
Checked = TypeVar("Checked")


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A body. A field that is not known is refused: it would be taken for one that works."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Part of an answer."""


class SearchQuery(PageQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A list that can be searched."""

    search: Search = ""


def said_in(body: msgspec.Struct) -> dict[str, Any]:
    """The fields that a change names."""
    return {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}


def check_field(name: str, check: Callable[[Value], Checked], value: Value) -> Checked:
    """Raises Problem that names the field, with the sentence of the check."""
    try:
        return check(value)
    except ValueError as error:
        raise bad_request(f"{name}: {error}") from None


def check_fields(values: dict[str, Any], **checks: Callable[[Any], Any]) -> dict[str, Any]:
    """Those that are there."""
    return values | {name: check_field(name, check, values[name]) for name, check in checks.items() if name in values}


_FOR_PROGRAMS = {
    NOTICE_MISSING: "Tell the people in front of the camera first, then send true. Or choose the preset counts.",
}
"""Sentences of forms that name what is on a page."""


def require_none(refusals: dict[str, str]) -> None:
    """Raises Problem that says all that can't be so."""
    if refusals:
        raise bad_request(
            " ".join(f"{name}: {_FOR_PROGRAMS.get(sentence, sentence)}" for name, sentence in refusals.items())
        )


def check_tags(names: list[str]) -> tuple[str, ...]:
    """Raises ValueError. A comma would be two tags on a form."""
    if any("," in name for name in names):
        raise ValueError("A tag has no comma.")
    return parse_tags(",".join(names))
