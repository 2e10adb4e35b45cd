"""Lists, page by page: by the key of the last row, in a cursor that the console signs."""

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from django.core import signing
from django.db.models import Model, QuerySet
from msgspec import Meta

from onlooker.errors import bad_request

USUAL_LIMIT, LARGEST_LIMIT = 50, 200
LONGEST_CURSOR = 200
_SALT = "onlooker.console.api.pages"

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


class PageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which part of a list."""

    limit: Annotated[int, Meta(ge=1, le=LARGEST_LIMIT, description="How many items an answer has")] = USUAL_LIMIT
    cursor: Annotated[
        str, Meta(max_length=LONGEST_CURSOR, description="`next` of the page before; empty: the first page")
    ] = ""


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """Some items of a list."""

    items: list[Item]
    next: Annotated[str | None, Meta(description="Cursor of the next page; null: this is the last one")] = None


def read_page(
    rows: QuerySet[Row], asked: PageQuery, write: Callable[[Row], Item], *, list_name: str, newest_first: bool = False
) -> Page[Item]:
    """Ordered by primary key, which never changes. A cursor is for the list that gave it."""
    found, following = read_rows(rows, asked, list_name=list_name, newest_first=newest_first)
    return Page([write(row) for row in found], following)


def read_rows(
    rows: QuerySet[Row], asked: PageQuery, *, list_name: str, newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """The rows of a page, and the cursor of the next."""
    if asked.cursor:
        last = _read_cursor(asked.cursor, list_name)
        rows = rows.filter(pk__lt=last) if newest_first else rows.filter(pk__gt=last)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: asked.limit + 1])
    are_more = len(found) > asked.limit
    shown = found[: asked.limit]
    return shown, _write_cursor(shown[-1].pk, list_name) if are_more else None


def _write_cursor(last: Any, list_name: str) -> str:
    return signing.dumps([list_name, str(last)], salt=_SALT, compress=False)


def _read_cursor(text: str, list_name: str) -> str:
    """What was signed here is a right key: it needs no other check."""
    try:
        name, last = signing.loads(text, salt=_SALT)
    except signing.BadSignature:
        name, last = "", ""
    if name != list_name:
        raise bad_request("This cursor is of no page of this list. Begin without one.")
    return str(last)
