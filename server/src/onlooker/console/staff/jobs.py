"""Accepted jobs by state, for staff; never what was asked or answered."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from onlooker.console.staff.pages import ROWS_COUNTED, StaffPages, read_id
from onlooker.gateway.models import Job


def states() -> dict[str, Q]:
    """Each job is in one of them now."""
    now = timezone.now()
    waits = Q(finished_at=None)
    is_leased = Q(leased_until__gt=now)
    return {
        "overdue": waits & Q(deadline_at__lt=now),
        "leased": waits & Q(deadline_at__gte=now) & is_leased,
        "waiting": waits & Q(deadline_at__gte=now) & (Q(leased_until=None) | Q(leased_until__lte=now)),
        "finished": Q(finished_at__isnull=False),
    }


class StateFilter(admin.SimpleListFilter):
    """With how many there are of each."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        counts = {name: Job.objects.filter(rows)[:ROWS_COUNTED].count() for name, rows in states().items()}
        return [(name, f"{name} ({_in_words(count)})") for name, count in counts.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        rows = states().get(self.value() or "")
        return queryset.filter(rows) if rows else queryset


def _in_words(count: int) -> str:
    return f"{count:,}" if count < ROWS_COUNTED else f"{count:,} or more"


class JobPages(StaffPages):
    list_display = ("job_id", "state", "service", "version", "stream", "accepted_at", "finished_at")
    list_filter = (StateFilter,)
    list_select_related = ("stream",)
    search_fields = ("job_id",)
    search_help_text = "A whole job id."
    ordering = ("-number",)
    fields = (
        *("job_id", "state", "service", "version", "stream", "request_id", "worker_deaths"),
        *("accepted_at", "deadline_at", "leased_until", "finished_at", "expires_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        return super().get_queryset(request).defer("params", "result")

    def find(self, rows: QuerySet[Job], term: str) -> QuerySet[Job]:
        job_id = read_id(term)
        return rows.filter(job_id=job_id) if job_id else rows.none()

    @admin.display(description="state")
    def state(self, job: Job) -> str:
        now = timezone.now()
        if job.finished_at:
            return "finished"
        if job.deadline_at < now:
            return "overdue"
        return "leased" if job.leased_until and job.leased_until > now else "waiting"
