"""Invitations of e-mail addresses to streams: create, accept, expire."""

from datetime import datetime

from allauth.account.models import EmailAddress
from django.db.models import QuerySet
from django.utils import timezone

from onlooker.audit.actor import CHORE, account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation
from onlooker.console.streams.idempotency import remember_result
from onlooker.console.web.mail import is_mail_on, send_mail
from onlooker.streams.models import Member, Stream

PEOPLE_PER_STREAM = 20
"""Members and open invitations together."""
MAIL = "members/mails/invitation"


class InvitationRefused(Exception):
    """An address can't be invited; the message is for the owner."""


def check_invitation(stream: Stream, email: str) -> None:
    """Raises InvitationRefused. Reveals only what the owner's page shows anyway, never whether an account exists."""
    if email in verified_addresses(stream.owner):
        raise InvitationRefused("This is your own address. You can already see this stream.")
    if stream.members.filter(account__email=email).exists():
        raise InvitationRefused(f"{email} is already a viewer of this stream.")
    waiting = open_invitations_of(stream)
    if waiting.filter(email=email).exists():
        raise InvitationRefused(f"{email} has already been invited. To send a new e-mail, revoke that invitation.")
    if stream.members.count() + waiting.count() >= PEOPLE_PER_STREAM:
        raise InvitationRefused(
            f"A stream can have up to {PEOPLE_PER_STREAM} viewers and open invitations. Revoke some first."
        )


def create_invitation(stream: Stream, email: str, *, invited_by: str) -> Invitation:
    """Raises InvitationRefused, or OSError if the mail server refuses the mail; then nobody is invited."""
    with acting_as(invited_by):
        Stream.objects.select_for_update(no_key=True).get(pk=stream.pk)  # two at once could both be within the limit
        check_invitation(stream, email)
        Invitation.objects.filter(stream=stream, email=email).delete()  # one that has expired
        invitation = Invitation.objects.create(stream=stream, email=email)
    try:
        if is_mail_on():
            send_mail(MAIL, to=email, context={"invitation": invitation})
    except OSError:
        with acting_as(invited_by):
            invitation.delete()
        raise
    return invitation


def accept_invitation(invitation: Invitation, account: Account) -> None:
    """Make the account a viewer. Raises Invitation.DoesNotExist if it was revoked meanwhile."""
    with acting_as(account_actor(account.pk)):
        found = Invitation.objects.select_for_update().get(pk=invitation.pk)
        if invitation.stream.owner_id != account.pk:  # who may have taken this address meanwhile
            Member.objects.get_or_create(stream_id=found.stream_id, account=account)
        remember_result(account, found.pk, invitation.stream)
        found.delete()


def open_invitations(account: Account) -> QuerySet[Invitation]:
    """Invitations that this account can accept or decline."""
    return _open().filter(email__in=verified_addresses(account)).order_by("invited_at")


def open_invitations_of(stream: Stream) -> QuerySet[Invitation]:
    return _open().filter(stream=stream).order_by("email")


def _open() -> QuerySet[Invitation]:
    waiting = Invitation.objects.filter(expires_at__gt=timezone.now(), stream__removed_at=None)
    return waiting.select_related("stream__owner")


def is_addressee(account: Account, invitation: Invitation) -> bool:
    return invitation.email in verified_addresses(account)


def verified_addresses(account: Account | None) -> set[str]:
    """In lower case; none without an account."""
    if account is None:
        return set()
    found = EmailAddress.objects.filter(user=account, verified=True)
    return {email.lower() for email in found.values_list("email", flat=True)}


def mask_address(email: str) -> str:
    """Enough for its owner to recognise it: v...@example.org."""
    name, _, host = email.rpartition("@")
    return f"{name[:1]}...@{host}"


def delete_expired_invitations(now: datetime | None = None) -> int:
    """A chore. A transaction for each stream: who holds the logs of two streams may wait for another who does."""
    expired = Invitation.objects.filter(expires_at__lt=now or timezone.now())
    deleted = 0
    for stream_id in sorted(set(expired.values_list("stream_id", flat=True))):
        with acting_as(CHORE):
            deleted += expired.filter(stream_id=stream_id).delete()[0]
    return deleted
