"""Live workers for staff: what they host, and whether what decodes pictures there is confined."""

from datetime import timedelta

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from onlooker.console.staff.model_admin import StaffModelAdmin
from onlooker.gateway.models import ListedWorker

LIVE_FOR_S = 15.0
"""A dispatcher writes the list every 5 seconds; what it has not heard of for longer is not shown."""
UNCONFINED = gettext_lazy(
    "No. An attacker who takes over a picture decoder there can do what the worker's user can do, which in "
    '"onlooker up" is everything. Set ONLOOKER_CONFINEMENT=on, on a kernel with Landlock.'
)
WARNING = gettext_lazy(
    "A worker is not confined: an attacker who takes over a picture decoder there has its user's rights."
)


def live_workers() -> QuerySet[ListedWorker]:
    return ListedWorker.objects.filter(seen_at__gt=timezone.now() - timedelta(seconds=LIVE_FOR_S))


class WorkerAdmin(StaffModelAdmin):
    list_display = ("name", "is_confined", "hosted", "version", "seen_at")
    ordering = ("name", "instance")
    fields = ("name", "instance", "is_confined", "hosted", "version", "seen_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ListedWorker]:
        return live_workers()

    @admin.display(description=gettext_lazy("confined"))
    def is_confined(self, worker: ListedWorker) -> str:
        return _("Yes") if worker.confined else str(UNCONFINED)

    @admin.display(description=gettext_lazy("services"))
    def hosted(self, worker: ListedWorker) -> str:
        return ", ".join(worker.services)
