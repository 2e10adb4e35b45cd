"""Which refused requests were frames for visits: they are missing from a stream's coverage."""

import re

from starlette.types import Scope

from onlooker.errors import Code
from onlooker.gateway.parts import Parts, find_service
from onlooker.streams.coverage import reason_of

_FRAME_PATH = re.compile(r"/services/([^/]+)/([^/]+)/(?:jobs|streams/[^/]+/(input))")


def count_refused(parts: Parts, scope: Scope, code: Code) -> None:
    """Count a refused request, if it was a frame; whether it was to be stored is not always known by then."""
    stream = scope.get("stream")
    path = _FRAME_PATH.fullmatch(scope["path"])
    if stream is None or stream.is_trial:
        return
    if path is None or scope["method"] != "POST" or not scope.get("is_for_visits", True):
        return
    if path[3] and code is Code.REQUEST_TIMEOUT:
        return  # the input was idle: there was no frame
    service = find_service(parts, path[1], path[2])
    if service and service.makes_visits:
        parts.metering.coverage.add_refused(stream.id, reason_of(code))
