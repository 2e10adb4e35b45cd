"""Who sees a stream in tests: viewers of the site that it stands at, open invitations there, its owner."""

from typing import Any

from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation, InvitationSite
from onlooker.streams.models import MemberRole, Membership, Organisation, Site, Stream
from onlooker.streams.organisations import add_member


def site_of(stream: Stream) -> Site:
    """Its own; created if it stands nowhere."""
    if stream.site is None:
        stream.site = Site.objects.create(organisation=organisation_with(stream), name=stream.name)
        stream.save(update_fields=["site"])
    return stream.site


def organisation_with(stream: Stream) -> Organisation:
    assert stream.organisation
    return stream.organisation


def share_stream(stream: Stream, account: Account, role: str = MemberRole.VIEWER) -> Membership:
    """A viewer sees this stream alone, any other member the whole organisation."""
    return add_member(organisation_with(stream), account, role, [site_of(stream)])


def viewers() -> Any:
    return Membership.objects.filter(role=MemberRole.VIEWER)


def invite_to(stream: Stream, email: str, **values: Any) -> Invitation:
    """To the stream's site, as a viewer."""
    given = {"role": MemberRole.VIEWER, "invited_by": owner_of(stream)} | values
    invitation = Invitation.objects.create(organisation=organisation_with(stream), email=email, **given)
    InvitationSite.objects.create(invitation=invitation, site=site_of(stream))
    return invitation


def owner_of(stream: Stream) -> Account:
    owners = Membership.objects.filter(organisation=stream.organisation, role=MemberRole.OWNER)
    return Account.objects.get(pk__in=owners.values("account"))
