"""Accepted jobs by state, for staff; never their parameters or results."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from onlooker.console.languages.locale_text import write_count
from onlooker.console.staff.model_admin import ROWS_COUNTED, StaffModelAdmin, parse_uuid
from onlooker.gateway.models import Job

STATE_NAMES = {
    # Translators: its time is over, and nothing has computed it.
    "overdue": pgettext_lazy("job", "overdue"),
    # Translators: a worker has it.
    "leased": pgettext_lazy("job", "leased"),
    "waiting": pgettext_lazy("job", "waiting"),
    "finished": pgettext_lazy("job", "finished"),
}


def job_states() -> dict[str, Q]:
    """Each job is in exactly one of them."""
    now = timezone.now()
    waits = Q(finished_at=None)
    is_leased = Q(leased_until__gt=now)
    return {
        "overdue": waits & Q(deadline_at__lt=now),
        "leased": waits & Q(deadline_at__gte=now) & is_leased,
        "waiting": waits & Q(deadline_at__gte=now) & (Q(leased_until=None) | Q(leased_until__lte=now)),
        "finished": Q(finished_at__isnull=False),
    }


class JobStateFilter(admin.SimpleListFilter):
    """With the number of jobs in each state."""

    title = pgettext_lazy("job", "state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        counts = {name: Job.objects.filter(rows)[:ROWS_COUNTED].count() for name, rows in job_states().items()}
        return [(name, f"{STATE_NAMES[name]} ({_format_count(count)})") for name, count in counts.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        rows = job_states().get(self.value() or "")
        return queryset.filter(rows) if rows else queryset


def _format_count(count: int) -> str:
    return write_count(count) if count < ROWS_COUNTED else _("{count} or more").format(count=write_count(count))


class JobAdmin(StaffModelAdmin):
    list_display = ("job_id", "state", "service", "version", "stream", "accepted_at", "finished_at")
    list_filter = (JobStateFilter,)
    list_select_related = ("stream",)
    search_fields = ("job_id",)
    search_help_text = gettext_lazy("Complete job id.")
    ordering = ("-number",)
    fields = (
        *("job_id", "state", "service", "version", "stream", "request_id", "worker_deaths"),
        *("accepted_at", "deadline_at", "leased_until", "finished_at", "expires_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        return super().get_queryset(request).defer("params", "result")

    def find(self, rows: QuerySet[Job], term: str) -> QuerySet[Job]:
        job_id = parse_uuid(term)
        return rows.filter(job_id=job_id) if job_id else rows.none()

    @admin.display(description=pgettext_lazy("job", "state"))
    def state(self, job: Job) -> str:
        return str(STATE_NAMES[_state_of(job)])


def _state_of(job: Job) -> str:
    now = timezone.now()
    if job.finished_at:
        return "finished"
    if job.deadline_at < now:
        return "overdue"
    return "leased" if job.leased_until and job.leased_until > now else "waiting"
