"""The local authority: made once, its certificates renewed, and good for a real client."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from cryptography import x509

from onlooker.settings import Settings
from onlooker.up import certificates
from onlooker.up.certificates import authority_file, ensure_certificate
from onlooker.up.environment import tls_environment


def test_the_authority_stays_and_the_certificate_is_reused(tmp_path: Path) -> None:
    chain, _ = ensure_certificate(tmp_path, ["localhost"])
    authority, certificate = authority_file(tmp_path).read_bytes(), chain.read_bytes()
    ensure_certificate(tmp_path, ["localhost"])
    assert (authority_file(tmp_path).read_bytes(), chain.read_bytes()) == (authority, certificate)


def test_a_new_name_gets_a_new_certificate_from_the_same_authority(tmp_path: Path) -> None:
    chain, _ = ensure_certificate(tmp_path, ["localhost"])
    authority = authority_file(tmp_path).read_bytes()
    ensure_certificate(tmp_path, ["localhost", "192.168.7.7", "shop.example"])
    names = x509.load_pem_x509_certificate(chain.read_bytes()).extensions
    alternatives = names.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "shop.example" in alternatives.get_values_for_type(x509.DNSName)
    assert authority_file(tmp_path).read_bytes() == authority


def test_a_certificate_is_renewed_before_it_ends(tmp_path: Path) -> None:
    with patch.object(certificates, "SERVER_DAYS", certificates.RENEW_DAYS - 1):
        chain, _ = ensure_certificate(tmp_path, ["localhost"])
    ensure_certificate(tmp_path, ["localhost"])
    ends = x509.load_pem_x509_certificate(chain.read_bytes()).not_valid_after_utc
    assert ends > datetime.now(UTC) + timedelta(days=300)


def test_a_strict_client_accepts_the_chain(tmp_path: Path) -> None:
    chain, key = ensure_certificate(tmp_path, ["localhost"])
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(chain, key)
    client = ssl.create_default_context(cafile=str(authority_file(tmp_path)))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].getpeercert()


def test_devices_are_told_of_the_local_authority_only_where_they_meet_it() -> None:
    def told(**settings: object) -> str | None:
        return tls_environment(Settings(**settings), "/tls/server.pem", "/tls/server.key").get(  # type: ignore[arg-type]
            "ONLOOKER_AUTHORITY_FILE"
        )

    assert told() == "/tls/ca.pem"
    assert told(tls_certificate_file="/etc/chain.pem") is None
    assert told(https_port=0) is None, "a proxy shows a certificate of its own"
