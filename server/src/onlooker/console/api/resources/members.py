"""Members and invitations: as a key's role may, as on the page of the organisation."""

from typing import Annotated, cast

from django.db.models import QuerySet
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller, require_number
from onlooker.console.api.fields import UNSET, Input, Number, Output, RoleWord, SearchQuery, UnsetType
from onlooker.console.api.operation import ApiCall, Nothing, Time, write_moment
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.console.billing.subscriptions import check_payer
from onlooker.console.members.forms import NO_SITES
from onlooker.console.members.invitations import (
    ADDRESSES_AT_ONCE,
    LONGEST_ADDRESS,
    InvitationRefused,
    NewInvitation,
    check_addresses,
    check_invitation,
    count_mails,
    create_invitations,
    open_invitations_of,
)
from onlooker.console.members.models import Invitation
from onlooker.errors import Code, Problem, bad_request, not_found, overloaded
from onlooker.streams.models import MemberRole, Membership, Site
from onlooker.streams.organisations import change_member, grantable_roles, remove_member

MAIL_DOWN = "The mail server does not answer, so some were not invited. Try again in a few minutes."
SITES_AT_MOST = 500
SiteNumbers = Annotated[list[Number], Meta(max_length=SITES_AT_MOST, description="For viewers alone")]


class MemberBody(Output, frozen=True):
    """An account's part in the organisation."""

    id: int
    email: str
    role: RoleWord
    sites: Annotated[list[int], Meta(description="What a viewer sees")]
    created_at: Time


class MemberChange(Input, frozen=True):
    """Another role, or other sites of a viewer."""

    role: RoleWord | UnsetType = UNSET
    sites: SiteNumbers | UnsetType = UNSET


class InvitationBody(Output, frozen=True):
    """An address that is invited."""

    id: str
    email: str
    role: RoleWord
    sites: list[int]
    invited_at: Time
    expires_at: Time


class NewInvitationsBody(Input, frozen=True):
    """Whom to invite as what."""

    emails: Annotated[
        list[Annotated[str, Meta(max_length=LONGEST_ADDRESS)]], Meta(min_length=1, max_length=ADDRESSES_AT_ONCE)
    ]
    role: RoleWord
    sites: SiteNumbers = []


class SentInvitationsBody(Output, frozen=True):
    """What became of each address."""

    invited: list[str]
    refused: Annotated[list[str], Meta(description="By the mail server; nobody is invited there")]


def _members(caller: ApiCaller) -> QuerySet[Membership]:
    rows = Membership.objects.filter(organisation=caller.organisation)
    return rows.select_related("account", "organisation").prefetch_related("site_links")


def _find_member(caller: ApiCaller, member_id: int) -> Membership:
    found = _members(caller).filter(pk=require_number(member_id, "member")).first()
    if found is None:
        raise not_found("member")
    return found


def write_member(member: Membership) -> MemberBody:
    return MemberBody(
        id=member.pk,
        email=member.account.email,
        role=cast(RoleWord, member.role),
        sites=sorted(link.site_id for link in member.site_links.all()),
        created_at=write_moment(member.created_at),
    )


def list_members(call: ApiCall[Nothing, SearchQuery]) -> Page[MemberBody]:
    rows = _members(call.caller).filter(account__email__icontains=call.query.search)
    return read_page(rows, call.query, write_member, list_name="members")


def read_member(call: ApiCall[Nothing, Nothing]) -> MemberBody:
    return write_member(_find_member(call.caller, call.path["member_id"]))


def change_membership(call: ApiCall[MemberChange, Nothing]) -> MemberBody:
    caller, body = call.caller, call.body
    member = _find_member(caller, call.path["member_id"])
    role = MemberRole(member.role if isinstance(body.role, UnsetType) else body.role)
    _require_grantable(caller, MemberRole(member.role), role)
    if isinstance(body.sites, UnsetType):
        sites = list(Site.objects.filter(viewer_links__membership=member))
    else:
        sites = caller.chosen_sites(body.sites)
    _require_sites(role, sites)
    if role is not MemberRole.OWNER:
        check_payer(member)
    with acting_as(caller.actor):
        change_member(member, role, sites)
    return write_member(_find_member(caller, member.pk))


def remove_membership(call: ApiCall[Nothing, Nothing]) -> None:
    member = _find_member(call.caller, call.path["member_id"])
    _require_grantable(call.caller, MemberRole(member.role))
    check_payer(member)
    with acting_as(call.caller.actor):
        remove_member(member)


def _require_grantable(caller: ApiCaller, *roles: MemberRole) -> None:
    """As on the page: managers neither make nor change owners and managers."""
    if not set(roles) <= set(grantable_roles(caller.role)):
        raise Problem(Code.FORBIDDEN, "This key acts as a manager. Owners and managers need a key that acts as owner.")


def _require_sites(role: MemberRole, sites: list[Site]) -> None:
    if role is MemberRole.VIEWER and not sites:
        raise bad_request(f"sites: {NO_SITES}")


def write_invitation(invitation: Invitation) -> InvitationBody:
    return InvitationBody(
        id=str(invitation.pk),
        email=invitation.email,
        role=cast(RoleWord, invitation.role),
        sites=sorted(link.site_id for link in invitation.site_links.all()),
        invited_at=write_moment(invitation.invited_at),
        expires_at=write_moment(invitation.expires_at),
    )


def list_invitations(call: ApiCall[Nothing, PageQuery]) -> Page[InvitationBody]:
    rows = open_invitations_of(call.caller.organisation).prefetch_related("site_links")
    return read_page(rows, call.query, write_invitation, list_name="invitations")


def invite_members(call: ApiCall[NewInvitationsBody, Nothing]) -> SentInvitationsBody:
    caller, body = call.caller, call.body
    role = MemberRole(body.role)
    _require_grantable(caller, role)
    sites = caller.chosen_sites(body.sites)
    _require_sites(role, sites)
    inviter = caller.key.created_by
    try:
        new = NewInvitation(caller.organisation, check_addresses(body.emails), role, sites)
        check_invitation(new)
        count_mails(call.request, new, sender=caller.actor)
        sent = create_invitations(new, invited_by=inviter, actor=caller.actor)
    except InvitationRefused as refusal:
        raise Problem(Code.CONFLICT, str(refusal)) from None
    except OSError:
        raise overloaded(MAIL_DOWN, retry_after_s=60) from None
    return SentInvitationsBody(invited=sent.invited, refused=sent.refused)


def revoke_invitation(call: ApiCall[Nothing, Nothing]) -> None:
    rows = open_invitations_of(call.caller.organisation).filter(pk=call.path["invitation_id"])
    invitation = rows.first()
    if invitation is None:
        raise not_found("invitation")
    _require_grantable(call.caller, MemberRole(invitation.role))
    with acting_as(call.caller.actor):
        invitation.delete()
