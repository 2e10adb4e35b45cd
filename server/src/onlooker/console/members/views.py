"""The pages where people are invited to an organisation, and where invitations are answered."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.adapter import is_signup_open
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import write_count
from onlooker.console.members.forms import InvitationForm
from onlooker.console.members.invitations import (
    PEOPLE_PER_ORGANISATION,
    InvitationRefused,
    NewInvitation,
    SentInvitations,
    accept_invitation,
    check_invitation,
    count_mails,
    create_invitations,
    find_open,
    has_accepted,
    is_addressee,
    mask_address,
    open_invitations_of,
)
from onlooker.console.members.models import Invitation
from onlooker.console.streams.access import own_membership
from onlooker.console.web.mail import is_mail_on
from onlooker.streams.models import MemberRole, Membership
from onlooker.streams.organisations import MANAGERS, grantable_roles


@signed_in("GET", "HEAD", "POST")
def invite_members(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """The first POST shows who will see what; only a second one, from that page, sends mails."""
    own = own_membership(request.user, organisation_id, *MANAGERS)
    form = InvitationForm(own.organisation, own.role, request.POST or None, initial={"role": MemberRole.VIEWER})
    if not form.is_valid():
        return _show_form(request, own, form)
    given = form.cleaned_data
    new = NewInvitation(own.organisation, given["emails"], MemberRole(given["role"]), list(given["sites"]))
    try:
        check_invitation(new)
        if "confirmed" not in request.POST:
            context = {"organisation": own.organisation, "new": new, "role": new.role.value}
            return render(request, "members/confirm.html", context)
        count_mails(request, new, sender=str(request.user.pk))
        actor = account_actor(request.user.pk)
        _say_sent(request, create_invitations(new, invited_by=request.user, actor=actor))
    except InvitationRefused as reason:
        form.add_error("emails", str(reason))
        return _show_form(request, own, form)
    except OSError:
        reason_text = _("The mail server does not answer, so some were not invited. Try again in a few minutes.")
        form.add_error("emails", reason_text)
        return _show_form(request, own, form)
    return redirect("organisation", organisation_id)


def _show_form(request: PersonRequest, own: Membership, form: InvitationForm) -> HttpResponse:
    context = {"organisation": own.organisation, "form": form, "people_limit": PEOPLE_PER_ORGANISATION}
    return render(request, "members/invite.html", context)


def _say_sent(request: PersonRequest, sent: SentInvitations) -> None:
    if sent.refused:
        refused = _("The mail server refused these addresses: {emails}.").format(emails=", ".join(sent.refused))
        messages.warning(request, refused)
    if sent.invited:
        messages.success(request, _describe_sent(sent.invited))


def _describe_sent(emails: list[str]) -> str:
    number = len(emails)
    if is_mail_on() and number == 1:
        return _("Invitation sent to {email}.").format(email=emails[0])
    if is_mail_on():
        text = ngettext("Invitation sent to {count} person.", "Invitation sent to {count} people.", number)
        return text.format(count=write_count(number))
    if number == 1:
        text = _("Invited: {email}. This server sends no e-mail, so let them know that they find it after signing in.")
        return text.format(email=emails[0])
    text = ngettext(
        "Invited: {count} person. This server sends no e-mail, so let them know that they find it after signing in.",
        "Invited: {count} people. This server sends no e-mail, so let them know that they find it after signing in.",
        number,
    )
    return text.format(count=write_count(number))


@signed_in("POST")
def revoke_invitation(request: PersonRequest, organisation_id: int, invitation_id: UUID) -> HttpResponse:
    own = own_membership(request.user, organisation_id, *MANAGERS)
    offered = open_invitations_of(own.organisation).filter(role__in=grantable_roles(own.role))
    invitation = get_object_or_404(offered, pk=invitation_id)
    _delete_as(request.user, invitation)
    messages.success(request, _("Invitation for {email} revoked.").format(email=invitation.email))
    return redirect("organisation", organisation_id)


def _delete_as(account: Account, invitation: Invitation) -> None:
    """The audit log says who did it."""
    with acting_as(account_actor(account.pk)):
        invitation.delete()


@require_http_methods(["GET", "POST"])
def show_invitation(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Only an account with the invited address, verified, sees the organisation's name and can answer."""
    invitation = find_open(invitation_id)
    if invitation is None:
        return _show_missing(request, invitation_id)
    if not isinstance(request.user, Account) or not is_addressee(request.user, invitation):
        return _show_addressee(request, invitation)
    answer = request.POST.get("answer")
    if answer == "accept":
        return _accept(request, request.user, invitation)
    if answer == "decline":
        _delete_as(request.user, invitation)
        messages.success(request, _("Invitation declined."))
        return redirect("streams")
    sites = invitation.site_links.order_by("site__name").values_list("site__name", flat=True)
    context = {"invitation": invitation, "role": invitation.role, "sites": sites}
    return render(request, "members/invitation.html", context)


def _show_addressee(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        raise Http404
    context = {"address": mask_address(invitation.email), "is_signup_open": is_signup_open()}
    return render(request, "members/for_another.html", context)


def _show_missing(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Unless this is a second click by someone who has just accepted it."""
    is_accepted = request.POST.get("answer") == "accept"
    if isinstance(request.user, Account) and is_accepted and has_accepted(request.user, invitation_id):
        return redirect("streams")
    return render(request, "members/no_invitation.html", status=404)


def _accept(request: HttpRequest, account: Account, invitation: Invitation) -> HttpResponse:
    try:
        accept_invitation(invitation, account)
    except Invitation.DoesNotExist:
        return _show_missing(request, invitation.pk)
    messages.success(request, _("You are now a member of {name}.").format(name=invitation.organisation.name))
    return redirect("streams")
