"""Check my camera: the page on which a person counts, and where both counts stay."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.checks.comparison import SETTLED_AFTER, settle_checks, show_checks_of
from onlooker.console.checks.models import LONGEST_CHECK_S, MOST_PEOPLE, CameraCheck
from onlooker.console.streams.access import managed_stream, rights_context
from onlooker.console.web.security import allow_sources
from onlooker.streams.models import Stream

USUAL_MINUTES = 10
CHECKS_KEPT = 200
"""Of each stream."""
ABANDONED_AFTER = timedelta(days=1)


class Tally(forms.Form):
    """What the page sends at the end."""

    passed = forms.IntegerField(min_value=0, max_value=MOST_PEOPLE)
    stopped = forms.IntegerField(min_value=0, max_value=MOST_PEOPLE)
    lasted_s = forms.FloatField(min_value=1, max_value=LONGEST_CHECK_S)


@signed_in("GET", "HEAD")
def show_check(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    settle_checks(request, stream, now=datetime.now(UTC))
    context = {
        "stream": stream,
        **rights_context(request.user, stream),
        "checks": show_checks_of(stream),
        "usual_minutes": USUAL_MINUTES,
        "usual_s": 60 * USUAL_MINUTES,
        "settled_minutes": round(SETTLED_AFTER.total_seconds() / 60),
        "longest_s": LONGEST_CHECK_S,
    }
    return allow_sources(render(request, "checks/check.html", context), sources={}, permissions=("camera",))


@signed_in("POST")
def begin_check(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """By the server's clock: a phone's may be wrong."""
    stream = managed_stream(request.user, client_id)
    now = datetime.now(UTC)
    _forget_old(stream, now)
    check = CameraCheck.objects.create(stream=stream, began_at=now)
    return JsonResponse({"check": check.pk})


@signed_in("POST")
def end_check(request: PersonRequest, client_id: UUID, check_id: int) -> HttpResponse:
    """May be sent again: a phone at the place may lose its connection just then."""
    stream = managed_stream(request.user, client_id)
    tally = Tally(request.POST)
    if not tally.is_valid():
        return JsonResponse({"trouble": tally.errors.get_json_data()}, status=400)
    check = CameraCheck.objects.filter(stream=stream, pk=check_id).first()
    if check is None:
        raise Http404
    if check.ended_at is None:
        told = tally.cleaned_data
        check.ended_at = min(datetime.now(UTC), check.began_at + timedelta(seconds=told["lasted_s"]))
        check.passed, check.stopped = told["passed"], told["stopped"]
        check.save(update_fields=["ended_at", "passed", "stopped"])
    return JsonResponse({"check": check.pk})


def _forget_old(stream: Stream, now: datetime) -> None:
    checks = CameraCheck.objects.filter(stream=stream)
    checks.filter(ended_at=None, began_at__lt=now - ABANDONED_AFTER).delete()
    kept = checks.order_by("-began_at").values("pk")[: CHECKS_KEPT - 1]
    checks.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()
