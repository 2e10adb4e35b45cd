"""The pages where owners manage viewers, viewers leave, and invitations are answered."""

from typing import cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.adapter import is_signup_open
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.rate_limit import take_within_limit
from onlooker.console.members.invitations import (
    PEOPLE_PER_STREAM,
    InvitationRefused,
    accept_invitation,
    check_invitation,
    create_invitation,
    is_addressee,
    mask_address,
    open_invitations_of,
)
from onlooker.console.members.models import Invitation
from onlooker.console.streams.access import owned_stream
from onlooker.console.streams.idempotency import find_result
from onlooker.console.web.mail import is_mail_on
from onlooker.streams.models import Member, Stream

LONGEST_ADDRESS = 254


class InvitationForm(forms.Form):
    """An e-mail address, in lower case."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=LONGEST_ADDRESS,
        widget=forms.EmailInput(attrs={"autocomplete": "off", "placeholder": "name@example.org"}),
    )

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        if len(email) > LONGEST_ADDRESS:  # some letters become two in lower case
            raise forms.ValidationError("This address is too long.")
        return email


MAILS_OF_ONE_ACCOUNT = "20/h/key"
MAILS_TO_ONE_MAILBOX = "30/d/key"
"""So that nobody can use us to mail strangers."""


@login_required
@require_GET
def show_members(request: HttpRequest, client_id: UUID) -> HttpResponse:
    return _show(request, owned_stream(request.user, client_id), InvitationForm())


@login_required
@require_POST
def invite_member(request: HttpRequest, client_id: UUID) -> HttpResponse:
    """The first POST shows who will see what; only a second one, from that page, sends a mail."""
    stream = owned_stream(request.user, client_id)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _show(request, stream, form)
    try:
        check_invitation(stream, form.cleaned_data["email"])
        if "confirmed" not in request.POST:
            return render(request, "members/confirm.html", {"stream": stream, "form": form})
        _count_mail(request, form.cleaned_data["email"])
        create_invitation(stream, form.cleaned_data["email"], invited_by=account_actor(cast(Account, request.user).pk))
    except InvitationRefused as reason:
        form.add_error("email", str(reason))
        return _show(request, stream, form)
    except OSError:
        form.add_error("email", "The e-mail could not be sent, so nobody was invited. Try again in a few minutes.")
        return _show(request, stream, form)
    messages.success(request, _invited_message(form.cleaned_data["email"]))
    return redirect("members", client_id)


def _invited_message(email: str) -> str:
    if is_mail_on():
        return f"Invitation sent to {email}."
    return f"{email} is invited and will see it after signing in. This server sends no e-mail, so let them know."


def _count_mail(request: HttpRequest, email: str) -> None:
    if not take_within_limit(request, "invite", rates=MAILS_OF_ONE_ACCOUNT, key=str(request.user.pk)):
        raise InvitationRefused("You have sent too many invitations in the last hour. Try again later.")
    if not take_within_limit(request, "invited", rates=MAILS_TO_ONE_MAILBOX, key=email):
        raise InvitationRefused("This address has received too many invitations today. Try again tomorrow.")


def _show(request: HttpRequest, stream: Stream, form: InvitationForm) -> HttpResponse:
    context = {
        "stream": stream,
        "members": stream.members.select_related("account").order_by("account__email"),
        "invitations": open_invitations_of(stream),
        "people_limit": PEOPLE_PER_STREAM,
        "form": form,
    }
    return render(request, "members/members.html", context)


def _delete_as(request: HttpRequest, row: Member | Invitation) -> None:
    """The audit log says who did it."""
    with acting_as(account_actor(cast(Account, request.user).pk)):
        row.delete()


@login_required
@require_POST
def revoke_member(request: HttpRequest, client_id: UUID, member_id: int) -> HttpResponse:
    member = get_object_or_404(Member, stream=owned_stream(request.user, client_id), pk=member_id)
    _delete_as(request, member)
    messages.success(request, f"{member.account.email} can no longer see this stream.")
    return redirect("members", client_id)


@login_required
@require_POST
def revoke_invitation(request: HttpRequest, client_id: UUID, invitation_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    invitation = get_object_or_404(open_invitations_of(stream), pk=invitation_id)
    _delete_as(request, invitation)
    messages.success(request, f"Invitation for {invitation.email} revoked.")
    return redirect("members", client_id)


@login_required
@require_http_methods(["GET", "POST"])
def leave_stream(request: HttpRequest, client_id: UUID) -> HttpResponse:
    """For viewers; an owner has nothing to leave."""
    found = Member.objects.select_related("stream").filter(Q(account=request.user), stream__removed_at=None)
    member = get_object_or_404(found, stream__client_id=client_id)
    if request.method == "GET":
        return render(request, "members/leave.html", {"stream": member.stream})
    _delete_as(request, member)
    messages.success(request, f"You have left {member.stream.name}.")
    return redirect("streams")


@require_http_methods(["GET", "POST"])
def show_invitation(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Only an account with the invited address, verified, sees the stream's name and can answer."""
    found = Invitation.objects.filter(pk=invitation_id, expires_at__gt=timezone.now(), stream__removed_at=None)
    invitation = found.select_related("stream__owner").first()
    if invitation is None:
        return _show_missing(request, invitation_id)
    if not isinstance(request.user, Account) or not is_addressee(request.user, invitation):
        return _show_addressee(request, invitation)
    answer = request.POST.get("answer")
    if answer == "accept":
        return _accept(request, request.user, invitation)
    if answer == "decline":
        _delete_as(request, invitation)
        messages.success(request, "Invitation declined.")
        return redirect("streams")
    return render(request, "members/invitation.html", {"invitation": invitation})


def _show_addressee(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        raise Http404
    context = {"address": mask_address(invitation.email), "is_signup_open": is_signup_open()}
    return render(request, "members/for_another.html", context)


def _show_missing(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Unless this is a second click by someone who has just accepted it."""
    if isinstance(request.user, Account) and request.POST.get("answer") == "accept":
        stream = find_result(request.user, invitation_id)
        if stream:
            return redirect("stream", stream.client_id)
    return render(request, "members/no_invitation.html", status=404)


def _accept(request: HttpRequest, account: Account, invitation: Invitation) -> HttpResponse:
    try:
        accept_invitation(invitation, account)
    except Invitation.DoesNotExist:
        return _show_missing(request, invitation.pk)
    messages.success(request, f"You can now see {invitation.stream.name}.")
    return redirect("stream", invitation.stream.client_id)
