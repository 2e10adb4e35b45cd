"""Analysis: some real frames are sent and answered; nothing of them is kept."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, bad, good, warn
from onlooker_client.doctor.trouble import trouble
from onlooker_client.errors import BadRequest, LinkError, NotNow, OnlookerError
from onlooker_client.wire.attachments import multipart_body
from onlooker_client.wire.transport import Repeat, Transport

PATH = "/services/scene_analysis/1"
FRAMES = 4
"""One picture alone is no proof of a person."""
SLOW_S = 1.0
ADD_WORKERS = "Ask whoever runs the server to look after its workers, or to add some (ONLOOKER_WORKERS)."


def check_analysis(examination: Examination) -> Finding:
    transport = examination.connect()
    try:
        described = transport.request_json("GET", PATH, repeat=Repeat.IF_LOST)
    except BadRequest:
        return bad("this server does not offer scene_analysis 1", "Check the address, or install a newer server.")
    except (LinkError, NotNow) as error:
        return trouble(error)
    if described.get("live") is False:
        return bad("no worker of the server computes now", ADD_WORKERS)
    if not examination.jpegs:
        return good("ready; not tried, as there is no picture of the camera")
    try:
        return _try_frames(transport, examination.jpegs[-FRAMES:])
    except OnlookerError as error:
        return trouble(error, ADD_WORKERS)


def _try_frames(transport: Transport, jpegs: list[tuple[float, bytes]]) -> Finding:
    session_id = str(uuid.uuid4())
    answer: dict[str, Any] = {}
    took = 0.0
    try:
        for taken_at, jpeg in jpegs:
            began_at = time.perf_counter()
            answer = _send(transport, session_id, taken_at, jpeg)
            took = time.perf_counter() - began_at
    finally:
        with suppress(OnlookerError):  # it ends by itself a minute later
            transport.request("DELETE", f"{PATH}/sessions/{session_id}", repeat=Repeat.NEVER)
    if "error" in answer:
        return bad(f"the server could not compute a frame: {answer['error']}", "See the server's log.")
    figure = f"a frame is answered in {took * 1000:.0f} ms; {_people(answer)}"
    return warn(figure, f"That is slow, and frames are dropped. {ADD_WORKERS}") if took > SLOW_S else good(figure)


def _send(transport: Transport, session_id: str, taken_at: float, jpeg: bytes) -> dict[str, Any]:
    fields = {
        "image": "attachment://frame",
        "timestamp": datetime.fromtimestamp(taken_at, timezone.utc).isoformat(timespec="milliseconds"),
        "store": False,
        "async": False,
        "state": {"session_id": session_id},
    }
    body = multipart_body(fields, {"frame": jpeg})
    return transport.request_json("POST", f"{PATH}/jobs", body, repeat=Repeat.IF_REFUSED)


def _people(answer: dict[str, Any]) -> str:
    people = len(answer.get("entities") or {}) + len(answer.get("bodies") or {})
    return {0: "nobody in view", 1: "1 person in view"}.get(people, f"{people} people in view")
