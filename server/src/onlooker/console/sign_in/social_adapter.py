"""django-allauth's adapter for providers: apps come from organisations' settings, and admission decides."""

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.languages.locale_text import translate
from onlooker.console.sign_in import counters
from onlooker.console.sign_in.admission import SignInRefusedError, admit
from onlooker.console.sign_in.lookup import find_provider
from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.sign_in.openid import OrganisationProvider
from onlooker.console.sign_in.outbound import ProviderSession, ProviderTroubleError
from onlooker.console.web.secret_key import EARLIER_KEY_REMEDY, InvalidToken, unseal
from onlooker.logs import fields
from onlooker.sentences import Sentence

log = logging.getLogger(__name__)

START_AGAIN = _lazy("The sign-in was not completed. Start again from the sign-in page.")
NOT_ACCEPTED = _lazy(
    "What the provider answered could not be verified, so nobody was signed in. Start again; if that does not help, "
    "ask the provider's administrator to check its keys, its clock and the client's id."
)


def show_refusal(request: HttpRequest, provider: IdentityProvider, text: str) -> HttpResponse:
    """Status 403, with the remedy."""
    context = {"organisation": provider.organisation, "provider": provider, "text": text}
    return render(request, "sign_in/refused.html", context, status=403)


def app_of(provider: IdentityProvider) -> SocialApp:
    """As allauth wants it. It is never saved, so the secret is nowhere in plain text."""
    try:
        secret = unseal(provider.sealed_secret)
    except InvalidToken:
        log.error("client secret not readable: the secret key has changed", extra=fields(remedy=EARLIER_KEY_REMEDY))
        said = Sentence("This server can't read its secret for the provider. Enter it again.")
        raise ProviderTroubleError(said) from None
    known = {"issuer": provider.issuer, "further_hosts": provider.further_hosts, "address": provider.address}
    return SocialApp(
        provider=OrganisationProvider.id,
        provider_id=provider.provider_id,
        name=provider.organisation.name[:40],
        client_id=provider.client_id,
        secret=secret,
        settings=known | {"scope": provider.scopes.split(), "oauth_pkce_enabled": True},
    )


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Organisations' providers and no others."""

    def list_apps(self, request: HttpRequest, provider: str | None = None, client_id: str | None = None) -> list[Any]:
        try:
            return [app_of(find_provider(provider or ""))]
        except SocialApp.DoesNotExist:
            return []

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> OrganisationProvider:
        return OrganisationProvider(request, app=self.get_app(request, provider))

    def get_requests_session(self) -> ProviderSession:
        """For what of allauth would ask a provider by itself: it may ask nobody."""
        return ProviderSession([])

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        provider = find_provider(sociallogin.account.provider)
        try:
            answer = admit(request, provider, sociallogin)
        except SignInRefusedError as refusal:
            counters.provider_sign_ins("refused").inc()
            log.info("sign-in with a provider refused", extra=fields(organisation=provider.organisation_id))
            raise ImmediateHttpResponse(show_refusal(request, provider, str(refusal))) from None
        counters.provider_sign_ins("admitted").inc()
        if answer is not None:
            raise ImmediateHttpResponse(answer)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: OrganisationProvider,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        counters.provider_sign_ins("failed").inc()
        if isinstance(exception, ProviderTroubleError):
            text = translate(exception)
        else:
            text = str(START_AGAIN if exception is None or error == AuthError.CANCELLED else NOT_ACCEPTED)
        row = find_provider(provider.app.provider_id)
        reason = type(exception).__name__ if exception else ""
        log.warning(
            "sign-in with a provider failed",
            extra=fields(organisation=row.organisation_id, error=reason, detail=str(exception or "")[:200]),
        )
        raise ImmediateHttpResponse(show_refusal(request, row, text))
