"""Who may see whose stream, for staff."""

from django.db.models import QuerySet

from onlooker.console.members.models import Invitation
from onlooker.console.staff.pages import StaffPages
from onlooker.streams.models import Member


class MemberPages(StaffPages):
    list_display = ("account", "stream", "created_at")
    list_select_related = ("account", "stream")
    search_fields = ("account__email",)
    search_help_text = "How a viewer's e-mail address begins."
    ordering = ("-id",)
    fields = ("account", "stream", "created_at")

    def find(self, rows: QuerySet[Member], term: str) -> QuerySet[Member]:
        return rows.filter(account__email__startswith=term.lower())


class InvitationPages(StaffPages):
    list_display = ("email", "stream", "invited_at", "expires_at")
    list_select_related = ("stream",)
    search_fields = ("email",)
    search_help_text = "How an invited e-mail address begins."
    ordering = ("email",)
    fields = ("email", "stream", "invited_at", "expires_at")

    def find(self, rows: QuerySet[Invitation], term: str) -> QuerySet[Invitation]:
        return rows.filter(email__startswith=term.lower())
