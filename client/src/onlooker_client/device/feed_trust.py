"""Who may read the local feed. Browsers let any page open a WebSocket to any address, so the feed itself decides."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address

from onlooker_client.device.feed_request import FeedRefusal, FeedRequest

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
OWN_PAGES = ("none", "same-origin")
"""What `Sec-Fetch-Site` says if no strange page is behind a request: somebody typed the address."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization",
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True)
class FeedTrust:
    """The rules of one feed."""

    host: str
    port: int
    origins: Collection[str] = ()
    token: str | None = None

    def admit(self, request: FeedRequest, *, peer: str, local: str) -> dict[str, str]:
        """The CORS headers of the answer; raises FeedRefusal. `peer` and `local` are the connection's addresses."""
        self._check_host(request, local)
        origin = request.headers.get("origin")
        cors = {"Vary": "Origin"} | ({} if origin is None else {"Access-Control-Allow-Origin": origin})
        if self._has_token(request):
            return cors
        if not is_loopback(peer):
            raise _unauthorized("Requests from other machines need the token of --feed-token-file.")
        if origin is not None:
            if origin not in self.origins:
                raise _forbidden("origin", "Pages of this origin may not read the feed. Name it with --feed-origin.")
            return cors
        if request.headers.get("sec-fetch-site", "none") not in OWN_PAGES:
            raise _forbidden("origin", "A page that does not name its origin may not read the feed.")
        if self.token is not None:
            raise _unauthorized("This feed has a token: send it as `Authorization: Bearer ...` or as ?token=...")
        return cors

    def answer_preflight(self, request: FeedRequest, *, peer: str, local: str) -> dict[str, str]:
        """The headers of the answer to a browser that asks before it sends; raises FeedRefusal."""
        cors = self.admit(request, peer=peer, local=local) | PREFLIGHT
        for name in ("private", "local"):  # the header's name in two drafts
            if request.headers.get(f"access-control-request-{name}-network") == "true":
                cors[f"Access-Control-Allow-{name.title()}-Network"] = "true"
        return cors

    def _check_host(self, request: FeedRequest, local: str) -> None:
        """A name that leads here through somebody's DNS is not ours (DNS rebinding)."""
        ours = {_authority(name, self.port) for name in (*LOOPBACK_NAMES, self.host, plain_address(local))}
        asked = request.headers.get("host", "").lower()
        if self.port == 80:
            asked = asked if asked.endswith(":80") else f"{asked}:80"
        if asked not in ours:
            raise FeedRefusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "host",
                f"The feed answers at http://{_authority(self.host, self.port)} only, not under other names.",
            )

    def _has_token(self, request: FeedRequest) -> bool:
        """Raises FeedRefusal for a wrong one, also where none is needed."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            given = request.query.get("token", "")
        if not given:
            return False
        if self.token is None or not hmac.compare_digest(given.strip().encode(), self.token.encode()):
            raise _unauthorized("The token is wrong.")
        return True


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    return _parse_address(address).is_loopback


def plain_address(address: str) -> str:
    """An IPv4 address that arrived on an IPv6 socket, as people write it."""
    return str(_parse_address(address))


def _parse_address(address: str) -> IPv4Address | IPv6Address:
    parsed = ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def _authority(name: str, port: int) -> str:
    return f"[{name}]:{port}".lower() if ":" in name else f"{name}:{port}".lower()


def _forbidden(reason: str, text: str) -> FeedRefusal:
    return FeedRefusal(HTTPStatus.FORBIDDEN, reason, text)


def _unauthorized(text: str) -> FeedRefusal:
    return FeedRefusal(HTTPStatus.UNAUTHORIZED, "token", text, WWW_Authenticate='Bearer realm="onlooker feed"')
