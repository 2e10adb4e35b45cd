"""The pages on which an owner says who may see a stream, and on which a viewer leaves."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from onlooker.console.accounts.throttling import is_within
from onlooker.console.mail import is_mail_on
from onlooker.console.members.forms import InvitationForm
from onlooker.console.members.invitations import (
    PEOPLE_PER_STREAM,
    NotInvited,
    check_invitation,
    invite,
    open_invitations_of,
)
from onlooker.console.streams.access import owned_stream
from onlooker.streams.models import Member, Stream

MAILS_OF_ONE_ACCOUNT = "20/h/key"
MAILS_TO_ONE_MAILBOX = "30/d/key"
"""Nobody uses us to write to strangers."""


@login_required
@require_GET
def show_members(request: HttpRequest, client_id: UUID) -> HttpResponse:
    return _show(request, owned_stream(request.user, client_id), InvitationForm())


@login_required
@require_POST
def invite_member(request: HttpRequest, client_id: UUID) -> HttpResponse:
    """First says who will see what; only the second POST, from that page, sends a mail."""
    stream = owned_stream(request.user, client_id)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _show(request, stream, form)
    try:
        check_invitation(stream, form.cleaned_data["email"])
        if "confirmed" not in request.POST:
            return render(request, "members/confirm.html", {"stream": stream, "form": form})
        _count_mail(request, form.cleaned_data["email"])
        invite(stream, form.cleaned_data["email"])
    except NotInvited as reason:
        form.add_error("email", str(reason))
        return _show(request, stream, form)
    except OSError:
        form.add_error("email", "The mail could not be sent, so nobody was invited. Try again in a few minutes.")
        return _show(request, stream, form)
    messages.success(request, _say_invited(form.cleaned_data["email"]))
    return redirect("members", client_id)


def _say_invited(email: str) -> str:
    if is_mail_on():
        return f"An invitation is on its way to {email}."
    return f"{email} is invited, and sees it after signing in. This server sends no e-mails, so tell them."


def _count_mail(request: HttpRequest, email: str) -> None:
    if not is_within(request, "invite", rates=MAILS_OF_ONE_ACCOUNT, key=str(request.user.pk)):
        raise NotInvited("You sent many invitations within the last hour. Try again later.")
    if not is_within(request, "invited", rates=MAILS_TO_ONE_MAILBOX, key=email):
        raise NotInvited("This address got many invitations today. Try again tomorrow.")


def _show(request: HttpRequest, stream: Stream, form: InvitationForm) -> HttpResponse:
    context = {
        "stream": stream,
        "members": stream.members.select_related("account").order_by("account__email"),
        "invitations": open_invitations_of(stream),
        "people_limit": PEOPLE_PER_STREAM,
        "form": form,
    }
    return render(request, "members/members.html", context)


@login_required
@require_POST
def revoke_member(request: HttpRequest, client_id: UUID, member_id: int) -> HttpResponse:
    member = get_object_or_404(Member, stream=owned_stream(request.user, client_id), pk=member_id)
    member.delete()
    messages.success(request, f"{member.account.email} no longer sees this stream.")
    return redirect("members", client_id)


@login_required
@require_POST
def revoke_invitation(request: HttpRequest, client_id: UUID, invitation_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    invitation = get_object_or_404(open_invitations_of(stream), pk=invitation_id)
    invitation.delete()
    messages.success(request, f"The invitation of {invitation.email} is revoked.")
    return redirect("members", client_id)


@login_required
@require_http_methods(["GET", "POST"])
def leave_stream(request: HttpRequest, client_id: UUID) -> HttpResponse:
    """A viewer goes by itself; an owner has nothing to leave."""
    found = Member.objects.select_related("stream").filter(Q(account=request.user), stream__removed_at=None)
    member = get_object_or_404(found, stream__client_id=client_id)
    if request.method == "GET":
        return render(request, "members/leave.html", {"stream": member.stream})
    member.delete()
    messages.success(request, f"You no longer see {member.stream.name}.")
    return redirect("streams")
