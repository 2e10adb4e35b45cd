"""What all staff pages share: staff only, read-only, and fast with a million rows."""

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
"""Nobody pages further than this, and counting all rows is slow."""


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to ROWS_COUNTED rows."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:ROWS_COUNTED].count())


class StaffModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read-only unless a page says otherwise; nothing can be deleted here."""

    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 50
    actions = None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only the page's own filters; others could be used to guess columns that no page shows."""
        offered = {_name_of(one) for one in self.list_filter}
        return lookup.partition("__")[0] in offered

    def formfield_for_dbfield(self, db_field: "Field[Any, Any]", request: HttpRequest, **values: Any) -> Any:
        """Includes the initial values, so that saving an outdated page changes only edited fields."""
        field = super().formfield_for_dbfield(db_field, request, **values)
        if field:
            field.show_hidden_initial = request.method != "POST" or f"initial-{db_field.name}" in request.POST
        return field

    def about(self, obj: Any) -> str:
        """What staff should know before making changes."""
        return ""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return [(None, {"fields": self.get_fields(request, obj), "description": self.about(obj) if obj else ""})]

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> LogEntry:
        return _log(request, obj, ADDITION, message=message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> LogEntry:
        return _log(request, obj, CHANGE, message=message)

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """The search, by an index where there may be many rows; finds nothing unless a page overrides it."""
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
    """The name of a filter's field or parameter."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(getattr(list_filter, "parameter_name", list_filter))


def _log(request: HttpRequest, obj: Any, action: int, *, message: Any) -> LogEntry:
    """Identifies the row by its number only: the log outlives it, and must not keep names or addresses."""
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


def parse_uuid(term: str) -> UUID | None:
    """The term as an id, or None."""
    try:
        return UUID(term)
    except ValueError:
        return None
