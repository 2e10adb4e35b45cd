"""Network: whether the server answers, how soon, and how much can be sent to it."""

from __future__ import annotations

import os
import statistics
import time
import uuid

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, bad, good, warn
from onlooker_client.doctor.trouble import trouble
from onlooker_client.errors import ConfigError, LinkError
from onlooker_client.wire.answers import read_refusal
from onlooker_client.wire.attachments import multipart_body
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.transport import Transport

ASKED = 10
TIMEOUT_S = 15.0
SLOW_S, VERY_SLOW_S = 0.3, 2.0
UPLOADED_BYTES = (100_000, 700_000)
"""The second one only where the first was quick: it lets the connection come to its full speed."""
QUICK_S = 0.25
USUAL_JPEG_BYTES = 40_000
"""Of a frame, where no camera is at hand: 400 KB a second are advised for 10 frames."""
PLENTY = 10_000_000.0
"""Bytes a second; more can't be told apart with so few bytes, and does not matter."""
LEAST_RATE = 3.0
"""Frames a second without which people who pass are missed."""
UNSTABLE = "The connection is not stable. Use a cable instead of Wi-Fi, or another uplink."


def check_server(examination: Examination) -> Finding:
    """It answers; what it answers matters to later checks."""
    try:
        transport = examination.connect()
        connection = transport.open_connection()
        try:
            connection.exchange("GET", "/services", transport.headers(None), timeout_s=TIMEOUT_S)
        finally:
            connection.close()
    except (ConfigError, LinkError) as error:
        return trouble(error)
    return good(str(transport.address))


def check_network(examination: Examination) -> Finding:
    """Round trip, and room for frames."""
    transport = examination.connect()
    connection = transport.open_connection()
    try:
        _ask(connection, transport)  # opens it
        round_trip_s = statistics.median(_ask(connection, transport) for _ in range(ASKED))
        rate = _measure_upload(connection, transport)
    except LinkError as error:
        return trouble(error, UNSTABLE)
    finally:
        connection.close()
    return judge_network(round_trip_s, rate, examination.fps * (examination.jpeg_bytes or USUAL_JPEG_BYTES))


def judge_network(round_trip_s: float, rate: float, needed: float) -> Finding:
    """`rate` is what goes through and `needed` what frames take, in bytes a second."""
    trip = f"{max(round_trip_s * 1000, 1):.0f} ms"
    room = f"over {_kilobytes(PLENTY)}" if rate > PLENTY else _kilobytes(rate)
    figure = f"{trip}, room for {room} a second; {_kilobytes(needed)} are needed"
    if rate < needed:
        remedy = "Frames are dropped. Use a cable, a better uplink, or smaller frames (run --quality 60)."
        return (bad if rate < needed * LEAST_RATE / 10 else warn)(figure, remedy)
    if round_trip_s > SLOW_S:
        remedy = "Frames are late, and some are dropped. Use a cable instead of Wi-Fi, or a server that is nearer."
        return (bad if round_trip_s > VERY_SLOW_S else warn)(figure, remedy)
    return good(figure)


def _ask(connection: Connection, transport: Transport) -> float:
    began_at = time.perf_counter()
    connection.exchange("GET", "/services", transport.headers(None), timeout_s=TIMEOUT_S)
    return time.perf_counter() - began_at


def _measure_upload(connection: Connection, transport: Transport) -> float:
    """Bytes a second. They go beside a job of `dummy`, which neither keeps nor counts them."""
    small_s = min(_post(connection, transport, 1) for _ in range(3))
    rate = 0.0
    for size in UPLOADED_BYTES:
        took = _post(connection, transport, size)
        rate = max(rate, size / max(took - small_s, 0.001))
        if took > QUICK_S:
            break
    return rate


def _post(connection: Connection, transport: Transport, size_bytes: int) -> float:
    fields = {"async": False, "state": {"session_id": str(uuid.uuid4())}}  # in a session its result is soon forgotten
    body = multipart_body(fields, {"nothing": os.urandom(size_bytes)})
    headers = transport.headers(body.content_type)
    began_at = time.perf_counter()
    answer = connection.exchange("POST", "/services/dummy/1/jobs", headers, body.content, timeout_s=TIMEOUT_S)
    took = time.perf_counter() - began_at
    if answer.status >= 300:
        raise read_refusal(answer, transport.address)
    return took


def _kilobytes(size_bytes: float) -> str:
    return f"{size_bytes / 1000:,.0f} KB"
