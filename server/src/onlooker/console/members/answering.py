"""The page that an invitation's link leads to: accept or decline."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from onlooker.console.accounts.adapter import is_signup_open
from onlooker.console.accounts.models import Account
from onlooker.console.members.invitations import accept, is_addressee, masked
from onlooker.console.members.models import Invitation
from onlooker.console.streams.clicks import find_click


@require_http_methods(["GET", "POST"])
def show_invitation(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Only an account with a verified address that was invited sees the stream's name, and answers."""
    found = Invitation.objects.filter(pk=invitation_id, expires_at__gt=timezone.now(), stream__removed_at=None)
    invitation = found.select_related("stream__owner").first()
    if invitation is None:
        return _say_it_is_gone(request, invitation_id)
    if not isinstance(request.user, Account) or not is_addressee(request.user, invitation):
        return _say_for_whom(request, invitation)
    answer = request.POST.get("answer")
    if answer == "accept":
        return _accept(request, request.user, invitation)
    if answer == "decline":
        invitation.delete()
        messages.success(request, "You declined the invitation.")
        return redirect("streams")
    return render(request, "members/invitation.html", {"invitation": invitation})


def _say_for_whom(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        raise Http404
    context = {"address": masked(invitation.email), "is_signup_open": is_signup_open()}
    return render(request, "members/for_another.html", context)


def _say_it_is_gone(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Unless this is the second click of somebody who has just accepted it."""
    if isinstance(request.user, Account) and request.POST.get("answer") == "accept":
        stream = find_click(request.user, invitation_id)
        if stream:
            return redirect("stream", stream.client_id)
    return render(request, "members/no_invitation.html", status=404)


def _accept(request: HttpRequest, account: Account, invitation: Invitation) -> HttpResponse:
    try:
        accept(invitation, account)
    except Invitation.DoesNotExist:
        return _say_it_is_gone(request, invitation.pk)
    messages.success(request, f"You can see {invitation.stream.name} now.")
    return redirect("stream", invitation.stream.client_id)
