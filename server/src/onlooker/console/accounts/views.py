"""Account pages that django-allauth does not have, and a decorator for its own."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.logout import logout
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.deletion import erase_account
from onlooker.console.accounts.forms import DeletionForm, LanguageForm
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.passkeys import passkeys_of
from onlooker.console.accounts.rate_limit import client_address, show_rate_limited, take_within_limit
from onlooker.console.accounts.reach import assume_second_factor, reachable_memberships
from onlooker.console.accounts.second_factor import has_second_factor
from onlooker.console.accounts.security_events import EVENTS_KEPT, SENTENCES, recent_events
from onlooker.console.web.mail import is_mail_on
from onlooker.streams.models import Membership, Stream
from onlooker.streams.organisations import organisations_without

View = Callable[..., HttpResponse]

PASSKEY_REQUESTS_FROM_ONE_ADDRESS = "120/m/key"
"""Two for each sign-in."""
STREAMS_NAMED = 50
"""On the page that asks whether to delete an account."""


@login_required
def show_account(request: HttpRequest) -> HttpResponse:
    account = cast(Account, request.user)
    return _show(request, account, LanguageForm(instance=account))


@require_POST
@login_required
def change_language(request: HttpRequest) -> HttpResponse:
    """Of pages and mails; what is said about it is in the new one."""
    account = cast(Account, request.user)
    form = LanguageForm(request.POST, instance=account)
    if not form.is_valid():
        return _show(request, account, form)
    account.save(update_fields=["language"])
    with translation.override(account.language or translation.get_language_from_request(request)):
        messages.success(request, _("Saved."))
    return redirect("account")


def _show(request: HttpRequest, account: Account, language_form: LanguageForm) -> HttpResponse:
    memberships = reachable_memberships(assume_second_factor(account)).select_related("organisation").order_by("id")
    context = {
        "language_form": language_form,
        "has_second_factor": has_second_factor(account),
        "passkeys": len(passkeys_of(account.pk)),
        "sessions": len(UserSession.objects.purge_and_list(account)),
        "memberships": memberships,
    }
    return render(request, "accounts/overview.html", context)


@login_required
@require_GET
def show_events(request: HttpRequest) -> HttpResponse:
    events = recent_events(cast(Account, request.user))
    shown = [(event, SENTENCES.get(event.action, event.action)) for event in events]
    return render(request, "accounts/events.html", {"events": shown, "days": EVENTS_KEPT.days})


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
def delete_account(request: HttpRequest) -> HttpResponse:
    account = cast(Account, request.user)
    form = DeletionForm(request.POST or None, account=account)
    if not form.is_valid():
        ending = organisations_without(account)
        context = {
            "form": form,
            "organisations": ending,
            "streams": Stream.objects.filter(organisation__in=ending).order_by("name")[:STREAMS_NAMED],
            "stream_count": Stream.objects.filter(organisation__in=ending).count(),
            "others": Membership.objects.filter(organisation__in=ending).exclude(account=account).count(),
        }
        return render(request, "accounts/delete.html", context)
    email = account.email
    with acting_as(account_actor(account.pk)):
        erase_account(account)
    get_adapter().send_notification_mail("account/email/account_deleted", account, email=email)
    logout(request, show_message=False)
    messages.success(request, _("Your account and all its data have been deleted."))
    return redirect("account_login")


@require_POST
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
def end_session(request: HttpRequest, number: int) -> HttpResponse:
    """One of the person's own sessions; the current one ends by signing out."""
    session = get_object_or_404(UserSession, pk=number, user=request.user)
    if not session.is_current():
        session.end()
        messages.success(request, _("Session ended."))
    return redirect("usersessions_list")


def require_mail(view: View) -> View:
    """Without e-mail, the page says what to do instead."""

    @wraps(view)
    def show(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if is_mail_on():
            return view(request, *args, **kwargs)
        return render(request, "accounts/no_mail.html")

    return show


def limit_passkey_requests(view: View) -> View:
    """Each request for a sign-in stores a challenge, so GET counts too."""

    @wraps(view)
    def show(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        key = client_address(request)
        if take_within_limit(request, "passkey_sign_in", rates=PASSKEY_REQUESTS_FROM_ONE_ADDRESS, key=key):
            return view(request, *args, **kwargs)
        return show_rate_limited(request)

    return show
