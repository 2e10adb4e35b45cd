"""Server checks: connection, credentials, stream, quota, network speed and analysis."""

from __future__ import annotations

import os
import statistics
import time
import uuid
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, bad, finding_of_error, good, unchecked, warn
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotNow, OnlookerError
from onlooker_client.moments import in_hours, read_moment
from onlooker_client.scene import count_people, in_view
from onlooker_client.service import Service
from onlooker_client.wire.answers import read_refusal
from onlooker_client.wire.attachments import multipart_body
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.transport import Repeat, Transport

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
FRAMES = 4
"""One picture alone is no proof of a person."""
SLOW_ANSWER_S = 1.0
ADD_WORKERS = "Ask the server's administrator to check its workers, or to add more (ONLOOKER_WORKERS)."


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
        return finding_of_error(error)
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
        return finding_of_error(error, UNSTABLE)
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
        remedy = "Frames are late, and some are dropped. Use a cable instead of Wi-Fi, or a closer server."
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


def check_credentials(examination: Examination) -> Finding:
    if not (examination.config.client_id and examination.config.access_token):
        return bad("Login or Password is not set", "Run: onlooker-agent setup")
    transport = examination.connect()
    try:
        transport.request_json("GET", "/services", repeat=Repeat.IF_LOST)
    except BadCredentials:
        return bad(
            "Login or Password is wrong", "Copy both from the stream's page in the console: onlooker-agent setup"
        )
    with suppress(BadRequest):  # an older server does not say more
        examination.stream = transport.request_json("GET", "/stream", repeat=Repeat.IF_LOST)
    return good("accepted")


def check_stream(examination: Examination) -> Finding:
    if not examination.stream:
        return unchecked("this server does not say")
    kind = f"{examination.stream.get('kind')} stream"
    if examination.stream.get("state") == "disabled":
        return bad(f"{kind}, switched off", "Switch it on in its settings in the console.")
    return good(f"{kind}, switched on")


def check_quota(examination: Examination) -> Finding:
    month = examination.stream.get("month")
    if not isinstance(month, dict):
        return unchecked("this server does not say")
    used_s, quota_s = float(month["used_s"]), month.get("quota_s")
    if quota_s is None:
        return good(f"{in_hours(used_s)} used this month; no limit")
    resets = _day(str(month.get("resets_at")))
    figure = f"{in_hours(used_s)} of {in_hours(quota_s)} used; resets on {resets}"
    upgrade = "make it an enterprise stream in the console"
    if examination.stream.get("state") == "month_used_up" or used_s >= quota_s:
        return bad(f"used up: {figure}", f"Nothing is computed until {resets}. Wait, or {upgrade}.")
    rest = f"A camera running all day uses up the rest in {in_hours(quota_s - used_s)}"
    if month.get("nearly_used_up"):
        return warn(figure, f"{rest}. Then nothing is computed until {resets}. To go on, {upgrade}.")
    return good(figure, f"{rest}; frames with nobody in view are sent less often but still count.")


def _day(text: str) -> str:
    try:
        moment = read_moment(text)
    except ValueError:
        return "the first of next month"
    return f"{moment.day} {moment:%B}"


def check_analysis(examination: Examination) -> Finding:
    if examination.stream.get("compute") == "device":
        return unchecked("computed on this device: no frame is sent")
    if examination.stream.get("is_open") is False:
        return unchecked("the stream is closed now: nothing is computed outside its opening hours")
    return _check_service(examination)


def _check_service(examination: Examination) -> Finding:
    service = Service(examination.connect(), "scene_analysis", 1)
    try:
        described = service.describe()
    except BadRequest:
        return bad("this server does not offer scene_analysis 1", "Check the address, or install a newer server.")
    except (LinkError, NotNow) as error:
        return finding_of_error(error)
    if described.get("live") is False:
        return bad("the server has no worker running", ADD_WORKERS)
    if not examination.jpegs:
        return good("ready; not tried, because there is no picture from the camera")
    try:
        return _try_frames(service, examination.jpegs[-FRAMES:])
    except OnlookerError as error:
        return finding_of_error(error, ADD_WORKERS)


def _try_frames(service: Service, jpegs: list[tuple[float, bytes]]) -> Finding:
    answer: dict[str, Any] = {}
    took = 0.0
    with service.session() as session:
        for taken_at, jpeg in jpegs:
            began_at = time.perf_counter()
            moment = datetime.fromtimestamp(taken_at, timezone.utc)
            answer = session.process(jpeg, moment, store=False, raise_errors=False)
            took = time.perf_counter() - began_at
    if "error" in answer:
        return bad(f"the server could not compute a frame: {answer['error']}", "See the server's log.")
    figure = f"a frame is answered in {took * 1000:.0f} ms; {in_view(count_people(answer))}"
    return warn(figure, f"That is slow, so frames are dropped. {ADD_WORKERS}") if took > SLOW_ANSWER_S else good(figure)
