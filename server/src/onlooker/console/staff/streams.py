"""Organisations and streams for staff: find them, see their use and members, grant enterprise."""

import time
from typing import Any, cast

from django.conf import settings
from django.contrib import admin
from django.db.models import FloatField, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from onlooker.audit.actor import acting_as, staff_actor
from onlooker.console.accounts.models import Account
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.console.languages.locale_text import write_decimal
from onlooker.console.members.models import Invitation
from onlooker.console.staff.model_admin import StaffModelAdmin, parse_uuid
from onlooker.streams.administration import set_stream
from onlooker.streams.models import MemberRole, Membership, Organisation, Stream, Usage
from onlooker.streams.video_time import month_of

SETTABLE = ("kind",)


class StreamAdmin(StaffModelAdmin):
    list_display = (
        "name",
        "client_id",
        "organisation",
        "kind",
        "enabled",
        "used_this_month",
        "last_frame_at",
        "is_removed",
    )
    list_filter = ("kind", "enabled", ("removed_at", admin.EmptyFieldListFilter))
    list_select_related = ("organisation",)
    search_fields = ("name",)
    search_help_text = gettext_lazy(
        "Complete Login (client_id), beginning of an owner's e-mail address, or part of the name."
    )
    ordering = ("-id",)
    fields = (
        *("name", "client_id", "organisation", "kind", "enabled", "used_this_month", "last_frame_at", "created_at"),
        *(
            "time_zone",
            "compute",
            "retention_days",
            "groups_of",
            "grid",
            "silence_alert_minutes",
            "blind_alert_minutes",
            "unusual_alert",
        ),
        *("reads_faces", "reads_age", "reads_gender", "reads_expression", "removed_at"),
    )
    readonly_fields = tuple(name for name in fields if name not in SETTABLE)

    def get_readonly_fields(self, request: HttpRequest, obj: Stream | None = None) -> tuple[str, ...]:
        return self.fields if obj and has_subscription(obj) else self.readonly_fields

    def about(self, obj: Stream) -> str:
        switch = _("Only its organisation can turn it on and off; to stop it, disable the accounts of all its owners.")
        if has_subscription(obj):
            kind = _("Its kind depends on its subscription and can't be changed here.")
            return f"{kind} {switch}"
        return switch

    def has_change_permission(self, request: HttpRequest, obj: Stream | None = None) -> bool:
        """A stream that is being removed can't be changed."""
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
        client_id = parse_uuid(term)
        if client_id:
            return rows.filter(client_id=client_id)
        if "@" in term:
            return rows.filter(organisation__in=_owned_by(term))
        return rows.filter(name__icontains=term)

    def save_model(self, request: HttpRequest, obj: Stream, form: Any, change: bool) -> None:
        """Through the same function as all changes, so that the log of states is written."""
        changes = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTABLE}
        if changes:
            with acting_as(staff_actor(cast(Account, request.user).pk)):
                set_stream(str(obj.client_id), changes, quota_s=settings.ONLOOKER.developer_quota_s)

    @admin.display(description=gettext_lazy("used this month"))
    def used_this_month(self, stream: Any) -> str:
        minutes = (stream.video_s or 0) / 60
        return _("{hours} h {minutes} min").format(hours=int(minutes // 60), minutes=int(minutes % 60))

    @admin.display(description=gettext_lazy("last frame"))
    def last_frame_at(self, stream: Any) -> Any:
        return stream.seen_at

    @admin.display(description=gettext_lazy("being removed"), boolean=True)
    def is_removed(self, stream: Stream) -> bool:
        return stream.removed_at is not None


class UsageAdmin(StaffModelAdmin):
    list_display = ("month", "stream", "organisation", "hours", "last_frame_at")
    list_select_related = ("stream__organisation",)
    search_fields = ("stream__name",)
    search_help_text = gettext_lazy(
        "Complete Login (client_id) of a stream, or beginning of an owner's e-mail address."
    )
    ordering = ("-id",)
    fields = ("stream", "organisation", "month", "hours", "last_frame_at")

    def find(self, rows: QuerySet[Usage], term: str) -> QuerySet[Usage]:
        client_id = parse_uuid(term)
        if client_id:
            return rows.filter(stream__client_id=client_id)
        return rows.filter(stream__organisation__in=_owned_by(term))

    @admin.display(description=gettext_lazy("organisation"))
    def organisation(self, usage: Usage) -> str:
        return str(usage.stream.organisation or "-")

    @admin.display(description=gettext_lazy("hours of video"))
    def hours(self, usage: Usage) -> str:
        return write_decimal(usage.video_s / 3600, 2)


def _owned_by(beginning: str) -> QuerySet[Organisation]:
    """Those with an owner whose address begins so."""
    owners = Membership.objects.filter(role=MemberRole.OWNER, account__email__startswith=beginning.lower())
    return Organisation.objects.filter(pk__in=owners.values("organisation"))


class OrganisationAdmin(StaffModelAdmin):
    list_display = ("name", "created_at", "requires_second_factor")
    search_fields = ("name",)
    search_help_text = gettext_lazy("Beginning of an owner's e-mail address, or part of the name.")
    ordering = ("-id",)
    fields = ("name", "created_at", "requires_second_factor", "owners", "stream_count")

    def find(self, rows: QuerySet[Organisation], term: str) -> QuerySet[Organisation]:
        return rows.filter(pk__in=_owned_by(term)) if "@" in term else rows.filter(name__icontains=term)

    @admin.display(description=gettext_lazy("owners"))
    def owners(self, organisation: Organisation) -> str:
        found = organisation.memberships.filter(role=MemberRole.OWNER).order_by("id")
        return ", ".join(found.values_list("account__email", flat=True))

    @admin.display(description=gettext_lazy("streams"))
    def stream_count(self, organisation: Organisation) -> int:
        return organisation.streams.filter(removed_at=None).count()


class MembershipAdmin(StaffModelAdmin):
    list_display = ("account", "organisation", "role", "created_at")
    list_select_related = ("account", "organisation")
    search_fields = ("account__email",)
    search_help_text = gettext_lazy("Beginning of a member's e-mail address.")
    ordering = ("-id",)
    fields = ("account", "organisation", "role", "created_at")

    def find(self, rows: QuerySet[Membership], term: str) -> QuerySet[Membership]:
        return rows.filter(account__email__startswith=term.lower())


class InvitationAdmin(StaffModelAdmin):
    list_display = ("email", "organisation", "role", "invited_at", "expires_at")
    list_select_related = ("organisation",)
    search_fields = ("email",)
    search_help_text = gettext_lazy("Beginning of an invited e-mail address.")
    ordering = ("email",)
    fields = ("email", "organisation", "role", "invited_at", "expires_at")

    def find(self, rows: QuerySet[Invitation], term: str) -> QuerySet[Invitation]:
        return rows.filter(email__startswith=term.lower())
