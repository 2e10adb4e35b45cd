"""What all of the staff's pages share: for staff, to read, and fast with a million rows."""

import json
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.paginator import Paginator
from django.db.models import Field, QuerySet
from django.http import HttpRequest

from onlooker.console.accounts.models import Account

ROWS_COUNTED = 10_000
"""Nobody turns a hundred pages; counting all rows is what takes long."""


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts so many rows and no further."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:ROWS_COUNTED].count())


class StaffPages(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only, unless a page says otherwise; nothing can be deleted here."""

    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 50
    actions = None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """What the page's own filters ask for; by any other, columns could be guessed at that no page shows."""
        offered = {_name_of(one) for one in self.list_filter}
        return lookup.partition("__")[0] in offered

    def formfield_for_dbfield(self, db_field: "Field[Any, Any]", request: HttpRequest, **values: Any) -> Any:
        """Carries along what the page showed: who saves a page that is old by now changes only what they touched."""
        field = super().formfield_for_dbfield(db_field, request, **values)
        if field:
            field.show_hidden_initial = request.method != "POST" or f"initial-{db_field.name}" in request.POST
        return field

    def about(self, obj: Any) -> str:
        """What staff should know before changing it."""
        return ""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return [(None, {"fields": self.get_fields(request, obj), "description": self.about(obj) if obj else ""})]

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> LogEntry:
        return _log(request, obj, ADDITION, message=message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> LogEntry:
        return _log(request, obj, CHANGE, message=message)

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """What a search finds, by an index where there may be many rows; a page that says nothing finds nothing."""
        return rows.none()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return (self.find(queryset, term) if term else queryset), False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_staff(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _name_of(list_filter: Any) -> str:
    """Of the field, or of the parameter of a filter of its own."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(getattr(list_filter, "parameter_name", list_filter))


def _log(request: HttpRequest, obj: Any, action: int, *, message: Any) -> LogEntry:
    """Knows the row by its number alone: the log outlives the row, and must not keep a name or an address of it."""
    return LogEntry.objects.create(
        user=cast(Account, request.user),
        content_type=ContentType.objects.get_for_model(obj, for_concrete_model=False),
        object_id=str(obj.pk),
        object_repr=str(obj.pk),
        action_flag=action,
        change_message=json.dumps(message),
    )


def _is_staff(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


def read_id(term: str) -> UUID | None:
    """What somebody typed, if it is an id."""
    try:
        return UUID(term)
    except ValueError:
        return None
