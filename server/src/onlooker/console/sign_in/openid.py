"""The OpenID Connect half: django-allauth's provider, with discovery, tokens and claims checked to the letter."""

import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import jwt
from allauth.socialaccount.models import SocialToken
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest
from django.urls import reverse
from requests.auth import HTTPBasicAuth

from onlooker.console.accounts.adapter import console_link
from onlooker.console.sign_in.models import LONGEST_SUBJECT
from onlooker.console.sign_in.outbound import ProviderSession, ProviderTroubleError, place_of, read_object
from onlooker.sentences import Sentence

WELL_KNOWN = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key: a token signed with the client's secret, or not at all, is none."""
CLOCK_LEEWAY_S = 60
LOGIN = AuthProcess.LOGIN


@dataclass(frozen=True)
class Discovery:
    """What a provider says about itself, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    """Empty if there is none."""
    posts_secret: bool
    """Whether the client's secret goes into the form: only where the usual header is not taken."""


def open_session(issuer: str, further_hosts: str) -> ProviderSession:
    return ProviderSession([place_of(issuer), *further_hosts.lower().split()])


def discover(session: ProviderSession, issuer: str) -> Discovery:
    """Read and check the provider's document; raises ProviderTroubleError."""
    found = read_object(session.get(issuer.rstrip("/") + WELL_KNOWN))
    if found.get("issuer") != issuer:
        raise ProviderTroubleError(
            Sentence(
                "The provider calls itself {found}, and the sign-in settings have {wanted}. Both must be the same, to "
                "the letter.",
                found=repr(str(found.get("issuer"))[:200]),
                wanted=repr(issuer),
            )
        )
    urls = {name: found.get(name) for name in ENDPOINTS} | {"userinfo_endpoint": found.get("userinfo_endpoint") or ""}
    for name, url in urls.items():
        if not isinstance(url, str) or (not url and name in ENDPOINTS):
            raise ProviderTroubleError(
                Sentence("The provider's document has no {name}. Ask the provider's administrator.", name=name)
            )
        if url:
            session.require_place(url)
    methods = found.get("token_endpoint_auth_methods_supported")
    return Discovery(
        issuer=issuer,
        posts_secret=isinstance(methods, list) and "client_secret_basic" not in methods,
        **{name: str(url) for name, url in urls.items()},
    )


def verify_id_token(token: Any, *, keys: dict[str, Any], issuer: str, client_id: str) -> dict[str, Any]:
    """Its claims; raises OAuth2Error unless this provider signed it for this client, and it is valid now."""
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key=_find_key(token, keys),
            algorithms=list(ALGORITHMS),
            issuer=issuer,
            audience=client_id,
            leeway=CLOCK_LEEWAY_S,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except (jwt.PyJWTError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise OAuth2Error(f"ID token: {type(error).__name__}") from error
    if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and claims.get("azp") != client_id:
        raise OAuth2Error("ID token: for another client")
    if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT:
        raise OAuth2Error("ID token: subject")
    return claims


def _find_key(token: str, keys: dict[str, Any]) -> jwt.PyJWK:
    """The one that the token names; the only one, if it names none."""
    usable = [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use in (None, "sig")]
    name = jwt.get_unverified_header(token).get("kid")
    fitting = usable if name is None else [key for key in usable if key.key_id == name]
    if len(fitting) != 1:
        raise LookupError("no such key")
    return fitting[0]


class OrganisationOAuth2Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The requests of a sign-in. Nothing of allauth's own asks the provider."""

    _discovery: Discovery | None = None

    @property
    def discovery(self) -> Discovery:
        if self._discovery is None:
            self._discovery = discover(self._session(), self.get_provider().app.settings["issuer"])
        return self._discovery

    def _session(self) -> ProviderSession:
        known = self.get_provider().app.settings
        return open_session(known["issuer"], known["further_hosts"])

    @property
    def openid_config(self) -> dict[str, str]:
        return {"authorization_endpoint": self.discovery.authorization_endpoint}

    @property
    def basic_auth(self) -> bool:
        return not self.discovery.posts_secret

    @property
    def access_token_url(self) -> str:
        return self.discovery.token_endpoint

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return console_link(reverse("sign-in-return", args=[app.settings["address"]]))

    def get_access_token_data(
        self, request: HttpRequest, app: Any, client: Any, pkce_code_verifier: str | None = None
    ) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": request.GET["code"],
            "redirect_uri": self.get_callback_url(request, app),
            "code_verifier": pkce_code_verifier or "",
        }
        auth = HTTPBasicAuth(quote(app.client_id, safe=""), quote(app.secret, safe="")) if self.basic_auth else None
        posted = {} if self.basic_auth else {"client_id": app.client_id, "client_secret": app.secret}
        answer = read_object(self._session().post(self.discovery.token_endpoint, data=form | posted, auth=auth))
        if not isinstance(answer.get("access_token"), str) or not isinstance(answer.get("id_token"), str):
            raise OAuth2Error("no tokens")
        return answer

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        """It is used for this sign-in and not stored."""
        return SocialToken(token=data["access_token"])

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **kwargs: Any) -> Any:
        session, discovery = self._session(), self.discovery
        keys = read_object(session.get(discovery.jwks_uri))
        claims = verify_id_token(
            kwargs["response"]["id_token"], keys=keys, issuer=discovery.issuer, client_id=app.client_id
        )
        if discovery.userinfo_endpoint:
            bearer = {"Authorization": f"Bearer {token.token}"}
            more = read_object(session.get(discovery.userinfo_endpoint, headers=bearer))
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("userinfo: of somebody else")
            claims = more | claims
        return self.get_provider().sociallogin_from_response(request, claims)


class OrganisationProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """One organisation's provider. Of what it says about people, only the subject is stored."""

    oauth2_adapter_class = OrganisationOAuth2Adapter

    def begin(self, request: HttpRequest, next_url: str | None) -> str:
        """The provider's address for this sign-in. Parameters of the request change nothing about it."""
        nonce = secrets.token_urlsafe(24)
        answer = self.redirect(request, LOGIN, next_url, auth_params={"nonce": nonce}, nonce=nonce)
        return str(answer["Location"])

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        login = super().sociallogin_from_response(request, response)
        login.claims = response
        return login

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(data["sub"])

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        email = data.get("email")
        return {"email": email} if isinstance(email, str) else {}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        return []

    def serialize(self) -> dict[str, Any]:
        """While a second factor or an address is being confirmed; client ids need not be unique."""
        return {"id": self.app.provider_id}
