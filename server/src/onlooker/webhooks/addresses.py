"""Which addresses webhooks may be sent to: those outside, and networks that the operator allows."""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from onlooker.sentences import Sentence
from onlooker.settings import Settings, SettingsError, variable_name

LONGEST_URL = 500
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_INSIDE_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers; Alibaba's metadata
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's host
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",  # Oracle's metadata
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_OUTSIDE_V6 = ipaddress.IPv6Network("2000::/3")
"""All that is routed; loopback, private, link-local, multicast and local NAT64 are not in it."""
_INSIDE_V6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class BadUrlError(ValueError):
    """No webhook can be sent there; the message names the remedy."""


def parse_networks(settings: Settings) -> tuple[Network, ...]:
    """Raises SettingsError: a wrong value must fail at the start."""
    found = []
    for text in filter(None, (part.strip() for part in settings.webhooks_allow_private.split(","))):
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError:
            raise SettingsError(
                f"{variable_name('webhooks_allow_private')} has a wrong value: {text!r} is not a network such as "
                "10.20.0.0/16 or fd00::/8."
            ) from None
    return tuple(found)


def unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 address leads to, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address in _NAT64 or int(address) >> 32 == 0:  # NAT64, and the old compatible form ::127.0.0.1
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_allowed(address: Address, networks: Sequence[Network] = ()) -> bool:
    real = unwrap(address)
    if any(real.version == network.version and real in network for network in networks):
        return True
    if isinstance(real, ipaddress.IPv4Address):
        return not any(real in network for network in _INSIDE_V4)
    return real in _OUTSIDE_V6 and not any(real in network for network in _INSIDE_V6)


def split_url(text: str) -> SplitResult:
    """An https URL with a host and no password. Raises BadUrlError."""
    if len(text) > LONGEST_URL or not text.isascii() or any(letter <= " " or letter == "\x7f" for letter in text):
        raise BadUrlError(
            Sentence(
                "Use a URL of at most {longest} ASCII characters without blanks; encode others.", longest=LONGEST_URL
            )
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadUrlError(Sentence("This is not a URL. Use one such as https://example.com/hooks.")) from None
    if parts.scheme != "https":
        raise BadUrlError(Sentence("Webhooks are sent over HTTPS only. Use a URL that begins with https://."))
    if not parts.hostname or port == 0 or "\\" in text:
        raise BadUrlError(Sentence("The URL has no host. Use one such as https://example.com/hooks."))
    if parts.username is not None or parts.password is not None:
        raise BadUrlError(Sentence("Leave user and password out of the URL. Requests are signed: verify that instead."))
    if parts.fragment:
        raise BadUrlError(Sentence("Leave the part after # out of the URL: it is never sent."))
    return parts


def read_literal(host: str) -> Address | None:
    """The address that a host is by itself, also in forms such as 2130706433 or 0x7f.1; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def check_url(text: str, networks: Sequence[Network] = ()) -> str:
    """The URL, checked as far as it can be without asking for its name. Raises BadUrlError."""
    parts = split_url(text.strip())
    host = parts.hostname or ""
    literal = read_literal(host)
    is_local_name = host.rstrip(".") == "localhost" or host.rstrip(".").endswith(".localhost")
    if (literal and not is_allowed(literal, networks)) or (is_local_name and not networks):
        raise BadUrlError(
            Sentence(
                "This address is inside a private network. Use one that is reachable from the internet, or ask this "
                "server's operator to allow the network ({setting}).",
                setting=variable_name("webhooks_allow_private"),
            )
        )
    return parts.geturl()
