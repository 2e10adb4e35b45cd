"""What a shared link shows to anyone who has it: a report without links to anything else."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from onlooker.console.accounts.passwords import LONGEST_PASSWORD
from onlooker.console.accounts.rate_limit import RETRY_AFTER_S, client_address, take_within_limit
from onlooker.console.dashboard.period import PeriodError
from onlooker.console.reports.contents import present_group, present_stream, read_group_numbers, read_stream_report
from onlooker.console.reports.links import find_link, is_live, note_use
from onlooker.console.reports.models import SharedLink
from onlooker.console.reports.saved_views import group_period, stream_period, subject_of
from onlooker.console.web.security import allow_framing

UNLOCKED_FOR_S = 12 * 3600
"""Then the password is asked for again."""
GUESSES = "10/m/key,60/h/key"
"""By link and address."""
GUESSES_FROM_ADDRESS = "100/m/key"
_SALT = "onlooker.shared_link"
_HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
"""The address is a secret: no other page is told of it."""


# Browsers send `Origin: null` from a page without a referrer, so Django's check would refuse the form. It changes
# nothing, and those who know the password may see what it opens.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def show_shared(request: HttpRequest, token: str) -> HttpResponse:
    link, now = find_link(token), timezone.now()
    answer = _answer(request, link, now)
    if link:
        allow_framing(answer, link.origins)
    for name, value in _HEADERS.items():
        answer[name] = value
    return answer


def _answer(request: HttpRequest, link: SharedLink | None, now: datetime) -> HttpResponse:
    if link is None:
        return _refuse(request, HTTPStatus.NOT_FOUND, "reports/unknown.html")
    if not is_live(link, now):
        return _refuse(request, HTTPStatus.GONE, "reports/ended.html")
    if request.method == "POST":
        return _unlock(request, link) if link.password else HttpResponseRedirect(request.path)
    if link.password and not _is_unlocked(request, link):
        return _refuse(request, HTTPStatus.OK, "reports/password.html")
    note_use(link, now)
    return _show(request, link, now)


def _refuse(request: HttpRequest, status: HTTPStatus, template: str, **context: Any) -> HttpResponse:
    """A plain page. An open one that refreshes itself is loaded again, and shows it."""
    answer = render(request, template, context, status=status)
    if request.htmx:  # type: ignore[attr-defined]
        answer["HX-Refresh"] = "true"
    return answer


def _show(request: HttpRequest, link: SharedLink, now: datetime) -> HttpResponse:
    subject = subject_of(link)
    context: dict[str, Any] = {"subject": subject}
    if subject.stream:
        try:
            period = stream_period(subject, link.period, days=link.days, by=request.GET.get("by", ""), now=now)
        except PeriodError:
            period = stream_period(subject, link.period, days=link.days, now=now)
        report = read_stream_report(request, subject.stream, period, now=now)
        context |= present_stream(report, subject.stream, now=now)
        page, part = "reports/stream.html", "reports/stream_report.html"
    else:
        numbers = read_group_numbers(request, subject, group_period(subject, link.period, now=now))
        context |= present_group(numbers)
        page, part = "reports/group.html", "reports/group_report.html"
    return render(request, part if request.htmx else page, context)  # type: ignore[attr-defined]


def _unlock(request: HttpRequest, link: SharedLink) -> HttpResponse:
    address = client_address(request)
    limits = (("shared_link", GUESSES, f"{link.pk} {address}"), ("shared_links", GUESSES_FROM_ADDRESS, address))
    if not all(take_within_limit(request, action, rates=rates, key=key) for action, rates, key in limits):
        answer = _refuse(request, HTTPStatus.TOO_MANY_REQUESTS, "reports/too_many.html")
        answer["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    if not check_password(request.POST.get("password", "")[:LONGEST_PASSWORD], link.password):
        return _refuse(request, HTTPStatus.OK, "reports/password.html", is_wrong=True)
    answer = HttpResponseRedirect(request.path)
    answer.set_cookie(
        _cookie_name(),
        signing.TimestampSigner(salt=_SALT).sign(_proof(link)),
        path=request.path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


def _is_unlocked(request: HttpRequest, link: SharedLink) -> bool:
    signed = request.COOKIES.get(_cookie_name(), "")
    try:
        return signing.TimestampSigner(salt=_SALT).unsign(signed, max_age=UNLOCKED_FOR_S) == _proof(link)
    except signing.BadSignature:
        return False


def _proof(link: SharedLink) -> str:
    """Of this link and this password."""
    return f"{link.pk}.{salted_hmac(_SALT, link.password, algorithm='sha256').hexdigest()}"


def _cookie_name() -> str:
    return "__Secure-shared" if settings.SESSION_COOKIE_SECURE else "shared"
