"""One frame at a time over one connection, in a thread of its own."""

from __future__ import annotations

import threading
import traceback
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Callable

from onlooker_client.agent.drops import Drop
from onlooker_client.agent.sending.link import DEADLINE_S
from onlooker_client.agent.sending.request import FrameRequest
from onlooker_client.errors import LinkError, Refused
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.transport import Transport, read_json, read_refusal


@dataclass(frozen=True)
class Uplink:
    """Where frames go, and with which credentials."""

    transport: Transport
    request: FrameRequest


@dataclass
class Flight:
    """A frame under way."""

    number: int
    body: bytes
    uplink: Uplink
    taken_at: float
    """Seconds of the monotonic clock."""
    is_fresh_needed: bool = False
    """Whether connections that were open before are not to be trusted: a router may have forgotten them."""
    shown: Any = None
    """Its pixels, where somebody wants to see them."""
    given_up: Drop | None = None
    """Why nobody waits for it any more."""
    answer: dict[str, Any] = field(default_factory=dict)
    error: LinkError | Refused | None = None


class Lane:
    """Takes one flight after another; each ends with a call of `landed`, from the lane's thread."""

    def __init__(self, landed: Callable[[Lane, Flight], None]) -> None:
        self._landed = landed
        self._flights: SimpleQueue[Flight | None] = SimpleQueue()
        self._connection: Connection | None = None
        self._uplink: Uplink | None = None
        threading.Thread(target=self._work, name="lane", daemon=True).start()

    def take(self, flight: Flight) -> None:
        self._flights.put(flight)

    def cancel(self) -> None:
        """End what is under way. The next flight opens another connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()

    def close(self) -> None:
        """After the flight that is under way."""
        self._flights.put(None)

    def _work(self) -> None:
        while True:
            flight = self._flights.get()
            if flight is None:
                break
            self._fly(flight)
            try:
                self._landed(self, flight)
            except Exception:  # noqa: BLE001 - the edge of a thread: a fault of ours must not cost the lane
                traceback.print_exc()
            del flight  # its pixels and bytes, while this waits for the next
        self._drop_connection()

    def _fly(self, flight: Flight) -> None:
        request = flight.uplink.request
        connection = self._connect(flight.uplink, is_fresh_needed=flight.is_fresh_needed)
        try:
            answer = connection.exchange("POST", request.path, request.headers, flight.body, timeout_s=DEADLINE_S)
            if answer.status >= 300:
                flight.error = read_refusal(answer)
            else:
                flight.answer = read_json(answer)
        except LinkError as error:
            flight.error = type(error)(*error.args)  # without its traceback, which would hold the frame in memory
        except Exception as error:  # noqa: BLE001 - the edge of a thread: whatever it was, the next frame goes on
            flight.error = LinkError(f"{type(error).__name__}: {error}")
        finally:
            if self._connection is not connection:
                connection.close()  # cancelled: it is of no use any more

    def _connect(self, uplink: Uplink, *, is_fresh_needed: bool) -> Connection:
        if self._uplink is not uplink or is_fresh_needed:
            self._drop_connection()
        connection = self._connection
        if connection is None:
            connection = self._connection = uplink.transport.open_connection()
            self._uplink = uplink
        return connection

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
