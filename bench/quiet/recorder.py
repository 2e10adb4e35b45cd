"""Records every packet that would have left the machine."""

import ipaddress
import socket
import threading
import time
from dataclasses import dataclass, field

from bench.quiet.namespace import RECORDED

_EVERYTHING = 3  # ETH_P_ALL
_IPV4, _UDP, _TCP, _DNS_PORT = b"\x08\x00", 17, 6, 53


@dataclass
class Recorder:
    """Listens at the far end of the only way out, in a thread of its own."""

    packets: list[str] = field(default_factory=list)
    first_after_s: float | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Recorder":
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
        self._socket.bind((RECORDED, 0))
        self._socket.settimeout(0.2)
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._record)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _record(self) -> None:
        while not self._over.is_set():
            try:
                packet, _ = self._socket.recvfrom(65_535)
            except TimeoutError:
                continue
            if self.first_after_s is None:
                self.first_after_s = round(time.monotonic() - self._began, 1)
            self.packets.append(describe_packet(packet))


def describe_packet(packet: bytes) -> str:
    """Who was called; of a look-up, which name."""
    if packet[12:14] != _IPV4:
        return f"type {packet[12:14].hex()}: {packet[14:60].hex()}"
    head = 14 + (packet[14] & 15) * 4
    protocol, to = packet[23], ipaddress.IPv4Address(packet[30:34])
    if protocol not in (_UDP, _TCP):
        return f"protocol {protocol} to {to}"
    port = int.from_bytes(packet[head + 2 : head + 4])
    if protocol == _UDP and port == _DNS_PORT:
        return f"look-up of {_name_in(packet[head + 20 :])}"
    return f"{'UDP' if protocol == _UDP else 'TCP'} to {to}:{port}"


def _name_in(question: bytes) -> str:
    labels = []
    while question and question[0]:
        labels.append(question[1 : 1 + question[0]].decode("ascii", "replace"))
        question = question[1 + question[0] :]
    return ".".join(labels)
