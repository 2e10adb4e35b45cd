"""The owner's page of an organisation's provider."""

import logging
from typing import cast

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.adapter import console_link
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.accounts.security_events import note_event
from onlooker.console.sign_in.forms import ProviderForm
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.streams.access import own_membership
from onlooker.logs import fields
from onlooker.streams.models import MemberRole, Organisation

log = logging.getLogger(__name__)

PROVIDER, REMOVAL = "provider", "removal"


def owned_organisation(account: Account, organisation_id: int) -> Organisation:
    """One that the account owns, or Http404: in a provider's session too, which must not change who may come in."""
    if account.reaches_only is not None:
        raise Http404
    return own_membership(account, organisation_id, MemberRole.OWNER).organisation


@signed_in("GET", "POST")
def show_sign_in_settings(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """For owners who have just confirmed who they are; for others it is not there, so they are not asked."""
    organisation = owned_organisation(request.user, organisation_id)
    if not did_recently_reauthenticate(request):  # allauth's decorator would keep the secret in the session
        return redirect(f"{reverse('account_reauthenticate')}?next={request.path}")
    provider = IdentityProvider.objects.filter(organisation=organisation).first()
    action = request.POST.get("action")
    if action == REMOVAL:
        return _remove_provider(request, organisation, provider)
    given = request.POST if action == PROVIDER else None
    form = ProviderForm(given, instance=provider or IdentityProvider(organisation=organisation))
    if form.is_bound and form.is_valid():
        return _save_provider(request, organisation, form)
    return _show(request, organisation, form)


def _show(request: PersonRequest, organisation: Organisation, form: ProviderForm) -> HttpResponse:
    known = IdentityProvider.objects.filter(organisation=organisation).first()
    path = reverse("sign-in", args=[known.address]) if known else ""
    back = reverse("sign-in-return", args=[known.address]) if known else ""
    context = {
        "organisation": organisation,
        "form": form,
        "provider": known,
        "sign_in_url": console_link(path) if path else "",
        "return_url": console_link(back) if back else "",
        "return_pattern": console_link(reverse("sign-in-return", args=["ADDRESS"])),
        "domains": list(organisation.proven_domains.values_list("domain", flat=True)),
    }
    return render(request, "sign_in/settings.html", context)


def _save_provider(request: PersonRequest, organisation: Organisation, form: ProviderForm) -> HttpResponse:
    with acting_as(account_actor(request.user.pk)):
        provider = form.save_provider()
        if form.is_another_provider:
            SocialAccount.objects.filter(provider=provider.provider_id).delete()
    _tell_owners(request, organisation, "organisation.provider_changed")
    messages.success(request, _("Saved. The provider answered as it should."))
    return redirect("organisation-sign-in", organisation.pk)


def _remove_provider(
    request: PersonRequest, organisation: Organisation, provider: IdentityProvider | None
) -> HttpResponse:
    if provider is not None:
        with acting_as(account_actor(request.user.pk)):
            SocialAccount.objects.filter(provider=provider.provider_id).delete()
            provider.delete()
        _tell_owners(request, organisation, "organisation.provider_removed")
        messages.success(request, _("Provider removed. Nobody can sign in with it any more."))
    return redirect("organisation-sign-in", organisation.pk)


def _tell_owners(request: HttpRequest, organisation: Organisation, action: str) -> None:
    """In the log of who did it, in the server's, and to every owner by mail."""
    account = cast(Account, request.user)
    note_event(request, account, action, organisation.name)
    log.info("sign-in settings changed", extra=fields(organisation=organisation.pk, action=action, account=account.pk))
    owners = organisation.memberships.filter(role=MemberRole.OWNER).select_related("account")
    for membership in owners[:50]:
        context = {"organisation": organisation, "by": account}
        get_adapter().send_notification_mail("sign_in/email/settings_changed", membership.account, context)
