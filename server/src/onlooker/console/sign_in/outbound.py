"""Requests to an organisation's provider: bounded in time and size, to the hosts that its owner named, no redirects."""

import ssl
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from urllib3.exceptions import HTTPError

from onlooker.sentences import Sentence

CONNECT_LIMIT_S, READ_LIMIT_S, TOTAL_LIMIT_S = 3.0, 5.0, 10.0
LARGEST_ANSWER = 256 * 1024
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_CHUNK = 8192


class ProviderTroubleError(requests.RequestException):
    """The provider could not be asked. The sentence is for people, and names the remedy."""


def place_of(url: str) -> str:
    """Host and port of a URL that may be asked; raises ProviderTroubleError."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        said = Sentence("{url} is not a URL. Correct it in the sign-in settings.", url=repr(url[:200]))
        raise ProviderTroubleError(said) from None
    place = parts.netloc.lower()
    is_loopback = place.rpartition(":")[0] in LOOPBACK or place in LOOPBACK
    is_allowed = parts.scheme == "https" or (
        parts.scheme == "http" and is_loopback and settings.SIGN_IN_ALLOWS_LOOPBACK
    )
    if not is_allowed or not parts.hostname or "@" in place:
        raise ProviderTroubleError(
            Sentence("{url} is not an HTTPS URL. Use one that begins with https://.", url=repr(url[:200]))
        )
    return place


class ProviderSession(requests.Session):
    """Asks these hosts and no others, whatever an answer names."""

    def __init__(self, places: Iterable[str]) -> None:
        super().__init__()
        self._places = frozenset(places)
        self.trust_env = False
        self.verify = ssl.get_default_verify_paths().cafile or True

    def request(self, method: str, url: str | bytes, *arguments: Any, **values: Any) -> requests.Response:
        """The whole answer, which is not a redirect."""
        self.require_place(str(url))
        fixed = {"timeout": (CONNECT_LIMIT_S, READ_LIMIT_S), "allow_redirects": False, "stream": True}
        started = time.monotonic()
        try:
            with super().request(method, url, *arguments, **values | fixed) as response:
                response._content = _read(response, ends_at=started + TOTAL_LIMIT_S)
        except ProviderTroubleError:
            raise
        except (requests.RequestException, HTTPError) as error:
            said = Sentence(
                "{host} did not answer ({error}). Try again in a few minutes.",
                host=place_of(str(url)),
                error=type(error).__name__,
            )
            raise ProviderTroubleError(said) from None
        if response.is_redirect or response.is_permanent_redirect:
            raise ProviderTroubleError(
                Sentence(
                    "{host} redirects elsewhere. Use the address that it redirects to in the settings.",
                    host=place_of(str(url)),
                )
            )
        return response

    def require_place(self, url: str) -> None:
        place = place_of(url)
        if place not in self._places:
            raise ProviderTroubleError(
                Sentence(
                    "The provider refers to {host}, which is not among its hosts. If it belongs to the provider, add "
                    "it to the further hosts in the sign-in settings.",
                    host=place,
                )
            )


def _read(response: requests.Response, *, ends_at: float) -> bytes:
    """What has come, and then what comes next: a larger piece would be waited for without looking at the clock."""
    content = bytearray()
    while chunk := response.raw.read1(_CHUNK, decode_content=True):
        content += chunk
        if len(content) > LARGEST_ANSWER:
            raise ProviderTroubleError(
                Sentence("The provider's answer is too large. Check the issuer in the sign-in settings.")
            )
        if time.monotonic() > ends_at:
            raise ProviderTroubleError(Sentence("The provider's answer takes too long. Try again in a few minutes."))
    return bytes(content)


def read_object(response: requests.Response) -> dict[str, Any]:
    """The JSON object that an answer consists of."""
    try:
        found = response.json() if response.status_code == requests.codes.ok else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderTroubleError(
            Sentence(
                "{host} answered with status {status} and no JSON object. Check the issuer, the client id and the "
                "secret in the sign-in settings.",
                host=place_of(response.url),
                status=response.status_code,
            )
        )
    return found
