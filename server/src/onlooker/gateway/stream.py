"""What a device may know of its own stream: whether it computes, what is left of the month, where its numbers are."""

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway.answers import json_answer
from onlooker.gateway.auth import read_credentials
from onlooker.gateway.limits.permits import state_of
from onlooker.gateway.parts import Parts, parts_of, stream_of
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.kinds import is_nearly_used_up
from onlooker.streams.state import State
from onlooker.streams.video_time import month_end

STATES = {State.ENABLED: "ready", State.DISABLED: "disabled", State.QUOTA: "month_used_up"}
"""In words for people who set up a camera."""


async def show_stream(request: Request) -> Response:
    client_id, _ = read_credentials(request.headers.get("authorization"))
    return json_answer(describe_stream(parts_of(request), stream_of(request), client_id))


def describe_stream(parts: Parts, stream: StreamRecord, client_id: str) -> dict[str, Any]:
    now = time.time()
    used_s = parts.metering.usage.used_s(stream.id, known_s=stream.video_s)
    quota_s = parts.settings.developer_quota_s if stream.kind == "developer" else None
    return {
        "client_id": str(uuid.UUID(client_id)),
        "kind": stream.kind,
        "enabled": stream.enabled,
        "state": STATES[state_of(parts, stream)],
        "month": {
            "used_s": round(used_s, 3),
            "quota_s": quota_s,
            "nearly_used_up": is_nearly_used_up(used_s, quota_s),
            "resets_at": month_end(now).isoformat(),
        },
        "retention_days": stream.retention_days,
        "reads": {"age": stream.reads_age, "gender": stream.reads_gender, "expression": stream.reads_expression},
        "console_url": parts.settings.console_url,
        "data_url": parts.settings.data_url,
        "now": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
    }
