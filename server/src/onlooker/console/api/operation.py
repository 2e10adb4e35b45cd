"""What an operation is: one declaration that routes, decodes, admits, and is published as OpenAPI."""

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from django.http import HttpRequest

from onlooker.console.api.caller import ApiCaller
from onlooker.http.openapi import Moment
from onlooker.keys.models import Scope
from onlooker.streams.models import MemberRole

_PARAMETER = re.compile(r"<(?P<kind>\w+):(?P<name>\w+)>")

Body = TypeVar("Body")
Query = TypeVar("Query")


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No body, or no parameters."""


class Reach(enum.Enum):
    """Which keys may."""

    SOME = "some"
    """Also those for some sites and streams; each sees its own part."""
    ALL = "all"
    """Only those that reach the whole organisation."""


@dataclass(frozen=True)
class ApiCall(Generic[Body, Query]):
    """A request that is admitted and decoded."""

    caller: ApiCaller
    body: Body
    query: Query
    path: dict[str, Any]
    request: HttpRequest


Handler = Callable[[ApiCall[Any, Any]], Any]


@dataclass(frozen=True)
class Operation:
    """One row of the table of operations."""

    method: str
    path: str
    """As Django writes routes, under /api/v1/."""
    summary: str
    handler: Handler
    scopes: frozenset[Scope]
    """One of them is enough."""
    answer: Any = None
    """A struct; None: 204, no body."""
    body: type = Nothing
    query: type = Nothing
    status: int = 200
    reach: Reach = Reach.SOME
    role: MemberRole = MemberRole.MANAGER
    """Keys with a lower one may not."""
    is_atomic: bool = True
    """Whether it may run in one transaction."""

    @property
    def name(self) -> str:
        """Its operationId."""
        return self.handler.__name__

    @property
    def url(self) -> str:
        """With parameters as OpenAPI writes them."""
        return "/api/v1/" + _PARAMETER.sub(lambda found: "{" + found["name"] + "}", self.path)

    @property
    def parameters(self) -> dict[str, str]:
        """Kinds of those in the path, by name."""
        return {found["name"]: found["kind"] for found in _PARAMETER.finditer(self.path)}


def write_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_moment_or_null(moment: datetime | None) -> str | None:
    return None if moment is None else write_moment(moment)


Time = Moment
OptionalTime = Annotated[Moment | None, msgspec.Meta(description="null: never")]
