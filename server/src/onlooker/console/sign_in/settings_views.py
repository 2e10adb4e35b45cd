"""The owner's page: whether an organisation requires a second factor, and its provider."""

import logging
from typing import cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from onlooker.console.accounts.adapter import console_link
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.accounts.reach import reachable_memberships
from onlooker.console.accounts.second_factor import has_second_factor
from onlooker.console.accounts.security_events import note_event
from onlooker.console.sign_in.forms import ProviderForm, RequirementForm
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.logs import fields
from onlooker.streams.models import MemberRole, Organisation

log = logging.getLogger(__name__)

PROVIDER, REQUIREMENT, REMOVAL = "provider", "requirement", "removal"


def owned_organisation(account: Account, organisation_id: int) -> Organisation:
    """One that the account owns, or Http404."""
    owned = reachable_memberships(account).filter(organisation=organisation_id, role=MemberRole.OWNER)
    membership = owned.select_related("organisation").first()
    if membership is None or account.reaches_only is not None:
        raise Http404
    return membership.organisation


@signed_in("GET", "POST")
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator]
def show_sign_in_settings(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = owned_organisation(request.user, organisation_id)
    provider = IdentityProvider.objects.filter(organisation=organisation).first()
    action = request.POST.get("action")
    if action == REQUIREMENT:
        return _set_requirement(request, organisation)
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
        "requirement": RequirementForm(initial={"requires_second_factor": organisation.requires_second_factor}),
        "provider": known,
        "sign_in_url": console_link(path) if path else "",
        "return_url": console_link(back) if back else "",
        "return_pattern": console_link(reverse("sign-in-return", args=["ADDRESS"])),
        "domains": list(organisation.proven_domains.values_list("domain", flat=True)),
        "has_second_factor": has_second_factor(request.user),
    }
    return render(request, "sign_in/settings.html", context)


def _set_requirement(request: PersonRequest, organisation: Organisation) -> HttpResponse:
    form = RequirementForm(request.POST)
    wanted = form.is_valid() and form.cleaned_data["requires_second_factor"]
    if wanted and not has_second_factor(request.user):
        messages.error(request, "Set up your own second factor first: without one you would lock yourself out.")
        return redirect("mfa_index")
    if wanted != organisation.requires_second_factor:
        organisation.requires_second_factor = wanted
        organisation.save(update_fields=["requires_second_factor"])
        _tell_owners(request, organisation, "organisation.requires" if wanted else "organisation.requires_not")
    messages.success(request, "Saved.")
    return redirect("organisation-sign-in", organisation.pk)


def _save_provider(request: PersonRequest, organisation: Organisation, form: ProviderForm) -> HttpResponse:
    with transaction.atomic():
        provider = form.save_provider()
        if form.is_another_provider:
            SocialAccount.objects.filter(provider=provider.provider_id).delete()
    _tell_owners(request, organisation, "organisation.provider_changed")
    messages.success(request, "Saved. The provider answered as it should.")
    return redirect("organisation-sign-in", organisation.pk)


def _remove_provider(
    request: PersonRequest, organisation: Organisation, provider: IdentityProvider | None
) -> HttpResponse:
    if provider is not None:
        with transaction.atomic():
            SocialAccount.objects.filter(provider=provider.provider_id).delete()
            provider.delete()
        _tell_owners(request, organisation, "organisation.provider_removed")
        messages.success(request, "Provider removed. Nobody can sign in with it any more.")
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
