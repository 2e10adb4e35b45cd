"""Invitations of e-mail addresses to organisations: create, accept, expire."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from onlooker.audit.actor import CHORE, account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.rate_limit import take_within_limit
from onlooker.console.languages.choice import language_of
from onlooker.console.languages.locale_text import write_count
from onlooker.console.members.models import Invitation, InvitationSite
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, is_mail_on, send_mail
from onlooker.streams.models import MemberRole, Membership, Organisation, Site
from onlooker.streams.organisations import add_member

ADDRESSES_AT_ONCE = 50
"""Their mails are sent before the page answers."""
LONGEST_ADDRESS = 254
MAILS_OF_ONE_SENDER = "200/h/key"
MAILS_TO_ONE_MAILBOX = "30/d/key"
"""So that nobody can use us to mail strangers."""
PEOPLE_PER_ORGANISATION = 1000
"""Members and open invitations together."""
MAIL = "members/mails/invitation"
REMEMBER_S = 600
"""How long a second click on Accept finds what the first one did."""


class InvitationRefused(Exception):
    """Addresses can't be invited; the message is for the person who invites."""


@dataclass(frozen=True)
class NewInvitation:
    """Whom an organisation invites as what; sites count for viewers only."""

    organisation: Organisation
    emails: Sequence[str]
    role: MemberRole
    sites: Collection[Site] = field(default_factory=tuple)


@dataclass(frozen=True)
class SentInvitations:
    """What became of each address."""

    invited: list[str]
    refused: list[str]
    """By the mail server; nobody is invited there."""


def check_addresses(given: Iterable[str]) -> list[str]:
    """Each once, in lower case and in the order in which they were given. Raises InvitationRefused."""
    emails = list(dict.fromkeys(part.strip().lower() for part in given if part.strip()))
    wrong = [email for email in emails if not _is_address(email)]
    if wrong:
        raise InvitationRefused(_("This is not an e-mail address: {text}").format(text=wrong[0][:100]))
    if not emails or len(emails) > ADDRESSES_AT_ONCE:
        raise InvitationRefused(_("Enter 1 to {most} addresses.").format(most=ADDRESSES_AT_ONCE))
    return emails


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return len(email) <= LONGEST_ADDRESS


def count_mails(request: HttpRequest, new: NewInvitation, *, sender: str) -> None:
    """Raises InvitationRefused if these would be too many, of the sender or to one mailbox."""
    for email in new.emails:
        if not take_within_limit(request, "invite", rates=MAILS_OF_ONE_SENDER, key=sender):
            raise InvitationRefused(_("You have sent too many invitations in the last hour. Try again later."))
        if not take_within_limit(request, "invited", rates=MAILS_TO_ONE_MAILBOX, key=email):
            text = _("{email} has received too many invitations today. Try again tomorrow.")
            raise InvitationRefused(text.format(email=email))


def check_invitation(new: NewInvitation) -> None:
    """Raises InvitationRefused. Reveals only what the page of members shows anyway, never whether an account exists."""
    members = Membership.objects.filter(organisation=new.organisation)
    known = set(members.filter(account__email__in=new.emails).values_list("account__email", flat=True))
    if known:
        text = _("Already a member: {emails}. Change the role on the page of members.")
        raise InvitationRefused(text.format(emails=_listed(known)))
    waiting = open_invitations_of(new.organisation)
    invited = set(waiting.filter(email__in=new.emails).values_list("email", flat=True))
    if invited:
        text = _("Already invited: {emails}. To send a new e-mail, revoke that invitation.")
        raise InvitationRefused(text.format(emails=_listed(invited)))
    if members.count() + waiting.count() + len(new.emails) > PEOPLE_PER_ORGANISATION:
        text = _("An organisation can have up to {most} members and open invitations. Revoke some first.")
        raise InvitationRefused(text.format(most=write_count(PEOPLE_PER_ORGANISATION)))


def _listed(emails: Collection[str]) -> str:
    return ", ".join(sorted(emails))


