"""A certificate for HTTPS from a local authority, created on the first run."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_DAYS = 3650
SERVER_DAYS = 397
RENEW_DAYS = 30

Key = ec.EllipticCurvePrivateKey


def ensure_certificate(folder: Path, names: list[str]) -> tuple[Path, Path]:
    """Paths of a certificate chain and key for these host names, created or renewed if needed."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority, authority_key = _ensure_authority(folder)
    chain, key_file = folder / "server.pem", folder / "server.key"
    if not (chain.exists() and key_file.exists() and _still_good(chain, authority, names)):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _sign_server(authority, authority_key, key, names)
        _write(key_file, _pem_key(key), mode=0o600)
        _write(chain, _pem(certificate) + _pem(authority), mode=0o644)
    return chain, key_file


def authority_file(folder: Path) -> Path:
    """What a client must trust."""
    return folder / "ca.pem"


def _ensure_authority(folder: Path) -> tuple[x509.Certificate, Key]:
    certificate_file, key_file = authority_file(folder), folder / "ca.key"
    if certificate_file.exists() and key_file.exists():
        key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        assert isinstance(key, Key)
        return x509.load_pem_x509_certificate(certificate_file.read_bytes()), key
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Onlooker local authority")])
    certificate = (
        _builder(name, name, key, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write(key_file, _pem_key(key), mode=0o600)
    _write(certificate_file, _pem(certificate), mode=0o644)
    return certificate, key


def _sign_server(authority: x509.Certificate, authority_key: Key, key: Key, names: list[str]) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _builder(subject, authority.subject, key, SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _still_good(chain: Path, authority: x509.Certificate, names: list[str]) -> bool:
    certificate = x509.load_pem_x509_certificate(chain.read_bytes())
    known = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    lives_on = certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(days=RENEW_DAYS)
    return lives_on and certificate.issuer == authority.subject and set(map(_alternative, names)) <= set(known)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem_key(key: Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, data: bytes, *, mode: int) -> None:
    path.touch(mode=mode, exist_ok=True)
    path.chmod(mode)
    path.write_bytes(data)
