"""Who gets in with an organisation's provider, as whom, and with which role. No account is found by its address."""

import logging
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.account.models import EmailAddress
from allauth.socialaccount.internal.flows.signup import complete_social_signup
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import begin_limited_session
from onlooker.console.accounts.security_events import note_event
from onlooker.console.billing.subscriptions import check_payer
from onlooker.console.sign_in.lookup import find_provider
from onlooker.console.sign_in.models import LONGEST_GROUP, IdentityProvider, ProvenDomain, ProviderIdentity
from onlooker.console.web.mail import is_mail_on
from onlooker.logs import fields
from onlooker.streams.models import MemberRole, Membership
from onlooker.streams.organisations import RefusedError, change_member, remove_member

log = logging.getLogger(__name__)

STRONGEST_FIRST = (MemberRole.OWNER, MemberRole.MANAGER, MemberRole.ANALYST, MemberRole.VIEWER)
MOST_GROUPS = 1000
METHOD = "socialaccount"
"""Under which django-allauth notes in a session that a provider was used."""


class SignInRefusedError(Exception):
    """Nobody is signed in. The text is for people, and names the remedy."""


def admit(request: HttpRequest, provider: IdentityProvider, login: SocialLogin) -> HttpResponse | None:
    """An answer, or None where allauth signs in the account that belongs to the subject."""
    if login.state.get("nonce") is None or login.claims.get("nonce") != login.state["nonce"]:
        raise SignInRefusedError(_("The provider's answer is not for this sign-in. Start again from the sign-in page."))
    role = find_role(provider, login.claims)
    if isinstance(request.user, Account):
        return _connect(request, request.user, login, role)
    if not login.is_existing:
        return _create_account(request, provider, login, role)
    identity = _find_identity(provider, login)
    _follow_groups(provider, identity, role)
    return None


def find_role(provider: IdentityProvider, claims: dict[str, Any]) -> MemberRole | None:
    """The strongest that somebody's groups give; None where the provider's groups decide nothing.

    Raises SignInRefusedError for people with none of the groups.
    """
    roles = dict(provider.group_roles.values_list("group", "role"))
    if not roles and not provider.default_role:
        return None
    given = {roles[group] for group in read_groups(claims.get(provider.groups_claim)) if group in roles}
    found = next((role for role in STRONGEST_FIRST if role in given), provider.default_role)
    if not found:
        _end_membership(provider, str(claims["sub"]))
        said = _(
            "None of your groups has access to {organisation}. Ask the administrator of your organisation's sign-in to "
            "add you to a group that has."
        )
        raise SignInRefusedError(said.format(organisation=provider.organisation.name))
    return MemberRole(found)


def read_groups(claim: Any) -> set[str]:
    """A list of names, or one name."""
    named = [claim] if isinstance(claim, str) else claim
    if not isinstance(named, list):
        return set()
    return {name for name in named[:MOST_GROUPS] if isinstance(name, str) and 0 < len(name) <= LONGEST_GROUP}


def _find_identity(provider: IdentityProvider, login: SocialLogin) -> ProviderIdentity:
    identity, _ = ProviderIdentity.objects.get_or_create(social_account=login.account, defaults={"provider": provider})
    return identity


def _follow_groups(provider: IdentityProvider, identity: ProviderIdentity, role: MemberRole | None) -> None:
    """Of somebody who signed in before: a role that changed, a member who was removed."""
    account_id = identity.social_account.user_id
    membership = Membership.objects.filter(organisation=provider.organisation_id, account=account_id).first()
    if membership is None and (identity.is_admitted or role is None):
        said = _("You are no longer a member of {organisation}. Ask one of its owners to invite you again.")
        raise SignInRefusedError(said.format(organisation=provider.organisation.name))
    identity.role = role or ""
    if membership is not None:
        identity.is_admitted = True
        if role is not None:
            _change_role(membership, role)
    identity.save(update_fields=["role", "is_admitted"])


def _change_role(membership: Membership, role: MemberRole) -> None:
    """The last owner, and one who pays, keep the role: somebody must be left who can change the settings."""
    if membership.role == role:
        return
    try:
        if role != MemberRole.OWNER:
            check_payer(membership)
        with acting_as(account_actor(membership.account_id)):
            change_member(membership, role)
    except RefusedError as refusal:
        log.warning("role does not follow groups", extra=fields(account=membership.account_id, reason=str(refusal)))
        return
    log.info("role follows groups", extra=fields(account=membership.account_id, role=str(role)))


def _end_membership(provider: IdentityProvider, subject: str) -> None:
    """Of somebody whose groups are gone. They get in again once the groups are back."""
    known = SocialAccount.objects.filter(provider=provider.provider_id, uid=subject).first()
    if known is None:
        return
    membership = Membership.objects.filter(organisation=provider.organisation_id, account=known.user_id).first()
    if membership is None:
        return
    try:
        check_payer(membership)
        with acting_as(account_actor(known.user_id)):
            remove_member(membership)
    except RefusedError as refusal:
        log.warning("role does not follow groups", extra=fields(account=known.user_id, reason=str(refusal)))
        return
    ProviderIdentity.objects.filter(social_account=known).update(is_admitted=False, role="")
    log.info("membership ended with groups", extra=fields(account=known.user_id))


