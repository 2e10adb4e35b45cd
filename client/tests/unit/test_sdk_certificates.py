"""Certificates that are not trusted: each says why, and what to do."""

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from faulty_server import answering, peer

from onlooker_client import ConfigError, NotTrusted
from onlooker_client.wire.transport import Repeat, Transport

NOW = dt.datetime.now(dt.UTC)


def make_certificate(folder: Path, *, name: str = "127.0.0.1", from_day: int = -1, to_day: int = 1) -> Path:
    """Signed by itself; key and certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + dt.timedelta(days=from_day))
        .not_valid_after(NOW + dt.timedelta(days=to_day))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def ask(certificate: Path, *, ca_file: Path | None) -> int:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificate)
    with peer(answering(), trust=trust) as running:
        transport = Transport(running.url, ca_file=str(ca_file) if ca_file else None)
        try:
            return transport.request("GET", "/x", repeat=Repeat.IF_LOST).status
        finally:
            transport.close()
            assert running.connections == 1, "a certificate does not get better by trying again"


def test_a_certificate_of_the_given_authority_is_trusted(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    assert ask(certificate, ca_file=certificate) == 200


def test_an_unknown_authority_says_where_to_get_its_file(tmp_path: Path) -> None:
    with pytest.raises(NotTrusted, match=r"self.signed certificate.*--ca, ONLOOKER_CA_FILE.*/authority\.pem"):
        ask(make_certificate(tmp_path), ca_file=None)


def test_another_name_is_said(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, name="vision.example.org")
    with pytest.raises(NotTrusted, match=r"another name than 127\.0\.0\.1"):
        ask(certificate, ca_file=certificate)


def test_an_expired_certificate_is_said(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, from_day=-3, to_day=-2)
    with pytest.raises(NotTrusted, match=r"expired.*clock"):
        ask(certificate, ca_file=certificate)


def test_a_certificate_of_the_future_means_a_wrong_clock(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, from_day=2, to_day=3)
    with pytest.raises(NotTrusted, match="Set the clock"):
        ask(certificate, ca_file=certificate)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_file_that_is_no_authority_is_refused_before_anything_is_asked(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"ca\.pem is not a certificate authority file.*/authority\.pem"):
        Transport("https://vision.example.org", ca_file=str(path))
