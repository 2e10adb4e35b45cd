"""What the check for silence makes of packets and system calls."""

import re
import socket
import struct

from bench.privacy.namespace import describe_packet
from bench.privacy.trace import called_addresses, written_files

HOME = re.compile(r"/srv/onlooker(/.*)?")


def packet_to(address: str, port: int, payload: bytes, *, protocol: int = 17) -> bytes:
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, protocol, 0, bytes(4), socket.inet_aton(address))
    return bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 40_000, port, 0, 0) + payload


def test_a_look_up_is_told_by_its_name() -> None:
    question = bytes(12) + b"\x05stats\x07example\x03org\x00\x00\x01\x00\x01"
    assert describe_packet(packet_to("192.0.2.254", 53, question)) == "look-up of stats.example.org"


def test_other_packets_are_told_by_where_they_went() -> None:
    assert describe_packet(packet_to("203.0.113.9", 443, b"", protocol=6)) == "TCP to 203.0.113.9:443"
    assert describe_packet(bytes(12) + b"\x08\x06" + b"\x01") == "type 0806: 01"


def test_files_outside_the_home_are_found_whether_opened_made_or_moved() -> None:
    lines = [
        '12 openat(AT_FDCWD</>, "/srv/onlooker/a", O_WRONLY|O_CREAT, 0666) = 3</srv/onlooker/a>',
        '12 openat(AT_FDCWD</root>, "id", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 4</root/id>',
        '12 openat(AT_FDCWD</>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 5</etc/hosts>',
        '12 openat(AT_FDCWD</>, "/etc/secret", O_WRONLY) = -1 EACCES (Permission denied)',
        '13 mkdir("/root/.cache/maker", 0700) = 0',
        '13 rename("/srv/onlooker/b", "/var/tmp/b") = 0',
        '13 openat(AT_FDCWD</>, "/dev/null", O_RDWR) = 6</dev/null<char 1:3>>',
    ]
    assert written_files(lines, expected=[HOME]) == ["/root/.cache/maker", "/root/id", "/var/tmp/b"]


def test_addresses_beyond_this_machine_are_found_though_nothing_was_sent() -> None:
    lines = [
        '7 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
        "7 connect(3<socket:[1]>, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (unreachable)',
        '8 sendto(4<socket:[2]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), '
        'sin_addr=inet_addr("192.0.2.53")}, 16) = 1',
    ]
    assert called_addresses(lines) == ["192.0.2.53", "2001:db8::1"]