def _connect(request: HttpRequest, account: Account, login: SocialLogin, role: MemberRole | None) -> HttpResponse:
    """Somebody who is signed in, and confirmed who they are, connects this account with the provider's."""
    provider = find_provider(login.account.provider)
    organisation = provider.organisation
    if account.reaches_only is not None or not did_recently_reauthenticate(request):
        raise SignInRefusedError(_("Confirm who you are on the sign-in page first, then connect your account again."))
    if login.is_existing and login.user.pk != account.pk:
        said = _("Your sign-in at {organisation} belongs to another account. Sign out, then sign in with it.")
        raise SignInRefusedError(said.format(organisation=organisation.name))
    known = SocialAccount.objects.filter(provider=provider.provider_id, user=account).exclude(uid=login.account.uid)
    if known.exists():
        raise SignInRefusedError(
            _("Your account is connected with somebody else's sign-in. Ask that person to sign out.")
        )
    is_member = Membership.objects.filter(organisation=organisation, account=account).exists()
    if not is_member and role is None:
        said = _("You are not a member of {organisation}. Ask one of its owners to invite you.")
        raise SignInRefusedError(said.format(organisation=organisation.name))
    if not login.is_existing:
        login.connect(request, account)
        note_event(request, account, "provider.connected", organisation.name)
    identity = _find_identity(provider, login)
    _follow_groups(provider, identity, role)
    give_membership(identity)
    return redirect("streams")


def _create_account(
    request: HttpRequest, provider: IdentityProvider, login: SocialLogin, role: MemberRole | None
) -> HttpResponse:
    """A new one, for an address that no account has. Unless its domain is proven, a mail must confirm the address."""
    email = login.user.email
    if not email:
        raise SignInRefusedError(
            _("Your provider did not tell your e-mail address. Ask its administrator to share it.")
        )
    if role is None:
        said = _(
            "Ask an owner of {organisation} to invite {email}. Then accept the invitation, and connect your account on "
            "this page."
        )
        raise SignInRefusedError(said.format(organisation=provider.organisation.name, email=email))
    if Account.objects.filter(email=email).exists():
        raise _taken(email)
    is_proven = is_address_proven(provider, login.claims)
    if not is_proven and not is_mail_on():
        said = _(
            "This server can't send the e-mail that would confirm {email}. Ask its administrator to set up e-mail, or "
            "to confirm the domain with `onlooker sign-in domain`."
        )
        raise SignInRefusedError(said.format(email=email))
    try:
        with transaction.atomic():
            login.user.set_unusable_password()
            login.user.save()
            login.account.user = login.user
            login.account.save()
            EmailAddress.objects.create(user=login.user, email=email, verified=is_proven, primary=True)
            identity = ProviderIdentity.objects.create(social_account=login.account, provider=provider, role=role)
    except IntegrityError:  # somebody signed up with this address at this moment
        raise _taken(email) from None
    log.info("account created by provider", extra=fields(account=login.user.pk, provider=identity.provider_id))
    answer: HttpResponse = complete_social_signup(request, login)
    return answer


def _taken(email: str) -> SignInRefusedError:
    said = _(
        "There is already an account for {email}. Sign in to it with its password or passkey, then open this sign-in "
        "page again to connect it."
    )
    return SignInRefusedError(said.format(email=email))


def is_address_proven(provider: IdentityProvider, claims: dict[str, Any]) -> bool:
    """The provider says so, and it speaks for its own organisation's domain."""
    domain = str(claims.get("email", "")).rpartition("@")[2].lower()
    if claims.get("email_verified") is not True:
        return False
    return ProvenDomain.objects.filter(domain=domain, organisation=provider.organisation_id).exists()


def give_membership(identity: ProviderIdentity) -> None:
    """Once, when somebody has got in for the first time, or again after their groups came back."""
    if identity.is_admitted or not identity.role:
        return
    account_id = identity.social_account.user_id
    with acting_as(account_actor(account_id)):
        Membership.objects.get_or_create(
            organisation_id=identity.provider.organisation_id, account_id=account_id, defaults={"role": identity.role}
        )
        identity.is_admitted = True
        identity.save(update_fields=["is_admitted"])


def note_provider_session(sender: Any, *, request: HttpRequest, user: Account, **kwargs: Any) -> None:
    """When somebody has signed in. A session that a provider began reaches its organisation only."""
    used = [one.get("provider") for one in get_authentication_records(request, user) if one.get("method") == METHOD]
    if not used:
        return
    identity = (
        ProviderIdentity.objects.select_related("provider", "social_account")
        .filter(social_account__user=user, social_account__provider=used[-1])
        .first()
    )
    if identity is None:  # its organisation removed the provider while a second factor was asked for
        begin_limited_session(request, organisation_id=0)
        return
    begin_limited_session(request, organisation_id=identity.provider.organisation_id)
    give_membership(identity)
