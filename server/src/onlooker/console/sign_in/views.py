"""Pages for people: an organisation's sign-in page, the way back from its provider, and what a session may not do."""

from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.accounts.rate_limit import client_address, show_rate_limited, take_within_limit
from onlooker.console.accounts.reach import organisations_that_wait
from onlooker.console.languages.locale_text import translate
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.sign_in.openid import OrganisationOAuth2Adapter, OrganisationProvider
from onlooker.console.sign_in.outbound import ProviderTroubleError, place_of
from onlooker.console.sign_in.social_adapter import START_AGAIN, app_of, show_refusal

SIGN_INS_FROM_ONE_ADDRESS = "60/m/key"
"""Each asks the provider, so no one may have us ask it without end."""


def find_by_address(address: str) -> IdentityProvider:
    """One that is on, or Http404."""
    found = IdentityProvider.objects.select_related("organisation").filter(address=address, is_on=True).first()
    if found is None:
        raise Http404
    return found


@require_http_methods(["GET", "POST"])
def show_sign_in(request: HttpRequest, address: str) -> HttpResponse:
    """The page that an organisation gives to its people; a POST leads to the provider."""
    provider = find_by_address(address)
    account = request.user if isinstance(request.user, Account) else None
    if request.method == "POST":
        return _begin(request, provider, account)
    context = {
        "provider": provider,
        "organisation": provider.organisation,
        "host": place_of_issuer(provider),
        "next": get_next_redirect_url(request),
        "is_connected": account is not None
        and SocialAccount.objects.filter(provider=provider.provider_id, user=account).exists(),
        "must_confirm": account is not None and not did_recently_reauthenticate(request),
    }
    return render(request, "sign_in/sign_in.html", context)


def place_of_issuer(provider: IdentityProvider) -> str:
    try:
        return place_of(provider.issuer)
    except ProviderTroubleError:
        return provider.issuer


def _begin(request: HttpRequest, provider: IdentityProvider, account: Account | None) -> HttpResponse:
    """A page leads on by itself: the policy that forms are sent to us alone would stop a redirect."""
    if account is not None and not did_recently_reauthenticate(request):
        return redirect(f"{reverse('account_reauthenticate')}?next={reverse('sign-in', args=[provider.address])}")
    if not _may_ask(request):
        return show_rate_limited(request)
    try:
        target = OrganisationProvider(request, app=app_of(provider)).begin(request, get_next_redirect_url(request))
    except ProviderTroubleError as trouble:
        return show_refusal(request, provider, translate(trouble))
    context = {"target": target, "organisation": provider.organisation, "host": place_of(target)}
    return render(request, "sign_in/leading.html", context)


@require_GET
def take_answer(request: HttpRequest, address: str) -> HttpResponse:
    """The way back: django-allauth checks the state, fetches the tokens and asks the adapter."""
    provider = find_by_address(address)
    if not _may_ask(request):
        return show_rate_limited(request)
    if request.GET.get("iss", provider.issuer) != provider.issuer:
        return show_refusal(request, provider, str(START_AGAIN))
    try:
        view = OAuth2CallbackView.adapter_view(OrganisationOAuth2Adapter(request, provider.provider_id))
        answer: HttpResponse = view(request)
    except ProviderTroubleError as trouble:
        return show_refusal(request, provider, translate(trouble))
    return answer


def _may_ask(request: HttpRequest) -> bool:
    return take_within_limit(request, "provider_sign_in", rates=SIGN_INS_FROM_ONE_ADDRESS, key=client_address(request))


@signed_in("GET")
def show_requirement(request: PersonRequest) -> HttpResponse:
    """Where members are led whose organisation requires a second factor."""
    waiting = list(organisations_that_wait(request.user))
    if not waiting:
        return redirect("streams")
    return render(request, "sign_in/required.html", {"organisations": waiting})


@login_required
@require_GET
def show_closed(request: HttpRequest) -> HttpResponse:
    """In place of pages that change the account itself."""
    return render(request, "sign_in/closed.html")
