"""`onlooker bus`: three servers are configured, prepared and checked, with and without certificates."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from commanded_bus import CommandedBus, commanded_bus
from onlooker.bus.connection import BusError, connect, publish_kept
from onlooker.bus.subjects import visits_subject
from onlooker.up.certificates import authority_file, ensure_certificate

STREAMS = 23
"""With the consumer."""


def test_three_servers_are_configured_prepared_and_checked(tmp_path: Path) -> None:
    with commanded_bus(tmp_path) as bus:
        assert (tmp_path / "nats/passwords.json").stat().st_mode & 0o777 == 0o600
        prepared = bus.run("prepare", bus_replicas=3)
        assert prepared.returncode == 0, prepared.stderr
        lines = prepared.stdout.splitlines()
        assert len(lines) == STREAMS
        assert all("3 replicas" in line and "leader n" in line for line in lines)
        checked = bus.run("check", bus_replicas=3)
        assert checked.returncode == 0, checked.stdout
        assert bus.run("prepare", bus_replicas=3).stdout.count("3 replicas") == STREAMS

        differently = bus.run("check", bus_replicas=3, visits_disk_bytes=2**30)
        assert differently.returncode == 1
        assert f"max_bytes is {2**31}, and should be {2**30}: run `onlooker bus prepare`" in differently.stdout

        bus.as_setup(lambda jetstream: jetstream.delete_stream("KV_feeds-0"))
        bus.kill("n3")
        found = bus.run("check", bus_replicas=3)
        assert found.returncode == 1
        assert "KV_feeds-0 is missing: run `onlooker bus prepare`." in found.stdout
        assert "n3" in found.stdout


def publish(bus: CommandedBus, *, within_s: float) -> None:
    """A visit, as a worker leaves it."""

    async def run() -> None:
        connection = await connect(bus.settings("worker"), name="test")
        give_up_at = time.monotonic() + within_s
        while True:
            try:
                await publish_kept(connection, visits_subject(7), b"visit")
                break
            except BusError:
                assert time.monotonic() < give_up_at
                await asyncio.sleep(0.1)
        await connection.close()

    asyncio.run(run())


def test_a_stream_with_new_replicas_outlives_its_leader_as_soon_as_it_is_prepared(tmp_path: Path) -> None:
    with commanded_bus(tmp_path) as bus:
        assert bus.run("prepare", bus_replicas=1).returncode == 0
        publish(bus, within_s=10)
        lacking = bus.run("check", bus_replicas=3)
        assert (
            "VISITS has 1 replica, and ONLOOKER_BUS_REPLICAS asks for 3: run `onlooker bus prepare`." in lacking.stdout
        )
        raised = bus.run("prepare", bus_replicas=3)
        assert raised.returncode == 0, raised.stderr
        bus.kill(bus.leader())
        publish(bus, within_s=20)


def test_preparing_waits_for_servers_that_are_still_starting(tmp_path: Path) -> None:
    with commanded_bus(tmp_path) as bus:
        for name in ("n2", "n3"):
            bus.kill(name)
        with bus.running("prepare", bus_replicas=3) as preparing:
            time.sleep(3)
            assert preparing.poll() is None
            bus.start("n2")
            bus.start("n3")
            assert preparing.wait(120) == 0
        assert "Waiting for the bus: " in bus.output("prepare")


def test_a_wrong_password_is_named_at_once(tmp_path: Path) -> None:
    with commanded_bus(tmp_path) as bus:
        for command in ("prepare", "check"):
            refused = bus.run(command, nats_password="wrong")
            assert refused.returncode == 2
            assert "refuses the user 'setup'" in refused.stderr
            assert "wrong" not in refused.stderr.replace("refuses", "")


def peer_certificate(folder: Path) -> tuple[str, str, str]:
    """Certificate, key and authority, for a server that is a client of others too."""
    ensure_certificate(folder, ["localhost"])
    authority = x509.load_pem_x509_certificate(authority_file(folder).read_bytes())
    signer = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "peer")]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )
    (folder / "peer.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "peer.key").write_bytes(pem)
    return str(folder / "peer.pem"), str(folder / "peer.key"), str(authority_file(folder))


def test_with_an_authority_servers_and_clients_show_certificates(tmp_path: Path) -> None:
    certificate, key, authority = peer_certificate(tmp_path / "tls")
    arguments = ("--certificate", certificate, "--key", key, "--authority", authority)
    shown = {
        "ONLOOKER_NATS_AUTHORITY_FILE": authority,
        "ONLOOKER_NATS_CERTIFICATE_FILE": certificate,
        "ONLOOKER_NATS_KEY_FILE": key,
    }
    with commanded_bus(tmp_path, *arguments, tls=shown) as bus:
        prepared = bus.run("prepare", bus_replicas=3)
        assert prepared.returncode == 0, prepared.stderr
        publish(bus, within_s=10)
        bus.tls = {"ONLOOKER_NATS_AUTHORITY_FILE": authority}
        checked = bus.run("check", bus_replicas=3)
        assert checked.returncode == 2
        assert "does not answer" in checked.stderr
