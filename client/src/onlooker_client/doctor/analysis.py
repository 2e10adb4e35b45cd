"""Analysis: some real frames are sent and answered; nothing of them is kept."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, bad, good, warn
from onlooker_client.doctor.trouble import trouble
from onlooker_client.errors import BadRequest, LinkError, NotNow, OnlookerError
from onlooker_client.scene import count_people, in_view
from onlooker_client.service import Service

FRAMES = 4
"""One picture alone is no proof of a person."""
SLOW_S = 1.0
ADD_WORKERS = "Ask whoever runs the server to look after its workers, or to add some (ONLOOKER_WORKERS)."


def check_analysis(examination: Examination) -> Finding:
    service = Service(examination.connect(), "scene_analysis", 1)
    try:
        described = service.describe()
    except BadRequest:
        return bad("this server does not offer scene_analysis 1", "Check the address, or install a newer server.")
    except (LinkError, NotNow) as error:
        return trouble(error)
    if described.get("live") is False:
        return bad("no worker of the server computes now", ADD_WORKERS)
    if not examination.jpegs:
        return good("ready; not tried, as there is no picture of the camera")
    try:
        return _try_frames(service, examination.jpegs[-FRAMES:])
    except OnlookerError as error:
        return trouble(error, ADD_WORKERS)


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
    return warn(figure, f"That is slow, and frames are dropped. {ADD_WORKERS}") if took > SLOW_S else good(figure)
