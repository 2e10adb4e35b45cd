"""Use by stream and month, for staff."""

from django.contrib import admin
from django.db.models import QuerySet

from onlooker.console.staff.pages import StaffPages, read_id
from onlooker.streams.models import Usage


class UsagePages(StaffPages):
    list_display = ("month", "stream", "owner", "hours", "last_frame_at")
    list_select_related = ("stream__owner",)
    search_fields = ("stream__name",)
    search_help_text = "A stream's whole Login (client_id), or how its owner's e-mail address begins."
    ordering = ("-id",)
    fields = ("stream", "owner", "month", "hours", "last_frame_at")

    def find(self, rows: QuerySet[Usage], term: str) -> QuerySet[Usage]:
        client_id = read_id(term)
        if client_id:
            return rows.filter(stream__client_id=client_id)
        return rows.filter(stream__owner__email__startswith=term.lower())

    @admin.display(description="owner")
    def owner(self, usage: Usage) -> str:
        return str(usage.stream.owner or "-")

    @admin.display(description="hours of video")
    def hours(self, usage: Usage) -> str:
        return f"{usage.video_s / 3600:.2f}"
