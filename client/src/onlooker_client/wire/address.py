"""Where a server is: scheme, host and port, and whether a Password may travel there."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from onlooker_client.errors import ConfigError

EXAMPLE = "An address looks like https://vision.example.org"
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?|[0-9a-f:.]*:[0-9a-f:.]*")
"""A name, an IPv4 or an IPv6 address."""
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Address:
    """Scheme, host and port of a server."""

    scheme: str
    host: str
    port: int

    @staticmethod
    def of(url: str) -> Address:
        """Of any URL of a server; its path does not matter."""
        try:
            parts = urlsplit(url)
            port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii")
        except ValueError:  # also UnicodeError
            raise ConfigError(f"{shown(url)} is not the address of a server. {EXAMPLE}") from None
        if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
            raise ConfigError(f"{shown(url)} is not the address of a server. {EXAMPLE}")
        return Address(parts.scheme, host, port or _PORTS[parts.scheme])

    @staticmethod
    def of_server(url: str) -> Address:
        """As a person gives it: nothing but the address, and safe enough for a Password."""
        address = Address.of(url)
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None:
            raise ConfigError(
                "An address must not contain a Login or Password. Give them as client_id and access_token."
            )
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ConfigError(f"{url} contains more than an address. Use {address} alone.")
        if address.scheme == "http" and not address.is_loopback:
            raise ConfigError(f"{url} would send the Password unencrypted. Use https:// instead.")
        return address

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost" or self.host.endswith(".localhost")

    @property
    def bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        return self.bracketed if self.port == _PORTS[self.scheme] else f"{self.bracketed}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def shown(url: str) -> str:
    """A URL as a message may show it: short, and without what stands before an @."""
    scheme, slashes, rest = url.rpartition("://")
    _, at, host = rest.partition("/")[0].rpartition("@")
    return repr(f"{scheme}{slashes}...@{host}" if at else url[:100])
