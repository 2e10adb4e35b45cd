"""Streams for staff: find, see how they fare, grant enterprise."""

import time
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import FloatField, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from onlooker.console.billing.models import Subscription
from onlooker.console.staff.pages import StaffPages, read_id
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Stream, Usage
from onlooker.streams.video_time import month_of

SETTABLE = ("kind",)


class StreamPages(StaffPages):
    list_display = ("name", "client_id", "owner", "kind", "enabled", "used_this_month", "last_frame_at", "is_removed")
    list_filter = ("kind", "enabled", ("removed_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name",)
    search_help_text = "A whole Login (client_id), how its owner's e-mail address begins, or a part of its name."
    ordering = ("-id",)
    fields = (
        *("name", "client_id", "owner", "kind", "enabled", "used_this_month", "last_frame_at", "created_at"),
        *("time_zone", "retention_days", "silence_alert_minutes", "reads_age", "reads_gender", "reads_expression"),
        "removed_at",
    )
    readonly_fields = tuple(name for name in fields if name not in SETTABLE)

    def get_readonly_fields(self, request: HttpRequest, obj: Stream | None = None) -> tuple[str, ...]:
        return self.fields if obj and is_paid(obj) else self.readonly_fields

    def about(self, obj: Stream) -> str:
        switch = "Its owner alone switches it on and off; to stop it, disable the owner's account."
        if is_paid(obj):
            return f"A subscription decides its kind: the kind can't be changed here while there is one. {switch}"
        return switch

    def has_change_permission(self, request: HttpRequest, obj: Stream | None = None) -> bool:
        """What is being removed stays as it is."""
        return self.has_view_permission(request) and (obj is None or obj.removed_at is None)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Stream]:
        usage = Usage.objects.filter(stream=OuterRef("pk"))
        this_month = usage.filter(month=month_of(time.time()))
        streams: QuerySet[Stream] = super().get_queryset(request)
        return streams.annotate(
            video_s=Subquery(this_month.values("video_s")[:1], output_field=FloatField()),
            seen_at=Subquery(usage.exclude(last_frame_at=None).order_by("-month").values("last_frame_at")[:1]),
        )

    def find(self, rows: QuerySet[Stream], term: str) -> QuerySet[Stream]:
        client_id = read_id(term)
        if client_id:
            return rows.filter(client_id=client_id)
        if "@" in term:
            return rows.filter(owner__email__startswith=term.lower())
        return rows.filter(name__icontains=term)

    def save_model(self, request: HttpRequest, obj: Stream, form: Any, change: bool) -> None:
        """Down the same way as everybody's changes: the log of states must know."""
        changes = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTABLE}
        if changes:
            set_stream(str(obj.client_id), changes, quota_s=settings.ONLOOKER.developer_quota_s)

    @admin.display(description="used this month")
    def used_this_month(self, stream: Any) -> str:
        minutes = (stream.video_s or 0) / 60
        return f"{int(minutes // 60)} h {int(minutes % 60)} min"

    @admin.display(description="last frame")
    def last_frame_at(self, stream: Any) -> Any:
        return stream.seen_at

    @admin.display(description="being removed", boolean=True)
    def is_removed(self, stream: Stream) -> bool:
        return stream.removed_at is not None


def is_paid(stream: Stream) -> bool:
    return Subscription.objects.filter(stream=stream).exists()
