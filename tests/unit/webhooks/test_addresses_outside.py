"""Webhooks go to addresses outside, in whatever form one inside is written."""

import ipaddress

import msgspec
import pytest

from onlooker.settings import Settings, SettingsError
from onlooker.webhooks.addresses import BadUrlError, check_url, is_allowed, parse_networks

INSIDE = [
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "198.18.0.1"),
    *("224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::1", "fec0::1", "fc00::1"),
    *("fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1", "3fff::1", "4000::1"),
]
OUTSIDE = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:1.1.1.1"]


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_inside_is_refused(text: str) -> None:
    assert not is_allowed(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", OUTSIDE)
def test_an_address_outside_is_allowed(text: str) -> None:
    assert is_allowed(ipaddress.ip_address(text))


def test_the_operator_allows_networks_and_nothing_beside_them() -> None:
    settings = msgspec.structs.replace(Settings(), webhooks_allow_private="10.20.0.0/16, fd12::/16")
    networks = parse_networks(settings)
    for text in ("10.20.1.1", "::ffff:10.20.1.1", "fd12::1"):
        assert is_allowed(ipaddress.ip_address(text), networks), text
    for text in ("10.21.1.1", "127.0.0.1", "fd13::1", "::1"):
        assert not is_allowed(ipaddress.ip_address(text), networks), text


@pytest.mark.parametrize("wrong", ["10.20.0.1/16", "inside", "10.0.0.0/8;172.16.0.0/12"])
def test_a_wrong_network_fails_at_the_start(wrong: str) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_WEBHOOKS_ALLOW_PRIVATE"):
        parse_networks(msgspec.structs.replace(Settings(), webhooks_allow_private=wrong))


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "example.com", "https://", "https:///path", "//example.com"),
        *("https://user:pw@example.com/", "https://example.com/#part", "https://example.com:99999/"),
        *("https://example.com:0/", "https://exa mple.com/", "https://example.com/\r\nX: y", "https://exämple.com/"),
        *("https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/"),
        *("https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://127.1/", "https://0/"),
        *("https://localhost/", "https://a.localhost./", "https://169.254.169.254/latest/meta-data/"),
        *("https://example.com\\@127.0.0.1/", f"https://example.com/{'a' * 500}", ""),
    ],
)
def test_a_url_that_leads_nowhere_or_inside_is_refused_with_a_remedy(url: str) -> None:
    with pytest.raises(BadUrlError, match=r"Use |use |Leave "):
        check_url(url)


@pytest.mark.parametrize("url", ["https://example.com", "https://example.com:8443/a/b?c=d", "https://1.1.1.1/x"])
def test_a_url_outside_is_kept_as_it_is(url: str) -> None:
    assert check_url(f" {url} ") == url