def create_invitations(new: NewInvitation, *, invited_by: Account | None, actor: str) -> SentInvitations:
    """Raises InvitationRefused, or OSError if the mail server is down; then those whose mail was sent are invited."""
    with acting_as(actor):
        Organisation.objects.select_for_update(no_key=True).get(pk=new.organisation.pk)  # two at once could both fit
        check_invitation(new)
        Invitation.objects.filter(organisation=new.organisation, email__in=new.emails).delete()  # expired ones
        made = [
            Invitation(organisation=new.organisation, email=email, role=new.role, invited_by=invited_by)
            for email in new.emails
        ]
        Invitation.objects.bulk_create(made)
        if new.role == MemberRole.VIEWER:
            links = [InvitationSite(invitation=one, site=site) for one in made for site in new.sites]
            InvitationSite.objects.bulk_create(links)
    return _send_mails(made, actor) if is_mail_on() else SentInvitations(list(new.emails), [])


def _send_mails(made: list[Invitation], actor: str) -> SentInvitations:
    """An invitation whose mail was not sent ends at once. Whoever has no account is written to as the inviter reads."""
    unsent, refused = list(made), []
    try:
        for invitation in made:
            try:
                language = language_of(invitation.email, otherwise=get_language() or "")
                send_mail(MAIL, to=invitation.email, context={"invitation": invitation}, language=language)
            except SINGLE_MAIL_ERRORS:
                refused.append(invitation)
            unsent.remove(invitation)
    finally:
        ended = [one.pk for one in (*unsent, *refused)]
        if ended:
            with acting_as(actor):
                Invitation.objects.filter(pk__in=ended).delete()
    return SentInvitations([one.email for one in made if one not in refused], [one.email for one in refused])


def accept_invitation(invitation: Invitation, account: Account) -> Membership:
    """Make the account a member. Raises Invitation.DoesNotExist if it was revoked meanwhile."""
    with acting_as(account_actor(account.pk)):
        found = Invitation.objects.select_for_update(of=("self",)).select_related("organisation").get(pk=invitation.pk)
        sites = Site.objects.filter(pk__in=found.site_links.values("site"), organisation=found.organisation_id)
        membership = add_member(found.organisation, account, found.role, list(sites))
        cache.set(_accepted_key(account, found.pk), found.organisation_id, REMEMBER_S)  # a table: in this transaction
        found.delete()
    return membership


def has_accepted(account: Account, invitation_id: UUID) -> bool:
    """Whether the account has just accepted it, and is still a member."""
    number = cache.get(_accepted_key(account, invitation_id))
    return number is not None and Membership.objects.filter(account=account, organisation=number).exists()


def _accepted_key(account: Account, invitation_id: UUID) -> str:
    return f"accepted:{account.pk}:{invitation_id}"


def open_invitations(account: Account) -> QuerySet[Invitation]:
    """Invitations that this account can accept or decline."""
    return _open().filter(email__in=verified_addresses(account)).order_by("invited_at")


def open_invitations_of(organisation: Organisation) -> QuerySet[Invitation]:
    return _open().filter(organisation=organisation).order_by("email")


def find_open(invitation_id: UUID) -> Invitation | None:
    return _open().filter(pk=invitation_id).first()


def _open() -> QuerySet[Invitation]:
    waiting = Invitation.objects.filter(expires_at__gt=timezone.now())
    return waiting.select_related("organisation", "invited_by")


def is_addressee(account: Account, invitation: Invitation) -> bool:
    return invitation.email in verified_addresses(account)


def verified_addresses(account: Account) -> set[str]:
    """In lower case."""
    found = EmailAddress.objects.filter(user=account, verified=True)
    return {email.lower() for email in found.values_list("email", flat=True)}


def mask_address(email: str) -> str:
    """Enough for its owner to recognise it: v...@example.org."""
    name, _, host = email.rpartition("@")
    return f"{name[:1]}...@{host}"


def delete_expired_invitations(now: datetime | None = None) -> int:
    """A chore. A transaction for each organisation: who holds two logs may wait for another who does."""
    expired = Invitation.objects.filter(expires_at__lt=now or timezone.now())
    deleted = 0
    for organisation_id in sorted(set(expired.values_list("organisation_id", flat=True))):
        with acting_as(CHORE):
            ended = expired.filter(organisation_id=organisation_id)
            deleted += ended.count()
            ended.delete()
    return deleted
